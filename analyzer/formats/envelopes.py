"""Envelopes around log entries: Pub/Sub messages, OpenTelemetry's OTLP JSON, container runtimes' JSON lines."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

import msgspec

from analyzer.formats.shape import as_dict, as_list, check_size


def opened(value: Any) -> list[Any] | None:
    """What an envelope holds; None for what is no envelope."""
    if not isinstance(value, dict):
        return None
    for key in ("message", "pubsubMessage"):
        if isinstance(value.get(key), dict) and ("data" in value[key] or "attributes" in value[key]):
            return _pubsub(value[key])
    if isinstance(value.get("data"), str) and ("messageId" in value or "message_id" in value or "publishTime" in value):
        return _pubsub(value)
    if isinstance(value.get("receivedMessages"), list):
        return [item for one in value["receivedMessages"] for item in opened(one) or []]
    if isinstance(value.get("resourceLogs"), list):
        return list(_otlp(value["resourceLogs"]))
    return None


def _pubsub(message: dict[str, Any]) -> list[Any]:
    try:
        data = base64.b64decode(message.get("data") or "", validate=False)
        check_size(data)
        inner = msgspec.json.decode(data)
    except (binascii.Error, ValueError, msgspec.DecodeError, TypeError):
        return []
    return inner if isinstance(inner, list) else [inner]


def _otlp(resource_logs: list[Any]) -> Iterator[dict[str, Any]]:
    """The log records of OTLP JSON as structured lines (https://opentelemetry.io/docs/specs/otlp/)."""
    for resource in map(as_dict, resource_logs):
        about = _attributes(as_dict(resource.get("resource")).get("attributes"))
        for scope in map(as_dict, as_list(resource.get("scopeLogs") or resource.get("instrumentationLibraryLogs"))):
            for record in as_list(scope.get("logRecords")):
                if isinstance(record, dict):
                    yield _record(record, about)


def _record(record: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    attributes = _attributes(record.get("attributes"))
    return {
        "message": _value(record.get("body")),
        "severity": record.get("severityText"),
        "time": record.get("timeUnixNano") or record.get("observedTimeUnixNano"),
        "stack_trace": attributes.get("exception.stacktrace"),
        "kubernetes": {
            "pod_name": about.get("k8s.pod.name"),
            "container_name": about.get("k8s.container.name"),
            "namespace_name": about.get("k8s.namespace.name"),
            "host": about.get("k8s.node.name"),
            "labels": {"job-name": about["k8s.job.name"]} if about.get("k8s.job.name") else {},
        },
    }


def _attributes(pairs: Any) -> dict[str, Any]:
    known = [pair for pair in as_list(pairs) if isinstance(pair, dict) and "key" in pair]
    return {str(pair["key"]): _value(pair.get("value")) for pair in known}


def _value(value: Any) -> Any:
    return next(iter(value.values()), None) if isinstance(value, dict) else value
