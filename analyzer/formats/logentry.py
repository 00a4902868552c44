"""From a LogEntry to entries of the chain: text out of the payload, time, severity, identity of the resource."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from analyzer.formats.audit import audit_entry
from analyzer.formats.autoscaler import autoscaler_parts
from analyzer.formats.clock import any_instant, rfc3339
from analyzer.formats.identity import Identity, identity_of
from analyzer.formats.kubernetes_event import event_fields
from analyzer.formats.part import Part
from analyzer.formats.pipeline_event import pipeline_part
from analyzer.formats.reading import Reading
from analyzer.formats.record import Record, value_of
from analyzer.formats.shape import check_size
from analyzer.formats.split import Joiner
from analyzer.model import Entry, Origin

_SEVERITIES = {0: "DEFAULT", 100: "DEBUG", 200: "INFO", 300: "NOTICE", 400: "WARNING", 500: "ERROR", 600: "CRITICAL",
               700: "ALERT", 800: "EMERGENCY"}  # fmt: skip
_NAMES = frozenset(_SEVERITIES.values())
_LEVELS = {"WARN": "WARNING", "FATAL": "CRITICAL", "TRACE": "DEBUG", "ERR": "ERROR", "SEVERE": "ERROR"}
_PRIORITIES = ("EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG")
_IDENTITIES = 20_000
_MESSAGES = ("message", "MESSAGE", "msg", "log", "textPayload", "event")
_TRACES = ("exc_info", "exc_text", "exception", "stack_trace", "stackTrace", "stack", "traceback", "stack_info")


class Payload(msgspec.Struct, gc=False):
    """The parts of a structured log line that hold its words."""

    message: Any = None
    MESSAGE: Any = None
    msg: Any = None
    log: Any = None
    textPayload: Any = None
    event: Any = None
    exc_info: Any = None
    exc_text: Any = None
    exception: Any = None
    stack_trace: Any = None
    stackTrace: Any = None
    stack: Any = None
    traceback: Any = None
    stack_info: Any = None
    severity: Any = None
    levelname: Any = None
    level: Any = None
    PRIORITY: Any = None


_payload = msgspec.json.Decoder(Payload)


class LogLine(NamedTuple):
    """A log line before it becomes an Entry: what `Converter.entry_of` needs, and nothing that holds its block."""

    identity: Identity
    stamp: str
    insert_id: str
    severity: str
    text: str
    line: int


class Converter:
    """Turns the records of one source into entries, remembering identities and the parts of split entries."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._identities: dict[tuple[bytes, bytes, str | None], Identity] = {}
        self._joiner = Joiner()
        self._special: dict[str, Callable[[Record, Identity], Iterable[Part]]] = {
            "event": _event_parts,
            "audit": lambda record, identity: [audit_entry(value_of(bytes(record.proto_payload)), identity)],
            "autoscaler": lambda record, _: autoscaler_parts(bytes(record.json_payload)),
            "pipeline": lambda record, _: [pipeline_part(record.json_payload, record.text_payload)],
        }

    def log_line(self, record: Record, line: int) -> LogLine | None:
        """A whole log line, the usual and quick case; None for a record that `entries` has to read."""
        identity = self._identity_of(record)
        if record.split or identity.shape in self._special:
            return None
        text, severity = _log_text(record, identity.shape)
        stamp = record.timestamp or record.receive_timestamp or ""
        return LogLine(identity, stamp, record.insert_id or "", severity, text, line)

    def entry_of(self, told: LogLine) -> Entry:
        """The entry of a log line."""
        identity, stamp, insert_id, severity, text, line = told
        return Entry(
            text=text,
            time=rfc3339(stamp) or any_instant(stamp) if stamp else None,
            severity=severity,
            origin=identity.origin,
            job=identity.job,
            replica=identity.replica,
            attempt=identity.attempt,
            node=identity.node,
            insert_id=insert_id,
            sequence=0 if insert_id else line,
            source=self._reading.name,
            line=line,
            fields=identity.fields,
        )

    def entries(self, record: Record, line: int) -> Iterator[Entry]:
        """The entries of one record; a part of a split entry waits for the others."""
        if record.split:
            joined = self._joiner.add(record, line)
            if joined is None:
                return
            record, line = joined
        yield from self._convert(record, line)

    def rest(self) -> Iterator[Entry]:
        """Split entries whose other parts never came, as far as they go."""
        for record, line, uid, parts, total in self._joiner.rest():
            self._reading.note("truncated", "parts of a split entry are missing", line)
            torn = {"split_uid": uid, "split_parts": parts, "split_total": total}
            for entry in self._convert(record, line):
                yield msgspec.structs.replace(entry, fields={**entry.fields, **torn})

    def _identity_of(self, record: Record) -> Identity:
        key = (bytes(record.resource), bytes(record.labels), record.log_name)
        identity = self._identities.get(key)
        if identity is None:
            identity = _identity(record)
            if len(self._identities) >= _IDENTITIES:
                self._identities.clear()
            self._identities[key] = identity
        return identity

    def _convert(self, record: Record, line: int) -> Iterator[Entry]:
        identity = self._identity_of(record)
        special = self._special.get(identity.shape)
        if special is None or (record.text_payload is not None and identity.shape != "pipeline"):
            text, severity = _log_text(record, identity.shape)
            yield self._entry(record, identity, text, severity, line)
            return
        try:
            check_size(bytes(record.json_payload))
            parts = list(special(record, identity))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            self._reading.note("doubtful", f"entries of the kind {identity.shape} that have no usual form", line)
            text, severity = _log_text(record, identity.shape)
            parts = [Part(text, severity=severity)]
        for number, part in enumerate(parts):
            yield self._special_entry(record, identity, part, line, number)

    def _entry(self, record: Record, identity: Identity, text: str, severity: str, line: int) -> Entry:
        stamp = record.timestamp or record.receive_timestamp or ""
        return self.entry_of(LogLine(identity, stamp, record.insert_id or "", severity, text, line))

    def _special_entry(self, record: Record, identity: Identity, part: Part, line: int, number: int) -> Entry:
        entry = self._entry(record, identity, part.text, part.severity or _severity(record.severity), line)
        return msgspec.structs.replace(
            entry,
            fields={**identity.fields, **part.fields},
            job=part.job or identity.job,
            replica=part.replica or identity.replica,
            node=part.node or identity.node,
            sequence=entry.sequence + number,
        )


def _identity(record: Record) -> Identity:
    resource = _object(record.resource)
    inner = _object(resource.get("labels"))
    labels = _object(record.labels)
    kind = resource.get("type")
    identity = identity_of(kind if isinstance(kind, str) else "", inner, labels, record.log_name or "")
    if identity.origin is Origin.TEXT and record.proto_payload:
        return msgspec.structs.replace(identity, shape="audit", origin=Origin.AUDIT)
    return identity


def _tolerant_payload(raw: bytes) -> Payload:
    """A payload with broken UTF-8 or numbers that are none."""
    try:
        return msgspec.convert(value_of(raw), Payload)
    except (ValueError, RecursionError):
        return Payload()


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, msgspec.Raw):
        try:
            value = value_of(bytes(value)) if value else None
        except ValueError:
            return {}
    return value if isinstance(value, dict) else {}


def _log_text(record: Record, shape: str) -> tuple[str, str]:
    """The words of a plain log entry, and its severity."""
    severity = _severity(record.severity)
    if record.text_payload is not None:
        text = record.text_payload
        return (unescaped(text) if shape == "serial" else text.rstrip("\r\n")), severity
    raw = bytes(record.json_payload)
    if not raw or raw == b"null":
        return bytes(record.proto_payload).decode("utf-8", "replace"), severity
    try:
        check_size(raw)
        payload = _payload.decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        payload = _tolerant_payload(raw)
    if severity == "DEFAULT":
        severity = payload_severity(payload)
    message = payload.message
    if type(message) is str and message and not (b'"exc' in raw or b'"stack' in raw or b'"traceback' in raw):
        return message.rstrip("\r\n"), severity  # what payload_text would give
    return payload_text(payload) or raw.decode("utf-8", "replace"), severity


def payload_text(payload: Payload) -> str | None:
    """The message of a structured log line, followed by its traceback where that stands in a field of its own."""
    text = next((word for name in _MESSAGES if isinstance(word := getattr(payload, name), str) and word), None)
    trace = next((word for name in _TRACES if isinstance(word := getattr(payload, name), str) and "\n" in word), None)
    if trace is not None and (text is None or trace.strip() not in text):
        text = trace if text is None else f"{text.rstrip()}\n{trace}"
    if text is None and payload.message is not None:
        text = msgspec.json.encode(payload.message).decode()
    return None if text is None else text.rstrip("\r\n")


def unescaped(text: str) -> str:
    r"""A serial console's text: line ends that the export wrote as the four characters `\r\n` become line ends."""
    return text.replace("\\r\\n", "\n").rstrip("\r\n")


def _severity(value: str | int | None) -> str:
    if value is None:
        return "DEFAULT"
    if isinstance(value, str):
        if value in _NAMES:
            return value
        name = value.upper()
        if not name.isdecimal():
            return name if name in _NAMES else _LEVELS.get(name, "DEFAULT")
        value = int(name[:4])
    return _SEVERITIES.get(value // 100 * 100, "DEFAULT")


def payload_severity(payload: Payload) -> str:
    """The severity that a structured log line states; DEFAULT where it states none."""
    for value in (payload.severity, payload.levelname, payload.level):
        if isinstance(value, str):
            return _severity(value)
    if isinstance(payload.PRIORITY, str | int) and str(payload.PRIORITY) in "01234567":
        return _PRIORITIES[int(payload.PRIORITY)]
    return "DEFAULT"


def _event_parts(record: Record, identity: Identity) -> list[Part]:
    return [event_fields(value_of(bytes(record.json_payload)), identity.fields)]
