"""One LogEntry as it is decoded, whatever spelling the export used, before it becomes an Entry.

Only the fields that a diagnosis needs are decoded; resource, labels and payload stay raw JSON, so that equal ones are
recognised by their bytes and sub-objects can be quoted verbatim.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from analyzer.expressions import expression
from analyzer.formats.shape import check_size, whole_characters
from analyzer.model.numbers import written_integer

NO_JSON = msgspec.Raw(b"")


class Record(msgspec.Struct, gc=False, rename="camel"):
    """A LogEntry of the Logging API (https://cloud.google.com/logging/docs/reference/v2/rest/v2/LogEntry)."""

    timestamp: str | None = None
    insert_id: str | None = None
    severity: str | int | None = None
    log_name: str | None = None
    resource: msgspec.Raw = NO_JSON
    labels: msgspec.Raw = NO_JSON
    text_payload: str | None = None
    json_payload: msgspec.Raw = NO_JSON
    proto_payload: msgspec.Raw = NO_JSON
    receive_timestamp: str | None = None
    split: msgspec.Raw = NO_JSON

    @property
    def is_log_entry(self) -> bool:
        """Whether this JSON object was a LogEntry at all: it has a payload or a name, and a second mark."""
        payload = self.text_payload is not None or bool(self.json_payload) or bool(self.proto_payload)
        marks = (payload, self.log_name, self.insert_id, self.timestamp, self.resource)
        return (payload or self.log_name is not None or self.insert_id is not None) and sum(map(bool, marks)) >= 2


decoder = msgspec.json.Decoder(Record)
encoder = msgspec.json.Encoder()

_CAMEL = {
    "log_name": "logName", "insert_id": "insertId", "text_payload": "textPayload", "json_payload": "jsonPayload",
    "proto_payload": "protoPayload", "receive_timestamp": "receiveTimestamp", "protopayload_auditlog": "protoPayload",
    "logname": "logName", "insertid": "insertId", "textpayload": "textPayload", "jsonpayload": "jsonPayload",
    "protopayload": "protoPayload", "receivetimestamp": "receiveTimestamp",
}  # fmt: skip
_LOG_ENTRY_KEYS = frozenset(("logName", "insertId", "textPayload", "jsonPayload", "protoPayload", "receiveTimestamp"))
_FIELDS = frozenset(Record.__struct_encode_fields__)
_WRONG_NUMBER = expression(rb"(?<=[:\[, ])(?:NaN|-?Infinity)(?=[,\]} \r\n])")


def decode(raw: bytes) -> Record | None:
    """The LogEntry of these bytes, also in the spelling of BigQuery and Log Analytics; None for anything else."""
    try:
        record = decoder.decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return _decode_tolerantly(raw)
    return record if record.is_log_entry else _decode_tolerantly(raw)


def value_of(raw: bytes) -> Any:
    """The JSON value of these bytes, tolerating NaN, absurd numbers and broken UTF-8.

    Raises:
        ValueError: if they are none, or too much of it.
    """
    check_size(raw)
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        import json

        text = _WRONG_NUMBER.sub(b"null", raw).decode("utf-8", "replace")
        try:
            value = json.loads(text, strict=False, parse_int=written_integer)
            return _whole(value) if "\\u" in text else value
        except RecursionError:
            raise ValueError("nested too deeply") from None


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, dict):
        return {whole_characters(key): _whole(inner) for key, inner in value.items()}
    return [_whole(inner) for inner in value] if isinstance(value, list) else value


def _decode_tolerantly(raw: bytes) -> Record | None:
    try:
        value = value_of(raw)
    except ValueError:
        return None
    return record_of(value) if isinstance(value, dict) else None


def entry_columns(names: Iterable[str]) -> list[str]:
    """The columns of a table that hold parts of a LogEntry; none where the table is one of something else."""
    found = [name for name in names if _CAMEL.get(name, name) in _FIELDS]
    fields = {_CAMEL.get(name, name) for name in found}
    return found if len(fields) >= 2 and fields & _LOG_ENTRY_KEYS else []


def record_of(value: Mapping[str, Any]) -> Record | None:
    """The LogEntry that a decoded object is; None for an object that is none."""
    entry = {_CAMEL.get(key, key): item for key, item in value.items() if item is not None}
    if not _LOG_ENTRY_KEYS & entry.keys():
        return None
    for key in ("resource", "labels", "jsonPayload", "protoPayload", "split"):
        entry[key] = _object(entry.get(key))
        if entry[key] is None:
            del entry[key]
    resource = entry.get("resource")
    if isinstance(resource, dict) and isinstance(resource.get("labels"), str):  # a column of JSON, as text
        entry["resource"] = {**resource, "labels": _object(resource["labels"])}
    if isinstance(entry.get("labels"), list):  # BigQuery's repeated key-value records
        entry["labels"] = {
            str(item.get("key")): item.get("value") for item in entry["labels"] if isinstance(item, dict)
        }
    for key in ("timestamp", "receiveTimestamp", "insertId", "logName", "textPayload"):
        if key in entry and not isinstance(entry[key], str):
            entry[key] = str(entry[key])
    if "severity" in entry and not isinstance(entry["severity"], str | int):
        del entry["severity"]
    try:
        record = decoder.decode(encoder.encode(entry))
    except (msgspec.DecodeError, msgspec.ValidationError, TypeError, ValueError, OverflowError, RecursionError):
        return None
    return record if record.is_log_entry else None


def _object(value: Any) -> Any:
    """A JSON object, also where an export wrote it as a string."""
    if isinstance(value, str):
        try:
            check_size(value.encode("utf-8", "surrogatepass"))
            value = msgspec.json.decode(value)
        except ValueError:  # also what msgspec raises
            return {"message": value}
    return value if isinstance(value, dict | list) else None
