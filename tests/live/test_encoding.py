"""Entries of the API become the lines that an export has."""

from __future__ import annotations

import json
import math
from typing import Any

from google.cloud.logging_v2.types import LogEntry
from google.protobuf import any_pb2, json_format

from analyzer.live.encoding import line_of
from analyzer.live.pace import Backoff

AUDIT = {
    "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
    "methodName": "beta.compute.instances.preempted",
    "resourceName": "projects/1/zones/us-central1-a/instances/gke-a",
    "status": {"message": "Instance was preempted."},
}


def made(**fields: Any) -> Any:
    """An entry as the client gives it."""
    return json_format.ParseDict({"insertId": "a", "logName": "projects/p/logs/x", **fields}, LogEntry.pb()())


def test_fields_come_back_as_they_were() -> None:
    """Spelling, nanoseconds, whole numbers, split marks and audit payloads are those of the API's JSON."""
    fields = {
        "timestamp": "2026-03-11T08:00:00.123456789Z",
        "severity": "ERROR",
        "jsonPayload": {"message": "m", "step": 7, "nested": {"list": [1, 2.5, None, True]}},
        "split": {"uid": "u", "index": 1, "totalSplits": 3},
        "labels": {"ml.googleapis.com/trial_id": "2"},
    }
    assert json.loads(line_of(made(**fields))) == {"insertId": "a", "logName": "projects/p/logs/x", **fields}
    assert json.loads(line_of(made(protoPayload=AUDIT)))["protoPayload"] == AUDIT


def test_numbers_that_json_has_not() -> None:
    """A loss that is not a number becomes null, and the rest of the entry stays."""
    entry = made(jsonPayload={"message": "loss is nan", "more": {"list": [1]}})
    entry.json_payload.fields["loss"].number_value = math.nan
    payload = json.loads(line_of(entry))["jsonPayload"]
    assert payload == {"message": "loss is nan", "loss": None, "more": {"list": [1]}}


def test_payloads_of_unknown_types() -> None:
    """A payload that nobody here knows is named; an audit entry with such a detail keeps its words."""
    strange = any_pb2.Any(type_url="type.googleapis.com/acme.Unknown", value=b"\x01")
    entry = made()
    entry.proto_payload.CopyFrom(strange)
    assert json.loads(line_of(entry))["protoPayload"] == {"@type": strange.type_url, "value": "AQ=="}
    audit = made(protoPayload=AUDIT)
    inner = json_format.ParseDict(AUDIT, any_pb2.Any())
    from google.cloud.audit import audit_log_pb2

    log = audit_log_pb2.AuditLog()
    inner.Unpack(log)
    log.service_data.CopyFrom(strange)
    audit.proto_payload.Pack(log)
    assert json.loads(line_of(audit))["protoPayload"] == AUDIT


def test_waits_grow_to_a_limit_and_end() -> None:
    """Each wait is half to all of twice the last one, up to the longest; then it is given up."""

    class Most:
        def uniform(self, low: float, high: float) -> float:
            return high

    backoff = Backoff(1.0, 10.0, 6, Most())  # type: ignore[arg-type]
    assert [backoff.next_wait() for _ in range(7)] == [1, 2, 4, 8, 10, 10, None]
    backoff.reset()
    assert backoff.next_wait() == 1
