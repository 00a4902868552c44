"""A saved diagnosis is told in the other language, and no English of ours is left in a German one."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer.api import report_on
from analyzer.judge.retell import language_of, retold, retold_notes
from analyzer.judge.sentences import TABLES, table
from analyzer.model import Note, Report
from analyzer.report.json_report import load_report, render_json
from analyzer.rulebook.cache import load_rulebook
from analyzer.rulebook.text import places

ROOT = Path(__file__).parents[2]
CASES = [ROOT / "fixtures" / "demo" / "vertex-restart-then-failed.json"] + [
    case for name in ("gcp-005-*", "gcp-049-*", "ml-004-*", "x-020-*", "gcp-073-*") for case in (ROOT / "fixtures" / "casebook").glob(name)
]  # fmt: skip


def _inputs(case: Path) -> list[str]:
    return [str(case)] if case.is_file() else sorted(map(str, case.glob("input*")))


def _report(case: Path, lang: str) -> Report:
    """As it is after being written and read again, without notes."""
    made = report_on(_inputs(case), lang=lang)
    made.notes = []
    return load_report(render_json(made).encode())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name[:12])
@pytest.mark.parametrize(("told", "wanted"), [("en", "de"), ("de", "en")])
def test_a_saved_diagnosis_is_retold_as_if_it_had_been_made_in_the_other_language(
    case: Path, told: str, wanted: str
) -> None:
    """Rules' texts, reasons, remarks, gaps, memory: word for word, also there and back."""
    saved, made = _report(case, told), _report(case, wanted)
    rulebook = load_rulebook()
    for one, other in zip(saved.diagnoses, made.diagnoses, strict=True):
        assert language_of(one) == told
        assert retold(one, wanted, rulebook).to_dict() == other.to_dict()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name[:12])
def test_a_german_diagnosis_says_nothing_in_english(case: Path) -> None:
    """No text of ours is the same in both languages; what is, is a name, a quoted line, a command or an address."""
    english, german = json.loads(render_json(_report(case, "en"))), json.loads(render_json(_report(case, "de")))
    assert list(_same(english["diagnoses"], german["diagnoses"])) == []


_QUOTED = {
    "evidence", "context", "values", "sources", "commands", "command", "job", "novel", "node", "replica", "severities",
}  # fmt: skip


def _same(one: Any, other: Any, key: str = "") -> Iterator[str]:
    """Texts of several words that are equal in both, outside of what is quoted."""
    if key in _QUOTED:
        return
    if isinstance(one, dict):
        for name in one:
            yield from _same(one[name], other[name], name if one.get("kind") != "event" else "evidence")
    elif isinstance(one, list):
        for first, second in zip(one, other, strict=True):
            yield from _same(first, second, "evidence" if key == "events" else key)
    elif isinstance(one, str) and one == other and one.count(" ") >= 1:
        yield f"{key}: {one}"


@pytest.mark.parametrize("name", [*TABLES, "note_sentences"])
def test_each_sentence_has_both_languages_and_the_same_places(name: str) -> None:
    """What one language fills in, the other fills in too."""
    for key, text in table(name).items():
        assert text.de, key
        assert places(text.de) <= places(text.en), key


def test_every_note_that_a_step_can_make_has_german_words() -> None:
    """Notes are worded where they arise; the table must know each."""
    texts = sorted(set(_note_texts()))
    assert len(texts) > 30
    told = retold_notes([Note("x", text) for text in texts], "de")
    assert [text for text, note in zip(texts, told, strict=True) if note.text == text] == []


def test_a_note_of_an_older_version_stays_as_it_is() -> None:
    """No template knows it."""
    note = Note("x", "the moon was in the way", "a.log", 3)
    assert retold_notes([note], "de") == [note]


def _note_texts() -> Iterator[str]:
    """The texts of notes in the program's source, values replaced by a word."""
    for module in sorted((ROOT / "analyzer").rglob("*.py")):
        for call in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and len(call.args) > 1:
                name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
                if name in ("Note", "note", "_stop"):
                    yield from _words(call.args[1])


def _words(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "17" for part in node.values)
