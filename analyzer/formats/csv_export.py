"""Logs Explorer's CSV: one row an entry, nested fields as dotted columns. The header decides, never a position."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

import msgspec

from analyzer.formats.logentry import Converter
from analyzer.formats.reading import Reading
from analyzer.formats.record import record_of
from analyzer.formats.stream import Stream, text_of
from analyzer.model import Entry

_COLUMNS = frozenset(
    ("insertid", "logname", "severity", "timestamp", "receivetimestamp", "textpayload", "jsonpayload", "protopayload",
     "insert_id", "log_name", "text_payload", "json_payload", "proto_payload", "receive_timestamp", "resource",
     "labels")
)  # fmt: skip
_FIELD_LIMIT = 1 << 24
_ROWS = 6  # so many lines of a head show a table


def is_csv_header(line: bytes) -> bool:
    """Whether a first line names the columns of exported log entries."""
    if b"," not in line or len(line) > 100_000:
        return False
    names = [name.strip().strip('"').split(".", 1)[0].lower() for name in line.decode("utf-8", "replace").split(",")]
    return sum(1 for name in set(names) if name in _COLUMNS) >= 2


def is_other_table(head: bytes) -> bool:
    """Whether a text is a table of something else than log entries: column names, then rows with as many cells."""
    lines = head.decode("utf-8", "replace").splitlines()[:_ROWS]
    names = [name.strip().strip('"') for name in lines[0].split(",")] if len(lines) == _ROWS else []
    named = len(names) >= 3 and all(name.isidentifier() for name in names)
    return named and all(line.count(",") == len(names) - 1 for line in lines)


def read_csv(stream: Stream, reading: Reading) -> Iterator[Entry]:
    """The entries of a CSV export. A row that has not the form of the others costs itself and a note."""
    converter = Converter(reading)
    csv.field_size_limit(_FIELD_LIMIT)
    rows = _rows(stream, reading)
    header = next(rows, (0, []))[1]
    for line, row in rows:
        if len(row) != len(header):
            reading.note("bad_line", "CSV rows whose number of fields differs from the header's were left out", line)
            continue
        record = record_of(_entry(header, row))
        if record is None:
            reading.note("bad_line", "CSV rows that are no log entry were left out", line)
        else:
            yield from converter.entries(record, line)
    yield from converter.rest()


def _rows(stream: Stream, reading: Reading) -> Iterator[tuple[int, list[str]]]:
    last = [0]

    def texts() -> Iterator[str]:
        for number, line in stream.lines():
            last[0] = number
            yield text_of(line, reading, number) + "\n"

    rows = csv.reader(texts())
    while True:
        begun = last[0] + 1
        try:
            row = next(rows, None)
        except csv.Error:
            reading.note("bad_line", "CSV rows that cannot be read were left out", begun)
            continue
        if row is None:
            return
        if row:
            yield begun, row


def _entry(header: list[str], row: list[str]) -> dict[str, Any]:
    """A nested object out of dotted columns; a cell that holds JSON becomes an object."""
    entry: dict[str, Any] = {}
    for name, cell in zip(header, row, strict=True):
        if cell == "":
            continue
        path = _path(name.strip())
        target = entry
        for step in path[:-1]:
            inner = target.setdefault(step, {})
            if not isinstance(inner, dict):
                break
            target = inner
        else:
            target[path[-1]] = _cell(cell) if len(path) == 1 and cell[0] in "{[" else cell
    return entry


def _path(name: str) -> list[str]:
    """The steps of a column's name: label names keep their dots (`labels.compute.googleapis.com/zone`)."""
    head, _, rest = name.partition(".")
    if not rest:
        return [head]
    if head == "labels":
        return [head, rest.strip('"')]
    if head == "resource" and rest.startswith("labels."):
        return [head, "labels", rest.removeprefix("labels.").strip('"')]
    return [head, *rest.split(".")]


def _cell(cell: str) -> Any:
    try:
        return msgspec.json.decode(cell)
    except (msgspec.DecodeError, ValueError):
        return cell
