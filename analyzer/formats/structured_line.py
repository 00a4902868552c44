"""A log line that is a JSON object of its own: program loggers, docker, journald, Fluent Bit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from analyzer.formats.clock import any_instant
from analyzer.formats.identity import CONTROLLER_LABELS
from analyzer.formats.logentry import Payload, payload_severity, payload_text
from analyzer.formats.reading import Reading
from analyzer.formats.shape import as_dict
from analyzer.model import Entry, JobKey, Origin

_TIMES = (
    "timestamp",
    "time",
    "ts",
    "@timestamp",
    "asctime",
    "datetime",
    "created",
    "__REALTIME_TIMESTAMP",
    "_SOURCE_REALTIME_TIMESTAMP",
)
_LEVELS = (
    "severity",
    "levelname",
    "level",
    "PRIORITY",
    "lvl",
    "stream",
    "timestamp",
    "time",
    "ts",
    "@timestamp",
    "asctime",
)


def structured_entry(value: Any, line: int, reading: Reading) -> Entry | None:
    """The entry of a structured log line; None for an object that is none (no message beside a level or time)."""
    if not isinstance(value, dict) or not any(key in value for key in _LEVELS):
        return None
    try:
        payload = msgspec.convert(value, Payload)
    except (msgspec.ValidationError, TypeError):
        return None
    text = payload_text(payload)
    if text is None:
        return None
    time = next((found for key in _TIMES if (found := any_instant(value.get(key))) is not None), None)
    kubernetes = as_dict(value.get("kubernetes"))
    pod = kubernetes.get("pod_name") or as_dict(kubernetes.get("pod")).get("name")
    host = value.get("_HOSTNAME") or kubernetes.get("host")
    severity = payload_severity(payload)
    if severity == "DEFAULT":
        severity = {"stderr": "ERROR", "stdout": "INFO"}.get(str(value.get("stream")), severity)
    return Entry(
        text=text,
        time=time,
        time_stated=time is not None,
        severity=severity,
        origin=_origin(value, pod),
        job=JobKey("gke", "", _controller(kubernetes) or str(pod)) if pod else None,
        replica=str(pod) if pod else None,
        node=str(host) if host else None,
        sequence=line,
        source=reading.name,
        line=line,
        fields={"container": kubernetes["container_name"]} if kubernetes.get("container_name") else {},
    )


def _origin(value: Mapping[str, Any], pod: Any) -> Origin:
    if "_HOSTNAME" in value or "_TRANSPORT" in value or "SYSLOG_IDENTIFIER" in value:
        return Origin.NODE
    return Origin.REPLICA if pod or ("log" in value and "stream" in value) else Origin.TEXT


def _controller(kubernetes: Mapping[str, Any]) -> str | None:
    labels = as_dict(kubernetes.get("labels"))
    return next((str(labels[name]) for name in CONTROLLER_LABELS if labels.get(name)), None)
