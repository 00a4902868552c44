"""Cloud Logging entries one a line, at full speed: chunks are decoded as a whole, a bad line costs itself only."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from analyzer.formats.logentry import Converter
from analyzer.formats.reading import Reading
from analyzer.formats.record import Record, decode, decoder
from analyzer.formats.stream import Stream
from analyzer.model import Entry

LINE_LIMIT = 1 << 24
"""A line longer than this (bytes) is no LogEntry (256 KiB) and no row of a sink; it is skipped and noted."""

Other = Callable[[bytes, int], Iterator[Entry]]


def read_ndjson(stream: Stream, reading: Reading, other: Other) -> Iterator[Entry]:
    """The entries of a stream of JSON lines; `other` reads a line that is JSON but no LogEntry, or no JSON at all."""
    converter = Converter(reading)
    for first, block in _blocks(stream, reading):
        records = _decode_block(block)
        if records is not None:
            for line, record in enumerate(records, first):
                entry = converter.log_line(record, line)
                if entry is None:
                    yield from converter.entries(record, line)
                else:
                    yield entry
        else:
            yield from _one_by_one(block, first, converter, other)
    yield from converter.rest()


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


def _one_by_one(block: bytes, first: int, converter: Converter, other: Other) -> Iterator[Entry]:
    for line, raw in enumerate(block.split(b"\n"), first):
        bare = raw.strip()
        if not bare:
            continue
        record = decode(bare)
        if record is None:
            yield from other(bare, line)
        else:
            yield from converter.entries(record, line)


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
