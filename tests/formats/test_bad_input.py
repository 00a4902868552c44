"""Bad input costs itself only, leaves a note, and never ends the reading."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import pytest
from forms import FORMS, INPUTS, NAMES, entries_of, notes_of, read

from analyzer.entries import Options
from analyzer.formats import json_split
from analyzer.pipeline import diagnose_entries
from analyzer.rulebook.cache import load_rulebook

NDJSON = (FORMS / "logentry_ndjson/sink.ndjson").read_bytes()
PRETTY = (FORMS / "logentry_array/pretty.json").read_bytes()


def texts(content):
    return [entry.text for entry in entries_of(content)]


@pytest.mark.parametrize("path", INPUTS, ids=NAMES)
def test_input_that_is_cut_is_read_up_to_the_cut(path):
    """Cut anywhere, no form fails."""
    content = path.read_bytes()
    for cut in range(0, len(content), max(1, len(content) // 40)):
        entries_of(content[:cut], path.name)
        entries_of(content[cut:], path.name)


@pytest.mark.parametrize("path", INPUTS, ids=NAMES)
def test_bytes_that_are_no_text_are_survived(path):
    """Bytes of other encodings, NUL bytes and brackets at any place end no reading."""
    content, chance = path.read_bytes(), random.Random(path.name)
    for _ in range(40):
        place = chance.randrange(len(content))
        odd = chance.choice([b"\xff", b"\0", b"\xe4", b"{", b"]", b'"', b"\\ud83d", b"\n", b"1e999"])
        entries_of(content[:place] + odd + content[place:], path.name)


@pytest.mark.parametrize("path", INPUTS, ids=NAMES)
def test_numbers_that_no_number_holds_are_survived(path):
    """Thousands of digits, or signs that count as digits and make no number, end neither reading nor diagnosis."""
    content, chance = path.read_text(encoding="utf-8", errors="replace"), random.Random(path.name)
    places = list(re.finditer(r"\d+", content))
    for place in chance.sample(places, min(4, len(places))):
        odd = chance.choice(["9" * 5000, "\u00b3", "\u0663"])
        entries = entries_of((content[: place.start()] + odd + content[place.end() :]).encode(), path.name)
        diagnose_entries(entries, load_rulebook(), Options())


def test_array_that_is_cut_gives_its_whole_entries():
    """An array that ends in the middle gives every entry before the cut, and says that it is cut."""
    cut = PRETTY[: PRETTY.index(b"q02")]
    assert texts(cut) == texts(PRETTY)[:4]
    assert [note.kind for note in notes_of(cut)] == ["truncated"]


def test_array_without_its_begin_gives_its_whole_entries():
    """An array that begins in the middle of an entry gives every entry behind it."""
    cut = PRETTY[PRETTY.index(b"q04") :]
    assert texts(cut[cut.index(b"\n") + 1 :]) == texts(PRETTY)[3:]


def test_bad_line_costs_one_line_and_a_note():
    """Of a sink's file all lines but the bad one are read."""
    lines = NDJSON.splitlines(keepends=True)
    lines[2] = lines[2].replace(b'"severity"', b'"severity')
    assert texts(b"".join(lines)) == texts(NDJSON)[:2] + texts(NDJSON)[3:]
    assert [(note.kind, note.line, note.count) for note in notes_of(b"".join(lines))] == [("bad_line", 3, 1)]


def test_many_bad_lines_make_one_note():
    """A note counts; a file of bad lines does not drown the report."""
    bad = NDJSON.splitlines()[0].replace(b":", b"", 1) + b"\n"
    assert [(note.kind, note.line, note.count) for note in notes_of(NDJSON + bad * 500)] == [("bad_line", 8, 500)]


def test_broken_utf8_is_replaced():
    """A bad byte in a message costs that character."""
    assert "KeyError: 'w\ufffdidth'" in texts(NDJSON.replace(b"KeyError: 'width'", b"KeyError: 'w\xffidth'"))


def test_numbers_that_are_none_are_tolerated():
    """Python's NaN and Infinity in a payload cost nothing."""
    odd = NDJSON.replace(b'"attrs":{', b'"loss":NaN,"lr":-Infinity,"attrs":{')
    assert texts(odd) == texts(NDJSON)


def test_nul_bytes_are_left_out():
    """A log with holes reads as without."""
    assert texts(b"\0" * 5000 + b"step 1\nstep\0 2\n") == ["step 1", "step 2"]


def test_windows_text_is_read():
    """German text in cp1252 keeps its letters."""
    assert texts("Größe zu groß\nÜberlauf\n".encode("cp1252")) == ["Größe zu groß", "Überlauf"]


def test_deep_nesting_is_survived():
    """JSON nested beyond any sense costs that value only."""
    deep = b'{"insertId":"x","logName":"projects/p/logs/l","jsonPayload":' + b'{"a":' * 50_000 + b"1" + b"}" * 50_001
    assert texts(NDJSON + deep + b"\n" + NDJSON)[-7:] == texts(NDJSON)
    assert texts(b'{"kind":"Pod","a":' + b"[" * 50_000 + b"]" * 50_000 + b"}\n") is not None


def test_yaml_aliases_cannot_explode():
    """A few lines of YAML that stand for billions of parts are read as plain lines."""
    bomb = "kind: Pod\na: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(c + 1)}: &{chr(c + 1)} [{','.join(['*' + chr(c)] * 9)}]\n" for c in range(97, 106)
    )
    assert texts(bomb)[0] == "kind: Pod"


def test_binary_files_are_left_out():
    """What is no text gives no entries, and a note."""
    assert texts(b"\x89PNG\r\n" + bytes(range(256)) * 20) == []
    assert [note.kind for note in notes_of(b"\x7fELF" + bytes(range(256)))] == ["binary"]


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_archives_within_archives_are_told(kind, tmp_path):
    """What was not opened is no text either."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.log").write_text("step 1\n" * 2000)
    content = Path(shutil.make_archive(str(tmp_path / "outer"), kind, tmp_path / "inner")).read_bytes()
    assert texts(content) == []
    assert [note.kind for note in notes_of(content)] == ["archive"]


def test_what_is_left_out_behind_a_value_is_told(monkeypatch):
    """A line behind JSON that is beyond any bound is counted, though what follows is read as text."""
    monkeypatch.setattr(json_split, "VALUE_LIMIT", 1 << 16)
    pod = (FORMS / "pod/compact.json").read_bytes()
    assert "too_large" in [note.kind for note in notes_of(pod + b"x" * (1 << 19) + b"\nstep 1\n")]


def test_table_of_something_else_is_noted():
    """A CSV file without columns of log entries is kept as text, and a note says so; a log with commas is none."""
    table = "epoch,loss,lr\n" + "1,0.5,1e-4\n" * 8
    assert len(texts(table.encode())) == 9
    assert [note.kind for note in notes_of(table)] == ["columns"]
    assert notes_of("loading, building, training now\n" + "step 1, loss 0.5, ok\n" * 8) == []


def test_flood_of_brackets_gives_nothing():
    """Millions of brackets are passed over, and what stands behind them is read."""
    flood = b"[" * 3_000_000
    assert texts(flood) == []
    assert [note.kind for note in notes_of(flood)] == ["truncated"]
    assert texts(flood + b"\n" + NDJSON)[-7:] == texts(NDJSON)


def test_empty_input_gives_nothing():
    """Nothing in, nothing out."""
    assert texts(b"") == texts(b"\n\n \n") == texts(b"[]") == texts(b"{}\n")[1:] == []


def test_object_with_a_mistake_is_kept_as_text():
    """A description that is no valid JSON can still be searched."""
    content = (
        (FORMS / "pod/pod.json").read_text().replace('"status": {', '"status": {,,', 1).replace('"phase"', "phase")
    )
    assert any("OOMKilled" in text for text in texts(content))


def test_rest_of_a_description_is_read():
    """A pod's description that is cut tells what it still holds."""
    content = (FORMS / "pod/pod.json").read_text()
    cut = content[: content.index("DisruptionTarget")]
    assert read("pod/pod.json")[0] == entries_of(cut, "pod.json")[0]
    assert [note.kind for note in notes_of(cut)] == ["truncated"]
