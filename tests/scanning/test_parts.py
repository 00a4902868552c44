"""Units of work and what they give: nothing twice, nothing lost, nothing without bound."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from analyzer.entries import Partial
from analyzer.entries.ties import ties_of
from analyzer.model import SECOND, Entry, Instant, JobKey, Origin
from analyzer.scanning import objects
from analyzer.scanning.parts import Part, bounded, joined, key_of, merged, name_of, pack, unpack
from analyzer.scanning.worker import page_name

JOB = JobKey("vertex", "p", "17")


def said(number: int, text: str = "boom") -> Entry:
    """A line of one replica."""
    return Entry(text=text, time=Instant(number * SECOND), job=JOB, replica="w-0", origin=Origin.REPLICA, insert_id=f"{number:07d}")


@pytest.mark.parametrize("unit", [1, 7, 64, 100, 1000])
def test_ranges_hold_every_line_once_with_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: int) -> None:
    """However a file is cut, each line is in the range that it begins in, and keeps its number."""
    file = tmp_path / "a.ndjson"
    lines = [b'{"insertId": "%d", "logName": "%s"}\n' % (n, b"x" * (n * 13 % 40)) for n in range(40)]
    file.write_bytes(b"".join(lines))
    monkeypatch.setattr(objects, "UNIT", unit)
    found: list[tuple[int, bytes]] = []
    for part in objects.units_of(objects.listed([str(tmp_path)])[0]):
        source = objects.range_source(part) if part.end is not None else None
        content = source.open().read() if source else file.read_bytes()
        found += enumerate(content.splitlines(keepends=True), part.line)
    assert found == list(enumerate(lines, 1))


def test_entries_survive_as_bytes() -> None:
    """What is stored or sent comes back equal."""
    entries = [said(1), Entry(text="\ud83d\x00é", fields={"kind": "pod", "exit_code": 137, "last_state": True}, skipped=(("INFO", 3),))]
    entries[1] = Entry(text="\x00é", fields=entries[1].fields, skipped=entries[1].skipped)
    assert unpack(pack(entries)) == entries
    assert key_of(name_of(JOB)) == JOB
    assert key_of(name_of(None)) is None


def test_ten_thousands_of_tracebacks_keep_the_first_and_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flood is bounded in the same way however it is parted, and every line is counted."""
    monkeypatch.setattr("analyzer.scanning.parts.FIRST", 50)
    monkeypatch.setattr("analyzer.scanning.parts.LAST", 20)
    entries = [said(number) for number in range(1000)]
    whole = bounded(Partial(entries={e.insert_id: e for e in entries}))  # type: ignore[misc]
    kept = whole.in_order()
    assert [e.insert_id for e in kept] == [e.insert_id for e in (*entries[:50], *entries[-20:])]
    assert sum(1 + sum(n for _, n in e.skipped) for e in kept) == 1000
    parts = [entries[n::3] for n in range(3)]
    thirds = [Part(name_of(JOB), pack(part), msgspec.msgpack.encode(ties_of(JOB, part))) for part in parts]
    one = merged(merged(thirds[0], thirds[1]), thirds[2])
    other = merged(thirds[2], merged(thirds[1], thirds[0]))
    assert [e.insert_id for e in joined([one.entries]).in_order()] == [e.insert_id for e in kept]
    assert joined([one.entries]).in_order() == joined([other.entries]).in_order()


def test_streams_of_a_large_job_share_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many streams there are and however they are parted, the job is bounded, and every line is counted."""
    for name, value in (("FIRST", 80), ("LAST", 20), ("MOST", 200), ("LEAST_FIRST", 4), ("LEAST_LAST", 1)):
        monkeypatch.setattr(f"analyzer.scanning.parts.{name}", value)
    entries = [msgspec.structs.replace(said(number), replica=f"w-{number % 10}") for number in range(1000)]
    kept = bounded(Partial(entries={e.insert_id: e for e in entries})).in_order()  # type: ignore[misc]
    assert len(kept) == 200
    assert {entry.replica for entry in kept} == {f"w-{number}" for number in range(10)}
    assert sum(1 + sum(n for _, n in e.skipped) for e in kept) == 1000
    one_after_the_other = joined(pack([e for e in entries if e.replica == f"w-{number}"]) for number in range(10))
    assert one_after_the_other.in_order() == kept


@pytest.mark.parametrize("job", ["../../etc/passwd", "a b\n<script>", "x" * 500, "", "…"])
def test_page_names_are_harmless(job: str) -> None:
    """A job's id never leads out of the folder, and two jobs never share a page."""
    name = page_name(JobKey("vertex", "p", job))
    assert name.isascii()
    assert len(name) < 90
    assert all(char.isalnum() or char in "-_." for char in name)
    assert name != page_name(JobKey("vertex", "q", job))
