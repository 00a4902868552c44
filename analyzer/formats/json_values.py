"""JSON that is not one LogEntry a line: arrays, pretty print, objects one after another, envelopes, descriptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analyzer.formats.envelopes import opened
from analyzer.formats.json_split import Splitter
from analyzer.formats.located import NotADocument, json_document
from analyzer.formats.logentry import Converter
from analyzer.formats.objects import document_entries, is_description
from analyzer.formats.reading import Reading
from analyzer.formats.record import decode, record_of, value_of
from analyzer.formats.stream import Stream
from analyzer.formats.structured_line import structured_entry
from analyzer.model import Entry

_LISTS = ("entries", "logEntries", "items", "rows")


class ValueReader:
    """Turns JSON values into entries, one value at a time."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._converter = Converter(reading)

    def entries(self, raw: bytes, line: int) -> Iterator[Entry]:
        """The entries of one value: a LogEntry, an envelope around some, a description, or a structured log line."""
        record = decode(raw)
        if record is not None:
            yield from self._converter.entries(record, line)
            return
        try:
            value = value_of(raw)
        except ValueError:
            self._reading.note("bad_line", "values that are no valid JSON were left out", line)
            return
        yield from self.value(value, raw, line)

    def value(self, value: Any, raw: bytes, line: int) -> Iterator[Entry]:
        """The entries of a value that is decoded already and is no LogEntry itself."""
        inner = opened(value)
        if inner is not None:
            for item in inner:
                record = record_of(item) if isinstance(item, dict) else None
                if record is not None:
                    yield from self._converter.entries(record, line)
                else:
                    entry = structured_entry(item, line, self._reading)
                    if entry is not None:
                        yield entry
            return
        wrapped = _wrapped_records(value)
        for item in wrapped:
            record = record_of(item)
            if record is not None:
                yield from self._converter.entries(record, line)
        if is_description(value):
            yield from self._description(raw, line)
            return
        entry = structured_entry(value, line, self._reading)
        if entry is not None:
            yield entry
        elif not wrapped:
            yield from self._description(raw, line)

    def line(self, raw: bytes, line: int) -> Iterator[Entry]:
        """The entries of one line of a source of JSON lines, which may turn out to be no JSON."""
        if raw.startswith(b"{"):
            yield from self.entries(raw, line)
        else:
            yield from _plain_lines(raw, line, self._reading)

    def rest(self) -> Iterator[Entry]:
        """What waited for the end of the source."""
        yield from self._converter.rest()

    def cut(self, raw: bytes, line: int) -> Iterator[Entry]:
        """The entries of a value that the end of the source cuts off: of a description what is there, else a note."""
        text = raw.decode("utf-8", "replace")
        self._reading.note("truncated", "the source ends within a JSON value", line)
        if b'"insertId"' in raw or b'"logName"' in raw:
            return
        try:
            yield from document_entries(json_document(text, line), Reading(self._reading.name))
        except NotADocument:
            return

    def _description(self, raw: bytes, line: int) -> Iterator[Entry]:
        try:
            entries = document_entries(json_document(raw.decode("utf-8", "replace"), line), self._reading)
        except NotADocument as error:
            self._reading.note("unreadable", f"a JSON value cannot be read as a description ({error})", line)
            return
        yield from entries
        if not entries:
            yield from _plain_lines(raw, line, self._reading)


def read_json(stream: Stream, reading: Reading) -> Iterator[Entry]:
    """The entries of a stream of JSON values in any arrangement; text between them is kept as plain lines."""
    splitter, values = Splitter(), ValueReader(reading)
    for chunk in stream.chunks():
        for kind, line, raw in splitter.feed(chunk):
            yield from values.entries(raw, line) if kind == "value" else _plain_lines(raw, line, reading)
    line, rest = splitter.rest()
    if splitter.too_large:
        reading.note("too_large", "JSON values beyond any log entry were left out")
    if rest.lstrip().startswith(b"{"):
        yield from values.cut(rest, line)
    elif rest.strip():
        yield from _plain_lines(rest, line, reading)
    elif splitter.inside:
        reading.note("truncated", "the source ends within a JSON array", line)
    yield from values.rest()


def recognised_entries(raw: bytes, line: int, reading: Reading) -> list[Entry] | None:
    """The entries of a JSON value that stands within text; None for one that is nothing known, such as a printed config."""
    values = ValueReader(reading)
    if decode(raw) is None:
        try:
            value = value_of(raw)
        except ValueError:
            return None
        known = is_description(value) or opened(value) is not None or _wrapped_records(value)
        if not known and structured_entry(value, line, reading) is None:
            return None
    return [*values.entries(raw, line), *values.rest()]


def _wrapped_records(value: Any) -> list[dict[str, Any]]:
    """LogEntries that stand in a wrapper: a page of the API's answer, or single ones among its members."""
    if not isinstance(value, dict):
        return []
    found: list[dict[str, Any]] = []
    for key, inner in value.items():
        if key in _LISTS and isinstance(inner, list):
            found += [item for item in inner if isinstance(item, dict) and record_of(item) is not None]
        elif isinstance(inner, dict) and ("logName" in inner or "insertId" in inner):
            found.append(inner)
    return found


def _plain_lines(raw: bytes, line: int, reading: Reading) -> Iterator[Entry]:
    for number, text in enumerate(raw.decode("utf-8", "replace").split("\n"), line):
        if text.strip():
            yield Entry(text=text.rstrip("\r"), time_stated=False, sequence=number, source=reading.name, line=number)
