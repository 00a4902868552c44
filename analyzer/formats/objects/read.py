"""Recognises what a document describes and turns its statements into entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from analyzer.formats.kubernetes_event import JOB_KINDS, event_fields
from analyzer.formats.located import Document
from analyzer.formats.objects.ai_platform import ai_platform_parts
from analyzer.formats.objects.batch import batch_parts, is_batch
from analyzer.formats.objects.controller import controller_parts
from analyzer.formats.objects.docker import docker_parts, is_docker
from analyzer.formats.objects.node import instance_parts, node_parts, tpu_parts
from analyzer.formats.objects.pod import pod_parts
from analyzer.formats.objects.unknown import unknown_parts
from analyzer.formats.objects.vertex import NAME as VERTEX_NAME
from analyzer.formats.objects.vertex import vertex_parts
from analyzer.formats.part import Part, known
from analyzer.formats.reading import Reading
from analyzer.formats.shape import as_dict, as_list
from analyzer.model import Entry, Origin

Reader = Callable[[Document, dict[str, Any]], Iterator[Part]]


def document_entries(document: Document, reading: Reading) -> list[Entry]:
    """The entries that a document's statements make; none where it describes nothing that is known."""
    if document.cut:
        reading.note("truncated", "a description ends in the middle; what is there was read", document.line)
    parts = list(_parts(document, document.value, 0)) or unknown_parts(document, document.value)
    return [part_entry(part, reading, document.line + index) for index, part in enumerate(parts)]


def is_description(value: Any) -> bool:
    """Whether a JSON object is a description of a known kind, or holds some."""
    return _reader(value) is not None or (isinstance(value, dict) and any(_reader(inner) for inner in value.values()))


def _parts(document: Document, value: Any, depth: int) -> Iterator[Part]:
    if depth > 3:
        return
    if isinstance(value, list):
        for item in value:
            yield from _parts(document, item, depth + 1)
        return
    reader = _reader(value)
    if reader is not None:
        yield from reader(document, value)
    elif isinstance(value, dict):
        for inner in value.values():
            if isinstance(inner, dict | list):
                yield from _parts(document, inner, depth + 1)


def _reader(value: Any) -> Reader | None:
    if not isinstance(value, dict):
        return None
    kind = value.get("kind")
    if isinstance(kind, str) and ("apiVersion" in value or "metadata" in value or kind.endswith("List")):
        found = _kubernetes(kind, value)
        if found is not None:
            return found
    name = value.get("name")
    if isinstance(name, str) and name.startswith("projects/"):
        if VERTEX_NAME.match(name):
            return vertex_parts
        if "/nodes/" in name or "/queuedResources/" in name:
            return tpu_parts
    if "jobId" in value and ("trainingInput" in value or "state" in value):
        return ai_platform_parts
    if is_batch(value):
        return batch_parts
    if is_docker(value):
        return docker_parts
    if kind == "compute#instance" or ("machineType" in value and "status" in value and "networkInterfaces" in value):
        return instance_parts
    if "metadata" in value and "phase" in as_dict(value.get("status")):
        return pod_parts  # items of a list may leave out their kind
    if "kind" not in value and as_list(as_dict(value.get("status")).get("conditions")):
        return controller_parts  # only the status was copied
    error = value.get("error")
    return (
        _refusal if isinstance(error, dict) and "message" in error and ("code" in error or "status" in error) else None
    )


def _kubernetes(kind: str, value: dict[str, Any]) -> Reader | None:
    if kind == "Pod":
        return pod_parts
    if kind == "Event":
        return _event
    if kind == "Node":
        return node_parts
    if kind in JOB_KINDS or (kind.endswith("Job") and "status" in value) or _is_custom(value):
        return controller_parts
    if kind.endswith("List") and isinstance(value.get("items"), list):
        return _list
    return None


def _is_custom(value: dict[str, Any]) -> bool:
    """Whether an object is a custom resource with a state: what tuners and workflow engines run is of such kinds.

    Their API groups are domains (`kubeflow.org`); those below `k8s.io` are mostly the cluster's own.
    """
    group = str(value.get("apiVersion") or "").partition("/")[0]
    status = as_dict(value.get("status"))
    return "." in group and not group.endswith("k8s.io") and bool(status.get("conditions") or status.get("phase"))


def _list(document: Document, value: dict[str, Any]) -> Iterator[Part]:
    inner_kind = str(value["kind"]).removesuffix("List")
    for item in as_list(value["items"]):
        reader = _reader(item)
        if reader is None and inner_kind and isinstance(item, dict):
            reader = _kubernetes(inner_kind, item)
        if reader is not None:
            yield from reader(document, item)


def _event(document: Document, value: dict[str, Any]) -> Iterator[Part]:
    try:
        part = event_fields(value, {})
    except (ValueError, AttributeError):
        return
    key = next((key for key in ("message", "note", "action") if value.get(key)), "reason")
    yield msgspec.structs.replace(part, line=document.place(value, key), origin=Origin.CLUSTER)


def _refusal(document: Document, value: dict[str, Any]) -> Iterator[Part]:
    """The body with which a Google API refuses a request."""
    error = value["error"]
    fields = known(kind="audit", code=error.get("code"), reason=error.get("status"))
    yield Part(text=str(error["message"]), fields=fields, line=document.place(error, "message"), origin=Origin.SERVICE)


def part_entry(part: Part, reading: Reading, sequence: int) -> Entry:
    """The entry that a statement of a description makes."""
    return Entry(
        text=part.text,
        time=part.time,
        time_stated=part.time is not None,
        severity=part.severity or "DEFAULT",
        origin=part.origin,
        job=part.job,
        replica=part.replica,
        attempt=part.attempt,
        node=part.node,
        sequence=sequence,
        source=reading.name,
        line=part.line or 1,
        fields=part.fields,
    )
