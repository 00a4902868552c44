"""Parquet and Avro of log entries: the same job as in any other form, whichever way they come."""

from __future__ import annotations

import gzip
import io
import random
import sys
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from forms import FORMS, TABLES, entries_of, read
from packed import FIXTURES, SINK, avro, parquet

from analyzer.entries import Options
from analyzer.formats import read_source
from analyzer.model import Entry, Instant, Note
from analyzer.pipeline import diagnose_entries
from analyzer.report.json_report import to_builtins
from analyzer.rulebook.cache import load_rulebook
from analyzer.rulebook.telling import telling
from analyzer.scanning import Settings
from analyzer.scanning.objects import listed, units_of
from analyzer.scanning.parts import Part, scan_unit, unpack
from analyzer.sources import open_sources

pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed: packed tables go unchecked")
fastavro = pytest.importorskip("fastavro", reason="the extra avro is not installed: packed tables go unchecked")

EXPORT = read("logentry_ndjson/sink.ndjson")
every_table = pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)


def said(entries: list[Entry]) -> list[Entry]:
    """What entries say to the microsecond, which is what BigQuery keeps of a time, without where they stand."""
    return [
        msgspec.structs.replace(entry, source="", line=0, time=entry.time and Instant(entry.time // 1000 * 1000))
        for entry in sorted(entries, key=lambda entry: entry.order)
    ]


def notes_of(content: bytes) -> list[Note]:
    notes: list[Note] = []
    entries_of(content, notes=notes)
    return notes


@every_table
def test_same_log_in_a_table_gives_same_entries(path: Path) -> None:
    """The packing of an export changes nothing but where an entry stands: the number of its row."""
    assert said(read(path)) == said(EXPORT)
    assert [entry.line for entry in read(path)] == list(range(1, len(EXPORT) + 1))


@every_table
def test_same_job_in_a_table_gives_the_same_diagnosis(path: Path) -> None:
    """Verdict, evidence and timeline are those of the plain export."""

    def answer(entries: list[Entry]) -> list[dict[str, Any]]:
        report = diagnose_entries(said(entries), load_rulebook(), Options())
        return [{key: value for key, value in to_builtins(one).items() if key != "stats"} for one in report.diagnoses]

    assert answer(read(path)) == answer(EXPORT)
    assert answer(EXPORT)[0]["category"] == "user_exception"


@pytest.mark.parametrize("name", FIXTURES)
def test_fixtures_are_what_is_written_today(name: str) -> None:
    """The files hold the rows that the JSON forms hold; their bytes depend on who writes them."""
    assert said(entries_of(FIXTURES[name]())) == said(read(name))


@pytest.mark.parametrize("pack", [parquet, avro])
@pytest.mark.parametrize(("unit", "kept"), [("nanos", 330123456), ("micros", 330123000), ("millis", 330000000)])
def test_times_keep_what_their_unit_holds(pack: Any, unit: str, kept: int) -> None:
    """Whole numbers since 1970 are read as what their type says, to the nanosecond."""
    last = entries_of(pack(SINK, unit=unit))[-1].time
    assert last is not None
    assert last % 10**9 == kept


def test_times_may_be_numbers_without_a_type() -> None:
    """A column of microseconds that only its name calls a time."""
    table = pyarrow.table({"insertId": ["a"], "textPayload": ["x"], "timestamp": pyarrow.array([1780301720110000])})
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file)
    assert [str(entry.time) for entry in entries_of(file.getvalue())] == ["2026-06-01T08:15:20.11Z"]


@pytest.mark.parametrize("pack", [parquet, avro])
def test_labels_as_repeated_records_and_as_json(pack: Any) -> None:
    """Pairs of key and value, and columns of JSON within a record, are the objects that they stand for."""
    node = {"compute.googleapis.com/resource_name": "vm-7"}
    labels = '{"job_id": "55", "project_id": "p", "task_name": "workerpool0-1"}'
    row = {"insertId": "a", "textPayload": "x", "resource": {"type": "ml_job", "labels": labels}}
    (entry,) = entries_of(pack([{**row, "labels": [{"key": key, "value": value} for key, value in node.items()]}]))
    assert (entry.replica, entry.node) == ("workerpool0-1", "vm-7")
    assert entry.job is not None
    assert entry.job.id == "55"


@pytest.mark.parametrize("pack", [parquet, avro])
def test_columns_of_others_are_passed_over(pack: Any) -> None:
    """A query may add columns; a table of something else is left out with a note."""
    assert said(entries_of(pack([{**row, "loss": "1.5", "embedding": ["x"]} for row in SINK]))) == said(EXPORT)
    other = pack([{"image": "x", "label": "y", "timestamp": row["timestamp"]} for row in SINK])
    assert entries_of(other) == []
    assert [note.kind for note in notes_of(other)] == ["columns"]


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "zstd", "data_page_version": "2.0", "row_group_size": 2},
        {"use_dictionary": False, "column_encoding": {"insertId": "DELTA_BYTE_ARRAY"}},
        {"use_dictionary": False, "column_encoding": {"textPayload": "DELTA_LENGTH_BYTE_ARRAY"}},
    ],
)
def test_parquet_of_any_writer(options: dict[str, Any]) -> None:
    """Row groups, page versions and encodings make no difference."""
    assert said(entries_of(parquet(SINK, **options))) == said(EXPORT)


@pytest.mark.parametrize("way", ["folder", "gzip", "zip", "pipe", "scan"])
@every_table
def test_a_table_is_read_whichever_way_it_comes(
    path: Path, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parquet is read from its end: what flows by is copied first."""
    content, place = path.read_bytes(), tmp_path / "rows"
    place.write_bytes(gzip.compress(content) if way == "gzip" else content)
    if way == "zip":
        with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("rows", content)
    if way == "scan":
        (unit,) = units_of(listed([str(tmp_path)])[0])
        settings = Settings(output=tmp_path / "out")
        parts = [part for part in scan_unit(unit, telling(load_rulebook()), settings) if isinstance(part, Part)]
        assert said([entry for part in parts for entry in unpack(part.entries)]) == said(EXPORT)
        return
    notes: list[Note] = []
    if way == "pipe":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(_Pipe(content))))
    sources = open_sources(["-" if way == "pipe" else str(tmp_path)], notes)
    assert said([entry for source in sources for entry in read_source(source, notes)]) == said(EXPORT)
    assert notes == []


class _Pipe(io.RawIOBase):
    """Bytes that flow by once."""

    def __init__(self, content: bytes) -> None:
        self._file = io.BytesIO(content)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._file.readinto(buffer)


@pytest.mark.parametrize(
    ("path", "package", "extra"),
    [
        ("parquet_rows/sink.parquet", "pyarrow", "parquet"),
        ("avro_rows/sink.avro", "fastavro", "avro"),
        ("avro_rows/sink.avro", "cramjam", "avro"),
    ],
)
def test_a_missing_package_costs_its_files_and_is_named(
    path: str, package: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note says what to install; everything else is read."""
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / "a").write_bytes((FORMS / path).read_bytes())
    (tmp_path / "b").write_bytes((FORMS / "logentry_ndjson/sink.ndjson").read_bytes())
    notes: list[Note] = []
    sources = open_sources([str(tmp_path)], notes)
    assert said([entry for source in sources for entry in read_source(source, notes)]) == said(EXPORT)
    assert [note.kind for note in notes] == ["extra"]
    assert f"pip install 'training-job-analyzer[{extra}]'" in notes[0].text


@every_table
def test_a_damaged_table_ends_no_reading(path: Path) -> None:
    """Cut anywhere, and with odd bytes at any place, a table gives what can be read."""
    content, chance = path.read_bytes(), random.Random(path.name)
    for cut in range(0, len(content), max(1, len(content) // 40)):
        entries_of(content[:cut])
    for _ in range(80):
        odd = bytearray(content)
        for _ in range(chance.choice([1, 1, 3, 10])):
            odd[chance.randrange(len(odd))] = chance.randrange(256)
        assert len(entries_of(bytes(odd))) <= len(EXPORT)


def test_damage_costs_a_block_of_avro_only() -> None:
    """Reading goes on behind the next mark; what a cut leaves whole is read."""
    content = avro(SINK, sync_interval=1)
    at = content.index(b"q03")
    kept = entries_of(content[: at - 40] + content[at + 10 :])
    assert {entry.insert_id for entry in EXPORT} - {entry.insert_id for entry in kept} <= {"q02", "q03"}
    assert len(kept) >= len(EXPORT) - 2
    cut = avro(SINK)[:-60]
    assert said(entries_of(cut)) == said(EXPORT)[:-1]
    assert [note.kind for note in notes_of(cut)] == ["truncated"]


def test_damage_costs_a_row_group_of_parquet_only() -> None:
    """The other row groups are read. Without its end a file cannot be read at all."""
    content = bytearray(parquet(SINK, row_group_size=1, compression="none", use_dictionary=False))
    at = content.index(b"KeyError: 'width'")
    content[at - 30 : at] = b"\xff" * 30
    kept = entries_of(bytes(content))
    assert len(kept) == len(EXPORT) - 1
    assert [note.kind for note in notes_of(bytes(content))] == ["damaged"]
    assert [note.kind for note in notes_of(bytes(content[:-4]))] == ["truncated"]
