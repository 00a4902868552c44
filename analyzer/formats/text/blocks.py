"""Blocks within text that are no log lines: descriptions, tables and objects that were pasted between."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial

import msgspec

from analyzer.expressions import expression
from analyzer.formats.json_split import Splitter
from analyzer.formats.json_values import recognised_entries
from analyzer.formats.located import NotADocument, yaml_document
from analyzer.formats.objects import document_entries
from analyzer.formats.objects.controller import controller_parts
from analyzer.formats.objects.node import node_parts
from analyzer.formats.objects.pod import pod_parts
from analyzer.formats.objects.read import part_entry
from analyzer.formats.part import Part
from analyzer.formats.reading import Reading
from analyzer.formats.stream import Line, Lines, ReadText, text_of
from analyzer.formats.text.described import object_document, pod_document
from analyzer.formats.text.event_table import described_events, event_rows, is_event_header
from analyzer.formats.text.field_tree import Field, fields_of
from analyzer.formats.text.status_table import status_table
from analyzer.model import Entry

_LINES = 50_000
_BYTES = 1 << 25
_DESCRIBED = expression(rb"^Name: {2,}\S")
_SECOND = expression(rb"^(?:Namespace|Labels|Roles|Priority|Annotations|API Version|Selector): *")
_TOP_FIELDS = (
    "Name", "Namespace", "Priority", "Priority Class Name", "Runtime Class Name", "Service Account", "Node",
    "Start Time", "Labels", "Annotations", "Status", "Reason", "Message", "IP", "IPs", "Controlled By",
    "Init Containers", "Containers", "Ephemeral Containers", "Conditions", "Volumes", "QoS Class", "Node-Selectors",
    "Tolerations", "Events", "Selector", "Parallelism", "Completions", "Completion Mode", "Completed At",
    "Completed Indexes", "Suspend", "Backoff Limit", "Backoff Limit Per Index", "Active Deadline Seconds",
    "Pods Statuses", "Pod Statuses", "Pod Template", "Duration", "Spec", "Metadata", "API Version", "Kind", "Roles",
    "CreationTimestamp", "Taints", "Unschedulable", "Lease", "Addresses", "Capacity", "Allocatable", "System Info",
    "PodCIDR", "PodCIDRs", "ProviderID", "Non-terminated Pods", "Allocated resources", "SeccompProfile",
    "Nominated Node Name", "Termination Grace Period", "Replicas", "Host Network", "Topology Spread Constraints",
    "ServiceAccount", "Created", "Started", "Finished", "Progress", "ResourcesDuration", "Parameters",
    "Readiness Gates", "Pod Failure Policy", "Success Policy", "Resource Claims", "TTL Seconds After Finished",
)  # fmt: skip
_TOP = expression(rb"^(?:" + "|".join(_TOP_FIELDS).encode() + rb"):(?:\s|$)")
_EVENTS = expression(rb"^Events:")
_YAML = expression(rb"^(?:apiVersion: \S|status:\s*$|jobId: '?\w|createTime: '|endTime: '|name: projects/)")
_YAML_GOES_ON = expression(rb"^(?:\s+\S|[\w.-]+:(?:\s|$)|- )")
_JSON = expression(rb'^(?:[{\[]\s*$|\{\s*"|\[\s*\{)')
_TABLE = expression(rb"^(?:\s*(?:NAMESPACE|LAST ?SEEN|FIRST ?SEEN|NAME|STEP|JobID(?:Raw)?)[\s|]|\| NAME\s)")


def read_block(number: int, raw: bytes, lines: Lines, reading: Reading, read_text: ReadText) -> list[Entry] | None:
    """The entries of the block that begins with this line, whose lines are then taken; None where none begins."""
    first = raw[:1]
    if first in b"{[" and first and _JSON.match(raw):
        return _attempt(partial(_json_block, read_text=read_text), number, raw, lines, reading)
    if first == b"N" and _DESCRIBED.match(raw) and _SECOND.match(lines.peek() or b""):
        return _attempt(_described_block, number, raw, lines, reading)
    if first in b"ajcens" and first and _YAML.match(raw):
        return _attempt(_yaml_block, number, raw, lines, reading)
    if first in b"NLFJS |" and first and _TABLE.match(raw):
        return _attempt(_table_block, number, raw, lines, reading)
    return None


_Read = Callable[[list[Line], Lines, Reading], list[Entry] | None]


def _attempt(read: _Read, number: int, raw: bytes, lines: Lines, reading: Reading) -> list[Entry] | None:
    """Reads a block; where it turns out to be none, its lines are put back."""
    if not lines.may_look_ahead:
        return None
    taken: list[Line] = [(number, raw)]
    entries = read(taken, lines, reading)
    if not entries:
        lines.back(taken[1:])
        return None
    return entries


def _take(taken: list[Line], lines: Lines) -> None:
    taken.append(next(lines))


def _json_block(taken: list[Line], lines: Lines, reading: Reading, read_text: ReadText) -> list[Entry] | None:
    number, raw = taken[0]
    splitter = Splitter(number)
    entries: list[Entry] = []
    size = 0
    line: bytes | None = raw
    while line is not None:
        for kind, place, value in splitter.feed(line + b"\n"):
            found = recognised_entries(value, place, reading, read_text) if kind == "value" else None
            if found is None:
                return None
            entries += found
        size += len(line)
        if not splitter.inside or size > _BYTES or len(taken) > _LINES:
            break
        line = lines.peek()
        if line is not None:
            _take(taken, lines)
    return entries if not splitter.inside else None


def _yaml_block(taken: list[Line], lines: Lines, reading: Reading) -> list[Entry] | None:
    while len(taken) < _LINES:
        line = lines.peek()
        if line is None or not (
            _YAML_GOES_ON.match(line) or (not line.strip() and _YAML_GOES_ON.match(lines.peek(1) or b""))
        ):
            break
        _take(taken, lines)
    text = "\n".join(text_of(line, reading, place) for place, line in taken)
    try:
        document = yaml_document(text, taken[0][0])
    except NotADocument:
        return None
    return document_entries(document, reading)


def _described_block(taken: list[Line], lines: Lines, reading: Reading) -> list[Entry] | None:
    events_at: int | None = None
    while len(taken) < _LINES:
        line = lines.peek()
        if line is None or (events_at is not None and not line.startswith(b" ")) or not _belongs(line, lines):
            break
        if _EVENTS.match(line):
            events_at = len(taken)
        _take(taken, lines)
    first = taken[0][0]
    texts = [text_of(line, reading, place) for place, line in taken]
    body = texts[:events_at]
    parts = list(_described_parts(fields_of(body), body, first))
    if events_at is not None and parts:
        about = _about(parts[0])
        namespace, job = parts[0].fields.get("namespace"), parts[0].job
        events = described_events(texts[events_at:], first + events_at, about, namespace)
        parts += [msgspec.structs.replace(event, job=job or event.job) for event in events]
    return _entries(parts, reading, first)


def _belongs(line: bytes, lines: Lines) -> bool:
    """Whether a line is part of a description: indented, a field of it, blank, or within a message."""
    if line.startswith(b"Name:"):
        return False
    if line[:1] in (b" ", b"\t") or _TOP.match(line):
        return True
    if not line.strip():
        follow = lines.peek(1)
        return (
            follow is not None
            and (follow[:1] == b" " or _TOP.match(follow) is not None)
            and not follow.startswith(b"Name:")
        )
    return any(
        re.match(rb"^ {4,}(?:Exit Code|Signal|Started|Finished): ", lines.peek(ahead) or b"") for ahead in range(1, 100)
    )


def _described_parts(root: Field, lines: list[str], first: int) -> Iterable[Part]:
    kind = root.text("Kind")
    if root.find("Containers") or root.find("Init Containers"):
        document = pod_document(root, lines, first)
        return pod_parts(document, document.value)
    if root.find("Roles") or root.find("ProviderID") or root.find("System Info"):
        document = object_document(root, lines, first, "Node")
        return node_parts(document, document.value)
    if kind is None:
        kind = (
            "Job" if root.find("Pods Statuses") or root.find("Parallelism") else "Pod" if root.find("Node")
            else "Workflow" if root.find("Progress") else "Job"
        )
    document = object_document(root, lines, first, kind)
    return pod_parts(document, document.value) if kind == "Pod" else controller_parts(document, document.value)


def _about(part: Part) -> tuple[str, str] | None:
    if part.fields.get("kind") == "node":
        return ("Node", str(part.node))
    kind, name = part.fields.get("involved_kind") or "Pod", part.fields.get("involved_name") or part.replica
    return (str(kind), str(name)) if name else None


def _table_block(taken: list[Line], lines: Lines, reading: Reading) -> list[Entry] | None:
    first, raw = taken[0]
    header = text_of(raw, reading, first)
    rows = event_rows if is_event_header(header) else status_table(header)
    if rows is None:
        return None
    while len(taken) < _LINES:
        line = lines.peek()
        if line is None or not line.strip():
            break
        _take(taken, lines)
    texts = [text_of(line, reading, place) for place, line in taken]
    parts = list(rows(texts, first))
    last = max((part.line for part in parts), default=first)
    lines.back(taken[last - first + 1 :])
    del taken[last - first + 1 :]
    return _entries(parts, reading, first)


def _entries(parts: Iterable[Part], reading: Reading, first: int) -> list[Entry]:
    return [part_entry(part, reading, first + index) for index, part in enumerate(parts)]
