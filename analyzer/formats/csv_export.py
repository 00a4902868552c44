"""Logs Explorer's CSV: one row an entry, nested fields as dotted columns. The header decides, never a position."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

import msgspec

from analyzer.formats.logentry import Converter
from analyzer.formats.reading import Reading
from analyzer.formats.record import record_of
from analyzer.formats.shape import check_size
from analyzer.formats.stream import Stream, text_of
from analyzer.model import Entry

_FIELD_LIMIT = 1 << 24


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
        check_size(cell.encode("utf-8", "surrogatepass"))
        return msgspec.json.decode(cell)
    except (msgspec.DecodeError, ValueError):
        return cell
