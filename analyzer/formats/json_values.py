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
from analyzer.formats.shape import TooManyParts
from analyzer.formats.stream import Lines, ReadText, Stream, numbered
from analyzer.formats.structured_line import structured_entry
from analyzer.model import Entry

_LISTS = ("entries", "logEntries", "items", "rows")


class ValueReader:
    """Turns JSON values into entries, one value at a time. `read_text` reads what turns out to be no JSON."""

    def __init__(self, reading: Reading, read_text: ReadText) -> None:
        self._reading, self._read_text = reading, read_text
        self._converter = Converter(reading)

    def entries(self, raw: bytes, line: int) -> Iterator[Entry]:
        """The entries of one value: a LogEntry, an envelope around some, a description, or a structured log line."""
        record = decode(raw)
        if record is not None:
            told = self._converter.log_line(record, line)
            if told is None:
                yield from self._converter.entries(record, line)
            else:
                yield self._converter.entry_of(told)
            return
        try:
            found = self.known(raw, line)
        except ValueError as error:
            if b'"insertId"' in raw or b'"logName"' in raw:
                self._reading.note("bad_line", "log entries that are no valid JSON were left out", line)
                return
            if isinstance(error, TooManyParts):
                self._reading.note("damaged", f"a JSON value cannot be read as a description ({error})", line)
            else:
                self._reading.note("bad_line", "values that are no valid JSON were read as plain text", line)
            yield from self.text(raw, line)
            return
        yield from self.text(raw, line) if found is None else found

    def known(self, raw: bytes, line: int) -> list[Entry] | None:
        """The entries of a value that is no LogEntry itself; None for one that is nothing known.

        Raises:
            ValueError: if it is no JSON, or has too many parts.
        """
        value = value_of(raw)
        inner = opened(value)
        if inner is not None:
            return [entry for item in inner for entry in self._opened(item, line)]
        description = is_description(value)
        if not description and (entry := structured_entry(value, line, self._reading)) is not None:
            return [entry]
        del value  # the document's takes its place
        try:
            document = json_document(raw.decode("utf-8", "replace"), line)
        except NotADocument as error:
            self._reading.note("damaged", f"a JSON value cannot be read as a description ({error})", line)
            return None
        entries = [
            entry
            for container, key in _wrapped(document.value)
            if (record := record_of(container[key])) is not None
            for entry in self._converter.entries(record, document.place(container, key))
        ]
        if entries and not description:
            return entries
        return [*entries, *document_entries(document, self._reading)] or None

    def text(self, raw: bytes, line: int, after: Entry | None = None) -> Iterator[Entry]:
        """The entries of text that is no JSON, or of JSON that is nothing known, line by line."""
        yield from self._read_text(Lines(numbered(raw, line)), "", self._reading, after)

    def rest(self) -> Iterator[Entry]:
        """What waited for the end of the source."""
        yield from self._converter.rest()

    def cut(self, raw: bytes, line: int) -> Iterator[Entry]:
        """The entries of a value that the end of the source cuts off: of a description what is there, else a note."""
        self._reading.note("truncated", "the source ends within a JSON value", line)
        if b'"insertId"' in raw or b'"logName"' in raw:
            return
        try:
            document = json_document(raw.decode("utf-8", "replace"), line)
        except NotADocument:
            return
        document.cut = False  # noted already
        yield from document_entries(document, self._reading)

    def _opened(self, item: Any, line: int) -> Iterator[Entry]:
        record = record_of(item) if isinstance(item, dict) else None
        if record is not None:
            yield from self._converter.entries(record, line)
            return
        entry = structured_entry(item, line, self._reading)
        if entry is not None:
            yield entry


def read_json(stream: Stream, reading: Reading, read_text: ReadText) -> Iterator[Entry]:
    """The entries of a stream of JSON values in any arrangement; what follows them as plain text is read as such."""
    splitter, values = Splitter(stream.line), ValueReader(reading, read_text)
    chunks = stream.chunks()
    for chunk in chunks:
        for kind, line, raw in splitter.feed(chunk):
            if kind == "value":
                yield from values.entries(raw, line)
            elif splitter.in_array:
                yield from values.text(raw, line)
            else:
                yield from values.rest()
                _tell_what_is_too_large(splitter, reading)
                yield from _text_after(raw, splitter, line, chunks, reading, read_text)
                return
    line, rest = splitter.rest()
    _tell_what_is_too_large(splitter, reading)
    if rest.lstrip().startswith(b"{"):
        yield from values.cut(rest, line)
    elif rest.strip():
        yield from values.text(rest, line)
    elif splitter.inside:
        reading.note("truncated", "the source ends within a JSON array", line)
    yield from values.rest()


def _tell_what_is_too_large(splitter: Splitter, reading: Reading) -> None:
    if splitter.too_large:
        reading.note("too_large", "JSON values beyond any log entry were left out")


def recognised_entries(raw: bytes, line: int, reading: Reading, read_text: ReadText) -> list[Entry] | None:
    """The entries of a JSON value within text; None for one that is nothing known, such as a printed config."""
    values = ValueReader(reading, read_text)
    if decode(raw) is not None:
        return [*values.entries(raw, line), *values.rest()]
    try:
        return values.known(raw, line)
    except ValueError:
        return None


def is_known(raw: bytes) -> bool:
    """Whether a JSON value is one that the readers know: a LogEntry, an envelope, a description, a log line."""
    if decode(raw) is not None:
        return True
    try:
        value = value_of(raw)
    except ValueError:
        return False
    return opened(value) is not None or is_description(value) or structured_entry(value, 1, Reading("")) is not None


def _text_after(
    first: bytes, splitter: Splitter, line: int, chunks: Iterator[bytes], reading: Reading, read_text: ReadText
) -> Iterator[Entry]:
    _, rest = splitter.rest()
    head = first + rest
    after = Stream.of(head, chunks, line, reading)
    yield from read_text(Lines(after.lines()), head.decode("utf-8", "replace"), reading)


def _wrapped(value: Any) -> Iterator[tuple[Any, Any]]:
    """Where LogEntries stand in a wrapper (container and key): a page of the API's answer, or single ones."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        if key in _LISTS and isinstance(inner, list):
            yield from ((inner, index) for index, item in enumerate(inner) if _may_be_record(item))
        elif _may_be_record(inner):
            yield value, key


def _may_be_record(value: Any) -> bool:
    return isinstance(value, dict) and ("logName" in value or "insertId" in value)
