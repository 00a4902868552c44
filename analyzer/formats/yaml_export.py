"""YAML: what `gcloud logging read` prints by default (documents parted by `---`), and descriptions of objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analyzer.formats.located import YAML_PARTS, NotADocument, yaml_document
from analyzer.formats.logentry import Converter
from analyzer.formats.objects import document_entries
from analyzer.formats.reading import Reading
from analyzer.formats.record import record_of
from analyzer.formats.stream import Lines, ReadText, Stream, numbered, text_of
from analyzer.model import Entry

_DOCUMENT_LIMIT = 1 << 24
"""A single document longer than this (characters) is read as plain lines: entries end at 256 KiB."""


def read_yaml(stream: Stream, reading: Reading, read_text: ReadText) -> Iterator[Entry]:
    """The entries of a stream of YAML documents; one that cannot be read is kept as plain lines."""
    converter = Converter(reading)
    for line, lines, whole in _documents(stream, reading):
        if whole:
            yield from _document(lines, line, reading, converter, read_text)
        else:
            reading.note("too_large", "YAML documents beyond any description were kept as plain lines", line)
            yield from _text(lines, line, reading, read_text)
    yield from converter.rest()


def _documents(stream: Stream, reading: Reading) -> Iterator[tuple[int, list[str], bool]]:
    """First line, lines, and whether they are a whole document."""
    lines: list[str] = []
    first, size, whole = stream.line, 0, True
    for number, raw in stream.lines():
        line = text_of(raw, reading, number)
        end = line.rstrip() == "---"
        if end or size > _DOCUMENT_LIMIT or len(lines) > YAML_PARTS:
            if lines:
                yield first, lines, whole and end
            whole = end
            first, lines, size = number + end, [], 0
        if not end:
            lines.append(line)
            size += len(line) + 1
    if lines:
        yield first, lines, whole


def _document(
    lines: list[str], line: int, reading: Reading, converter: Converter, read_text: ReadText
) -> Iterator[Entry]:
    text = "\n".join(lines)
    if not text.strip():
        return
    try:
        document = yaml_document(text, line)
    except NotADocument:
        reading.note("damaged", "YAML documents that cannot be read were kept as plain lines", line)
        yield from _text(lines, line, reading, read_text)
        return
    values: list[Any] = document.value if isinstance(document.value, list) else [document.value]
    records = [record for value in values if isinstance(value, dict) and (record := record_of(value)) is not None]
    for record in records:
        yield from converter.entries(record, line)
    if not records:
        entries = document_entries(document, reading)
        yield from entries or _text(lines, line, reading, read_text)


def _text(lines: list[str], first: int, reading: Reading, read_text: ReadText) -> Iterator[Entry]:
    text = "\n".join(lines)
    yield from read_text(Lines(numbered(text.encode("utf-8", "replace"), first)), text, reading)
