"""The page is self-contained, safe, complete, and in the reader's language."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hostile import PAYLOADS, hostile_report, with_text
from samples import ALL, host_oom, many_replicas, nccl_cascade, report, stockout, success_after_restarts, unknown

from analyzer.model import Report
from analyzer.report.html import notebook_frame, render_html
from analyzer.report.language import language


class _Page(HTMLParser):
    """Collects tags, attributes, ids and visible text; checks that tags nest."""

    _VOID = frozenset({"meta", "br", "img", "link", "input", "hr"})

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.own_texts: set[str] = set()
        self.open: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs)
        self.tags.append((tag, dict(attrs)))
        if tag not in self._VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)
            if self.open[-1] != "code":
                self.own_texts.add(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def values(self, attribute: str) -> list[str]:
        return [attributes[attribute] or "" for _, attributes in self.tags if attribute in attributes]


_PAGES = {**ALL, "many_replicas": many_replicas}


@pytest.mark.parametrize("lang", ["en", "de"])
@pytest.mark.parametrize("name", _PAGES)
def test_the_page_loads_nothing_and_styles_nothing_inline(name: str, lang: str) -> None:
    """Nothing is fetched, no style or handler stands inline, ids are unique and every anchor leads somewhere."""
    page = _Page(render_html(report(_PAGES[name]()), lang=lang))
    assert not {tag for tag, _ in page.tags} & {
        "img",
        "link",
        "iframe",
        "object",
        "embed",
        "audio",
        "video",
        "base",
        "form",
    }
    assert not [
        name
        for _, attributes in page.tags
        for name in attributes
        if name == "style" or name.startswith("on") or name == "src"
    ]
    ids = page.values("id")
    assert len(set(ids)) == len(ids)
    assert {link[1:] for link in page.values("href") if link.startswith("#")} <= set(ids)
    assert set(page.values("aria-labelledby")) <= set(ids)


def test_the_policy_names_the_hashes_of_style_and_script() -> None:
    """Only the page's own style and script may run."""
    html = render_html(report(host_oom()))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    assert policy is not None
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        content = re.search(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        assert content is not None
        digest = base64.b64encode(hashlib.sha256(content[1].encode()).digest()).decode()
        assert f"{directive} &#39;sha256-{digest}&#39;" in policy[1]
    assert policy[1].startswith("default-src &#39;none&#39;;")
    assert "unsafe" not in policy[1]


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("name", ALL)
def test_no_log_text_becomes_markup(name: str, payload: str) -> None:
    """Hostile text in every field gives the same tags and attributes as harmless text of the same shape."""
    hostile = _Page(render_html(hostile_report(ALL[name](), PAYLOADS[payload])))
    harmless = _Page(render_html(hostile_report(ALL[name](), re.sub(r"\S", "w", PAYLOADS[payload]))))
    assert [(tag, set(attributes)) for tag, attributes in hostile.tags] == [
        (tag, set(attributes)) for tag, attributes in harmless.tags
    ]
    assert all(link.startswith("#") for link in hostile.values("href"))


@pytest.mark.parametrize("payload", ["ansi", "bidi", "control", "surrogate"])
def test_what_a_screen_obeys_is_shown_as_a_sign(payload: str) -> None:
    """No control, direction or zero-width mark stands in the page."""
    html = render_html(hostile_report(host_oom(), PAYLOADS[payload]))
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]", html
    )


def test_only_web_addresses_become_links() -> None:
    """A rule pack or a log cannot smuggle another scheme into a link."""
    diagnosis = host_oom()
    diagnosis.remediation[0].sources = ["javascript:alert(1)", "data:text/html,x", "https://good.example/a", "//evil"]
    links = [link for link in _Page(render_html(report(diagnosis))).values("href") if not link.startswith("#")]
    assert "https://good.example/a" in links
    assert all(link.startswith("https://") for link in links)


def test_the_head_says_what_where_why_and_what_to_do() -> None:
    """Above the fold: sentence, place, proof, remedy, confidence, retry; in this order."""
    text = _Page(render_html(report(host_oom()))).text
    parts = [
        "Failed", "out of memory", "workerpool1-0 failed: the machine's memory ran out", "exit code 137 (SIGKILL)",
        "The replica workerpool1-0 ran out-of-memory", "Use a machine type with more memory", "96 %",
        "Start it again after the fix", "Timeline",
    ]  # fmt: skip
    places = [text.index(part, 60) for part in parts]
    assert places == sorted(places)


def test_everything_of_the_diagnosis_is_on_the_page() -> None:
    """Points, alternatives, symptoms, memory, restarts, checkpoints, gaps, facts."""
    text = _Page(render_html(report(host_oom()))).text
    for part in (
        "an exact rule for the service's own verdict", "it came 38 s after a peer was killed", "26 GiB",
        "n1-highmem-8", "1/5", "step 4000", "gcloud monitoring time-series list", "JOB_STATE_FAILED", "48,411",
        "rulebook 2026.03", "INFO:tensorflow:global_step = 4409", "no maintenance or preemption event",
    ):  # fmt: skip
        assert part in text, part


def test_the_table_is_the_equal_of_the_chart() -> None:
    """Every run that is drawn has a row, and the run's link leads to it."""
    page = _Page(render_html(report(host_oom())))
    rows = [value for value in page.values("id") if "-run-" in value]
    drawn = {
        attributes["href"]
        for tag, attributes in page.tags
        if tag == "a" and "run" in (attributes.get("class") or "").split()
    }
    assert drawn == {f"#{row}" for row in rows}
    assert len(rows) == 9


def test_close_to_the_failure_the_order_of_deaths_is_drawn() -> None:
    """Two days on one axis hide ten minutes; a second chart shows them. A job without runs has none."""
    assert "Around the failure" in render_html(report(nccl_cascade()))
    assert "Around the failure" not in render_html(report(stockout()))
    assert "Around the failure" not in render_html(report(success_after_restarts()))


def test_an_unknown_cause_shows_the_most_telling_lines() -> None:
    """Without a rule nothing is called a proof."""
    text = _Page(render_html(report(unknown()))).text
    assert "The most telling lines warning: lattice constant" in text
    assert "solver left its basin" in text
    assert "The line that proves it" not in text


@pytest.mark.parametrize("name", ALL)
def test_a_usual_page_stays_under_200_kb(name: str) -> None:
    """Light enough to attach anywhere."""
    assert len(render_html(report(ALL[name]()), lang="de").encode()) < 200_000


def test_two_thousand_replicas_stay_under_2_mb() -> None:
    """Eventful lanes are drawn, the others by groups; the table has them all."""
    html = render_html(report(many_replicas()))
    assert len(html.encode()) < 2_000_000
    assert html.count('class="lane"') < 60
    assert html.count('<tr id="j1-run-') == 2000


def test_a_line_of_a_megabyte_is_clipped_visibly() -> None:
    """The page stays light and says that something is left out."""
    html = render_html(hostile_report(host_oom(), "y" * 1_000_000))
    assert len(html.encode()) < 400_000
    assert "⋯" in html


def test_several_jobs_have_an_index_and_a_section_each() -> None:
    """Failed ones first; the index leads to the sections."""
    page = _Page(render_html(report(*(make() for make in ALL.values()))))
    assert "6 jobs, 4 failed" in page.text
    assert [link for link in page.values("href") if link.endswith("-job")] == [
        f"#j{number}-job" for number in range(1, 7)
    ]
    assert sum(tag == "article" for tag, _ in page.tags) == 6
    assert sum(tag == "h1" for tag, _ in page.tags) == 1


def test_an_empty_report_is_a_page_too() -> None:
    """Nothing found is said, not crashed over."""
    assert "0 jobs, 0 failed" in _Page(render_html(Report())).text


@pytest.mark.parametrize("name", ALL)
def test_no_english_word_of_ours_is_left_in_the_german_page(name: str) -> None:
    """With all quoted text taken out, every word on the page comes from the German catalogue."""
    quoted = Report(diagnoses=[with_text(ALL[name](), "§")])
    german, english = (_Page(render_html(quoted, lang=lang)).own_texts for lang in ("de", "en"))
    words = {word for text in german & english for word in re.findall("[A-Za-z]{4,}", text)}
    assert words <= _SAME_IN_BOTH


_SAME_IN_BOTH = {"Start", "Vertex", "Batch", "Slurm", "diagnose"}


def test_the_language_is_declared_and_figures_follow_it() -> None:
    """`lang` is set; German figures have a comma."""
    html = render_html(report(host_oom()), lang="de")
    assert '<html lang="de">' in html
    assert "22,3 GiB" in html
    assert language("de").seconds(0.41) == "0,4 s"
    assert language("en").number(1234567.25, 2) == "1,234,567.25"


def test_the_notebook_frame_is_sandboxed_and_escaped() -> None:
    """The page cannot leave its frame, nor reach the notebook."""
    frame = notebook_frame(render_html(report(host_oom())))
    parsed = _Page(frame)
    assert [tag for tag, _ in parsed.tags] == ["iframe"]
    attributes = parsed.tags[0][1]
    assert attributes["sandbox"] == "allow-scripts allow-popups"
    assert attributes["srcdoc"] == render_html(report(host_oom()))


def test_equal_reports_give_equal_pages() -> None:
    """Nothing depends on the clock or on an order of sets."""
    assert render_html(report(host_oom())) == render_html(report(host_oom()))
