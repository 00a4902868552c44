"""Reads a source: recognises its form by content and streams its entries."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.formats.ndjson import Lines, read_blocks
from analyzer.formats.reading import Reading
from analyzer.formats.recognise import Form, is_other_table, recognise
from analyzer.formats.stream import Lines as TextLines
from analyzer.formats.stream import Stream, numbered
from analyzer.model import Entry, Note
from analyzer.sources import Source


def read_source(source: Source, notes: list[Note]) -> Iterator[Entry]:
    """The entries of a source, in its order. Memory stays bounded whatever its size.

    What cannot be read costs itself only and leaves a Note; notes are complete once the iterator is exhausted. Raises
    DiagnoseError where the source needs a decoder that is not installed.
    """
    for part in read_parts(source, notes):
        if isinstance(part, Lines):
            yield from map(part.converter.entry_of, part.lines)
        else:
            yield part


def read_parts(source: Source, notes: list[Note]) -> Iterator[Lines | Entry]:
    """The same, with the plain lines of a Cloud Logging export as they were decoded: most need never become entries."""
    reading = Reading(source.name)
    try:
        with source.open() as raw:
            stream = Stream(raw, reading)
            if stream.is_archive:
                reading.note("archive", "an archive within another, or a zip from a pipe, is not opened: unpack it")
            elif stream.is_binary:
                reading.note("binary", "this file is no text and was left out")
            else:
                yield from _parts(stream, reading)
    except OSError as error:
        reading.note("unreadable", f"this source cannot be read ({error.strerror or error})")
    finally:
        reading.flush(notes)


def _parts(stream: Stream, reading: Reading) -> Iterator[Lines | Entry]:
    """The parts of a source in its form, whose reader is imported only now."""
    found = recognise(stream.head, stream.complete)
    if found.form is Form.PARQUET:
        from analyzer.formats.tables.parquet import read_parquet

        yield from read_parquet(stream, reading)
        return
    if found.form is Form.AVRO:
        from analyzer.formats.tables.avro import read_avro

        yield from read_avro(stream, reading)
        return
    whole = stream.head.decode("utf-8", "replace")
    before = stream.drop(found.start)
    if found.cut:
        reading.note("truncated", "the source begins in the middle of an entry, which was left out", 1)
    elif before:
        yield from _read_text(TextLines(numbered(before, 1)), before.decode("utf-8", "replace"), reading)
    if found.form is Form.NDJSON:
        yield from read_blocks(stream, reading, _read_text)
    elif found.form is Form.JSON:
        from analyzer.formats.json_values import read_json

        yield from read_json(stream, reading, _read_text)
    elif found.form is Form.CSV:
        from analyzer.formats.csv_export import read_csv

        yield from read_csv(stream, reading)
    elif found.form is Form.YAML:
        from analyzer.formats.yaml_export import read_yaml

        yield from read_yaml(stream, reading, _read_text)
    else:
        if is_other_table(stream.head):
            reading.note("columns", "a table without columns of log entries was read as plain text", stream.line)
        yield from _read_text(TextLines(stream.lines()), whole, reading)


def _read_text(lines: TextLines, head: str, reading: Reading, after: Entry | None = None) -> Iterator[Entry]:
    from analyzer.formats.text.read import read_text

    return read_text(lines, head, reading, after)
