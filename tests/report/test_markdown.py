"""The Markdown form renders as the text that it quotes, whatever that text holds."""

from __future__ import annotations

import re

import pytest
from hostile import PAYLOADS, hostile_report
from markdown_it import MarkdownIt
from samples import ALL, host_oom, nccl_cascade, report

from analyzer.report.markdown import code, fenced, plain, render_markdown


def _html(markdown: str) -> str:
    return MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(markdown)


def _tags(html: str) -> set[str]:
    return set(re.findall(r"<\s*([a-zA-Z!][\w-]*)", html))


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("name", ALL)
def test_hostile_text_makes_no_markup_of_its_own(name: str, payload: str) -> None:
    """Rendered with raw HTML allowed, no tag stands there that harmless text would not give."""
    hostile = _html(render_markdown(hostile_report(ALL[name](), PAYLOADS[payload])))
    harmless = _html(render_markdown(hostile_report(ALL[name](), re.sub(r"\S", "w", PAYLOADS[payload]))))
    assert _tags(hostile) - {"!--"} <= _tags(harmless)
    assert hostile.count("<pre>") == harmless.count("<pre>")
    assert hostile.count("<li>") == harmless.count("<li>")


@pytest.mark.parametrize(
    "text",
    [
        *PAYLOADS.values(),
        "1. x",
        "- x",
        "+ x",
        "> x",
        "# x",
        "=====",
        "a_b_c",
        "x|y",
        "$x$",
        "a~~b~~",
        ":tada:",
        "<a@b.c>",
    ],
)
def test_plain_text_renders_as_itself(text: str) -> None:
    """What a reader sees is the text, one line of it."""
    shown = re.sub(r"<!-- -->|</?p>", "", _html(plain(text))).strip()
    assert not re.search("<[a-z]", shown)
    assert plain(text).count("\n") == 0


@pytest.mark.parametrize("text", ["```", "````\n```x", "~~~", "`", "``a``", "\n```\n# out\n"])
def test_code_cannot_be_left(text: str) -> None:
    """The fence is longer than any run of backticks inside."""
    assert len(re.findall("<pre>", _html(fenced(text)))) == 1
    assert "<h1>" not in _html(fenced(text))
    assert _html(code(text)).count("<code>") == 1


@pytest.mark.parametrize("text", ["ping @team now", "see #12", "www.evil.example", "https://evil.example/a"])
def test_mentions_references_and_addresses_are_broken_up(text: str) -> None:
    """GitHub makes links of these after rendering; here it finds none."""
    assert not re.search(r"@\w|#\d|www\.|https?://", plain(text))


def test_the_story_is_told_in_order() -> None:
    """Outcome, summary, proof, remedy, retry, timeline."""
    text = render_markdown(report(host_oom()))
    parts = [
        "## Failed: out of memory",
        "**workerpool1-0 failed",
        "### The line that proves it",
        "### Do this now",
        "**Try again?**",
        "### Timeline",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_several_jobs_are_listed_first() -> None:
    """A list of jobs, failed ones first, then each in full; in German too."""
    text = render_markdown(report(*(make() for make in ALL.values())), lang="de")
    assert text.startswith("# 6 Jobs, 4 fehlgeschlagen\n")
    assert text.count("\n## ") == 6


def test_a_traceback_is_quoted_whole() -> None:
    """The exception stands first, the whole message under evidence."""
    text = render_markdown(report(nccl_cascade()))
    assert text.count("RuntimeError: mat1 and mat2 shapes") == 2
    assert 'File "/app/model/head.py", line 77, in forward' in text
