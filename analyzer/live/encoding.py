"""LogEntries of the API as lines of an export: every field, times to the nanosecond, parts of split entries marked."""

from __future__ import annotations

import base64
from contextlib import suppress
from typing import Any

import msgspec
from google.cloud.audit import audit_log_pb2  # teaches the converter what audit entries hold
from google.protobuf.json_format import Error as JsonError
from google.protobuf.json_format import MessageToDict
from google.rpc import error_details_pb2  # the same for the details of their errors

_KNOWN = (audit_log_pb2, error_details_pb2)
_ODD = (TypeError, ValueError, JsonError)
_AUDIT = audit_log_pb2.AuditLog.DESCRIPTOR.full_name


def line_of(entry: Any) -> bytes:
    """A LogEntry (as a plain protocol buffer) as one line of JSON, in the spelling of the API, without its line end."""
    try:
        value = MessageToDict(entry)
    except _ODD:  # an Any of a type that is not known here, or a number that JSON has no word for
        value = _piecewise(entry)
    return msgspec.json.encode(value)


def _piecewise(entry: Any) -> dict[str, Any]:
    """The entry with its payload taken apart, so that one odd value costs itself only."""
    bare = type(entry)()
    bare.CopyFrom(entry)
    bare.ClearField("proto_payload")
    bare.ClearField("json_payload")
    value: dict[str, Any] = MessageToDict(bare)
    if entry.HasField("proto_payload"):
        value["protoPayload"] = _proto_payload(entry.proto_payload)
    if entry.HasField("json_payload"):
        value["jsonPayload"] = {key: _plain(inner) for key, inner in entry.json_payload.fields.items()}
    return value


def _proto_payload(payload: Any) -> dict[str, Any]:
    if payload.Is(audit_log_pb2.AuditLog.DESCRIPTOR):
        audit = audit_log_pb2.AuditLog()
        payload.Unpack(audit)
        audit.ClearField("service_data")
        audit.status.ClearField("details")
        with suppress(*_ODD):  # then as any other type that is not known here
            return {"@type": f"type.googleapis.com/{_AUDIT}", **MessageToDict(audit)}
    return {"@type": payload.type_url, "value": base64.b64encode(payload.value).decode()}


def _plain(value: Any) -> Any:
    """A Struct's value as JSON's; a number that JSON has no word for becomes null when it is written."""
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return {key: _plain(inner) for key, inner in value.struct_value.fields.items()}
    if kind == "list_value":
        return [_plain(inner) for inner in value.list_value.values]
    return None if kind in (None, "null_value") else getattr(value, kind)
