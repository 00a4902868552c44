"""Cloud Logging entries one a line, at full speed: chunks are decoded as a whole, a bad line costs itself only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from analyzer.formats.logentry import Converter, LogLine
from analyzer.formats.reading import Reading
from analyzer.formats.record import Record, decode, decoder
from analyzer.formats.stream import ReadText, Stream
from analyzer.model import Entry

if TYPE_CHECKING:
    from analyzer.formats.json_values import ValueReader

LINE_LIMIT = 1 << 24
"""A line longer than this (bytes) is no LogEntry (256 KiB) and no row of a sink; it is skipped and noted."""


_OBJECT = re.compile(rb'\{\s*["}]')  # a Python dict that a program prints is none


class Lines(NamedTuple):
    """The log lines of one block, which have not become entries yet, and who makes them entries."""

    lines: list[LogLine]
    converter: Converter


def read_blocks(stream: Stream, reading: Reading, read_text: ReadText) -> Iterator[Lines | Entry]:
    """The entries of a stream of JSON lines, mostly LogEntries; lines that are no JSON are read as text.

    Plain log lines come block by block as they were decoded, anything else as entries.
    """
    converter, values = Converter(reading), None
    for first, block in _blocks(stream, reading):
        records = _decode_block(block)
        if records is None:
            values = values or _value_reader(reading, read_text)
            yield from _one_by_one(block, first, converter, values)
            continue
        lines: list[LogLine] = []
        for line, record in enumerate(records, first):
            told = converter.log_line(record, line)
            if told is not None:
                lines.append(told)
                continue
            if lines:
                yield Lines(lines, converter)
                lines = []
            yield from converter.entries(record, line)
        if lines:
            yield Lines(lines, converter)
    yield from converter.rest()
    if values is not None:
        yield from values.rest()


def _value_reader(reading: Reading, read_text: ReadText) -> ValueReader:
    """What reads anything else than LogEntries; few exports need it."""
    from analyzer.formats.json_values import ValueReader

    return ValueReader(reading, read_text)


def _decode_block(block: bytes) -> list[Record] | None:
    """The records of a block of whole lines; None where a line is blank, bad, or no LogEntry."""
    try:
        records: list[Record] = decoder.decode_lines(block)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    if len(records) != block.count(b"\n") + (not block.endswith(b"\n")):
        return None
    if not all((r.log_name is not None and r.insert_id is not None) or r.is_log_entry for r in records):
        return None
    return records


def _one_by_one(block: bytes, first: int, converter: Converter, values: ValueReader) -> Iterator[Entry]:
    text: list[bytes] = []
    last: Entry | None = None
    end = first + block.count(b"\n")  # only the end of the source can end within a line
    for line, raw in enumerate(block.split(b"\n"), first):
        bare = raw.strip()
        if not _OBJECT.match(bare):
            text.append(raw)
            continue
        yield from _text(text, line, values, last)
        text.clear()
        record = decode(bare)
        cut = line == end and not bare.endswith(b"}")
        found = converter.entries(record, line) if record else (values.cut if cut else values.entries)(bare, line)
        for last in found:
            yield last
    yield from _text(text, end + 1, values, last)


def _text(lines: list[bytes], end: int, values: ValueReader, after: Entry | None) -> Iterator[Entry]:
    """The entries of lines between that are no JSON, which end before the line `end`."""
    if any(map(bytes.strip, lines)):
        yield from values.text(b"\n".join(lines), end - len(lines), after)


def _blocks(stream: Stream, reading: Reading) -> Iterator[tuple[int, bytes]]:
    """Whole lines in blocks of about a chunk, each with the number of its first line."""
    line, rest, skipping = stream.line, b"", False
    for chunk in stream.chunks():
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            rest = b"" if skipping else rest + chunk
            if len(rest) > LINE_LIMIT:
                reading.note("bad_line", f"lines of more than {LINE_LIMIT >> 20} MiB were left out", line)
                rest, skipping = b"", True
            continue
        block, rest_next = (b"" if skipping else rest) + chunk[:cut], chunk[cut:]
        if skipping:
            begin = block.find(b"\n") + 1
            block, line, skipping = block[begin:], line + 1, False
        if block:
            yield line, block
        line += block.count(b"\n")
        rest = rest_next
    if rest:
        yield line, rest
