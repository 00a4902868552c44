"""The papers speak of what exists: each command that they show is one, and those on bundled files print what is shown."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.main import get_command

from analyzer.cli.main import app, command_of, main

ROOT = Path(__file__).parents[1]
PAPERS = (
    "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
)  # fmt: skip
NEED_NO_INPUT = {"exit-code", "memory"}
"""Commands that run without any file."""


class Call(NamedTuple):
    """A shown call of `diagnose`: its words, the exit status that a comment names, and the output shown below it."""

    words: list[str]
    status: int
    shown: list[str]


def _text(paper: str) -> str:
    return (ROOT / paper).read_text(encoding="utf-8")


def _blocks(paper: str, kind: str) -> list[str]:
    """The code blocks of a kind, lines that go on after a backslash joined."""
    return [block.replace("\\\n", " ") for block in re.findall(rf"```{kind}\n(.*?)```", _text(paper), re.DOTALL)]


def _called(line: str, shown: list[str] | None = None) -> Call | None:
    """The call of a line of shell, up to a pipe or redirection; None where the line calls something else."""
    command, _, comment = line.partition(" #")
    found = re.search(r"(?:^|[/| ])diagnose( .*)$", command)
    if found is None or "analyzer" in found[1]:
        return None
    words = list(takewhile(lambda word: word not in ("|", ">", ">>"), shlex.split(found[1])))
    status = re.search(r"exit status (\d)", comment)
    return Call(words, int(status[1]) if status else 0, shown or [])


def _console(paper: str) -> Iterator[Call]:
    """The calls of console blocks, each with its output."""
    for block in _blocks(paper, "console"):
        for part in block.removeprefix("$ ").split("\n$ "):
            line, *shown = part.rstrip("\n").split("\n")
            call = _called(line, shown)
            assert call is not None, line
            yield call


def _calls(paper: str) -> list[Call]:
    """All calls of a paper: in console blocks, shell blocks and inline code."""
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", _text(paper), flags=re.DOTALL))
    lines = [line for block in _blocks(paper, "sh") for line in block.splitlines()]
    return [*_console(paper), *(call for line in (*lines, *inline) if (call := _called(line)))]


def _names(command: Any) -> list[str]:
    """The commands below one."""
    return command.list_commands(None) if hasattr(command, "list_commands") else []


@pytest.mark.parametrize("paper", PAPERS)
def test_shown_calls_exist(paper: str) -> None:
    """Subcommands and options in the papers are those of the program."""
    root: Any = get_command(app)
    for call in _calls(paper):
        command, rest = root, call.words
        while rest and rest[0] in _names(command):
            command, rest = command.get_command(None, rest[0]), rest[1:]
        if command is root and "--version" not in rest:
            command = command_of("job")
        known = {option for parameter in command.params for option in parameter.opts} | {"--help", "-h"}
        options = {word.split("=")[0] for word in rest if word.startswith("-") and word != "-"}
        assert options <= known, call.words


@pytest.mark.parametrize("paper", [paper for paper in PAPERS if "```console" in _text(paper)])
def test_console_blocks_show_what_is_printed(
    paper: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each call is run, one after the other in one folder; the lines below it are printed in that order (… skips)."""
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for call in _console(paper):
        monkeypatch.setattr(sys, "argv", ["diagnose", *call.words])
        status = main()
        printed = capfd.readouterr()
        assert status == call.status, (call.words, printed.err)
        lines = iter(printed.out.splitlines())
        missing = [line for line in call.shown if line != "…" and not any(line in printed for printed in lines)]
        assert missing == [], call.words


def test_python_of_the_reference_prints_what_its_comments_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The block at the top is run as it stands."""
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    monkeypatch.chdir(tmp_path)
    block = _blocks("docs/reference/python.md", "python")[0]
    exec(block, {})
    said = re.findall(r"^print\(.*  # (.*)$", block, re.MULTILINE)
    assert len(said) > 3
    assert capsys.readouterr().out.splitlines() == said


@pytest.mark.parametrize("paper", PAPERS)
def test_calls_on_bundled_files_are_run(paper: str) -> None:
    """What a reader can run as it stands is shown in a console block, whose calls are run."""
    blocks = [line for block in _blocks(paper, "sh") for line in block.splitlines()]
    shown = [call.words for line in blocks if (call := _called(line))]
    assert [words for words in shown if any(word.startswith("fixtures/") for word in words)] == []


def test_calls_without_input_run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit codes and machine types that papers ask for are known."""
    asked = {tuple(call.words) for paper in PAPERS for call in _calls(paper) if len(call.words) > 1}
    asked = {words for words in asked if words[0] in NEED_NO_INPUT and not words[1].isupper()}
    assert len(asked) >= 2
    for words in sorted(asked):
        monkeypatch.setattr(sys, "argv", ["diagnose", *words])
        assert main() == 0, words
        assert capfd.readouterr().out


@pytest.mark.parametrize("paper", PAPERS)
def test_links_lead_somewhere(paper: str) -> None:
    """Files that a paper links to or shows are there; pages of the catalogue are made when the site is built."""
    targets = [target for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", _text(paper)) if "://" not in target]
    assert [target for target in targets if not (ROOT / paper).parent.joinpath(target).exists()] == []


def test_environment_variables_are_those_of_the_program() -> None:
    """Each `DIAGNOSE_…` of a paper is read somewhere in the code."""
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "analyzer").rglob("*.py"))
    named = {name for paper in PAPERS for name in re.findall(r"\bDIAGNOSE_[A-Z_]+\b", _text(paper))}
    assert len(named) >= 4
    assert {name for name in named if f'"{name}"' not in code} == set()


def test_points_of_the_judge_are_those_of_the_code() -> None:
    """The table of reasons has each number of points that a reason gives."""
    code = (ROOT / "analyzer" / "judge" / "weigh.py").read_text(encoding="utf-8")
    given = {int(number) for number in re.findall(r"give\((?:min\()?(-?\d+)", code)}
    given |= {-int(number) for number in re.findall(r"^(?:SURVIVED|HEARSAY) = (\d+)", code, re.MULTILINE)}
    page = _text("docs/explanation/cause.md")
    told = {int(number.replace("−", "-")) for number in re.findall(r"(?<![\w.])[−+]\d+", page)}
    assert len(given) > 8
    assert given <= told


def test_fields_of_a_diagnosis_are_explained() -> None:
    """The JSON reference has a line on each."""
    from analyzer.model import Diagnosis

    page = _text("docs/reference/json.md")
    rows = re.findall(r"^\| (`.*?`) \|", page, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(Diagnosis.__struct_fields__)


def test_make_targets_that_are_named_exist() -> None:
    """`make demo`, `make test` and the like are targets."""
    targets = set(re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {name for paper in PAPERS for name in re.findall(r"make (\w+)`", _text(paper))}
    assert named <= targets
