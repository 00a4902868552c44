"""`kubectl describe`: its indented text becomes the object as the API gives it, each part knowing its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from analyzer.formats.clock import described_time
from analyzer.formats.located import Document, Spans
from analyzer.formats.text.field_tree import Field
from analyzer.formats.text.table import Table, header_names
from analyzer.model.numbers import number

_STATES = {"Waiting": "waiting", "Running": "running", "Terminated": "terminated"}
_STATE_KEYS = {"Reason": "reason", "Message": "message", "Exit Code": "exitCode", "Signal": "signal",
               "Started": "startedAt", "Finished": "finishedAt"}  # fmt: skip
_CONTAINERS = (
    ("Init Containers", "initContainerStatuses", "initContainers"),
    ("Containers", "containerStatuses", "containers"),
)
_CONDITIONS = ("Type", "Status", "LastHeartbeatTime", "LastTransitionTime", "Reason", "Message", "LastProbeTime")


def pod_document(root: Field, lines: Sequence[str], line: int) -> Document:
    """The Pod that a description shows."""
    return _Pod(root, lines, line).document()


def object_document(root: Field, lines: Sequence[str], line: int, kind: str) -> Document:
    """The controller, queue object or node that a description shows, of this kind."""
    return _Object(root, lines, line).document(kind)


class _Shaper:
    """Builds an API object out of fields, noting the lines of each part."""

    def __init__(self, root: Field, lines: Sequence[str], line: int) -> None:
        self.root, self.lines, self.line = root, lines, line
        self._spans = Spans()
        self._starts = list(accumulate((len(text) + 1 for text in lines), initial=0))

    def put(self, target: dict[str, Any], key: str, value: Any, field: Field | None) -> None:
        """Sets a value that is known, with the lines of the field that states it."""
        if value is None or field is None:
            return
        target[key] = value
        self.stands(target, key, field.first, field.last)

    def stands(self, target: Any, key: str | int, first: int, last: int) -> None:
        """Notes the lines at which a value stands, from the first to the last."""
        indent = len(self.lines[first]) - len(self.lines[first].lstrip())
        self._spans.put(target, key, self._starts[first] + indent, self._starts[last + 1] - 1)

    def finished(self, value: dict[str, Any]) -> Document:
        """The document of the value."""
        return Document(value, "\n".join(self.lines), self.line, self._spans)

    def metadata(self) -> dict[str, Any]:
        """Name, namespace, labels and owner."""
        metadata: dict[str, Any] = {}
        for key, name in (("name", "Name"), ("namespace", "Namespace")):
            self.put(metadata, key, self.root.text(name), self.root.find(name))
        labels = self.root.find("Labels")
        if labels is not None:
            pairs = [pair.partition("=") for pair in (labels.value, *labels.more) if "=" in pair]
            self.put(metadata, "labels", {key.strip(): value.strip() for key, _, value in pairs}, labels)
        uid = self.root.find("Metadata", "UID") or self.root.find("UID")
        self.put(metadata, "uid", uid.value if uid else None, uid)
        owner = self.root.text("Controlled By")
        if owner:
            kind, _, name = owner.partition("/")
            metadata["ownerReferences"] = [{"kind": kind, "name": name, "controller": True}]
        created = self.root.find("CreationTimestamp") or self.root.find("Metadata", "Creation Timestamp")
        self.put(metadata, "creationTimestamp", _time(created.value) if created else None, created)
        return metadata

    def table_conditions(self, holder: Field | None) -> list[dict[str, Any]]:
        """The conditions of a table below `Conditions:`."""
        if holder is None:
            return []
        rows = list(enumerate(self.lines[holder.first + 1 : holder.last + 1], holder.first + 1))
        table: Table | None = None
        found = []
        for index, row_text in rows:
            if table is None:
                names = header_names(row_text, _CONDITIONS)
                table = Table(row_text, names) if names[:2] == ["Type", "Status"] else None
                continue
            row = table.row(row_text)
            if row is None or set(row_text.strip()) <= set("- "):
                continue
            condition = {
                "type": row["Type"].split()[0],
                "status": row.get("Status", "").split(" ", 1)[0] or row["Type"].split()[-1],
                "reason": row.get("Reason"),
                "message": row.get("Message"),
                "lastTransitionTime": _time(row.get("LastTransitionTime")),
            }
            for key in condition:
                self.stands(condition, key, index, index)
            found.append(condition)
            self.stands(found, len(found) - 1, index, index)
        return found


class _Pod(_Shaper):
    """A pod's description."""

    def document(self) -> Document:
        """The Pod object."""
        root = self.root
        spec: dict[str, Any] = {"containers": [], "initContainers": []}
        node = root.text("Node")
        self.put(spec, "nodeName", node.split("/", 1)[0] if node else None, root.find("Node"))
        status: dict[str, Any] = {}
        self.put(status, "phase", _phase(root.text("Status")), root.find("Status"))
        for key, name in (("reason", "Reason"), ("message", "Message")):
            self.put(status, key, root.text(name), root.find(name))
        self.put(status, "startTime", _time(root.text("Start Time")), root.find("Start Time"))
        status["conditions"] = self.table_conditions(root.find("Conditions"))
        for title, key, specs in _CONTAINERS:
            holder = root.find(title)
            status[key] = [self._container(field, spec[specs]) for field in (holder.inner if holder else [])]
        selector = {}
        chosen = root.find("Node-Selectors")
        for pair in (chosen.value, *chosen.more) if chosen else ():
            name, _, value = pair.partition("=")
            selector[name.strip()] = value.strip()
        spec["nodeSelector"] = selector
        return self.finished(
            {"kind": "Pod", "apiVersion": "v1", "metadata": self.metadata(), "spec": spec, "status": status}
        )

    def _container(self, field: Field, specs: list[dict[str, Any]]) -> dict[str, Any]:
        limits = field.find("Limits")
        resources = {one.key: one.value for one in limits.inner} if limits else {}
        specs.append({"name": field.key, "resources": {"limits": resources}})
        container: dict[str, Any] = {
            "name": field.key,
            "image": field.text("Image"),
            "restartCount": number(field.text("Restart Count")),
        }
        for key, title in (("state", "State"), ("lastState", "Last State")):
            found = field.find(title)
            if found is not None and found.value in _STATES:
                states: dict[str, Any] = {}
                facts: dict[str, Any] = {}
                for inner in found.inner:
                    self.put(facts, _STATE_KEYS.get(inner.key, inner.key), _state_value(inner), inner)
                self.put(states, _STATES[found.value], facts, found)
                container[key] = states
        return container


class _Object(_Shaper):
    """Any other object's description: custom resources print their whole tree in title case."""

    def document(self, kind: str) -> Document:
        """The object."""
        root = self.root
        holder = root.find("Status")
        status: dict[str, Any] = {}
        for field in holder.inner if holder else []:
            if field.value:
                self.put(
                    status, _camel(field.key), number(field.value) if field.value.isdecimal() else field.value, field
                )
        if holder is not None and holder.value:  # `argo get` has the phase on the line itself
            self.put(status, "phase", holder.value, holder)
        conditions = (holder.find("Conditions") if holder else None) or root.find("Conditions")
        table = self.table_conditions(conditions)
        status["conditions"] = table or list(self._tree_conditions(conditions))
        self._job_facts(status)
        spec: dict[str, Any] = {}
        limit = (
            root.find("Backoff Limit")
            or root.find("Spec", "Backoff Limit")
            or root.find("Spec", "Run Policy", "Backoff Limit")
        )
        self.put(spec, "backoffLimit", number(limit.value) if limit else None, limit)
        restarts = root.find("Spec", "Failure Policy", "Max Restarts")
        if restarts is not None:
            spec["failurePolicy"] = {"maxRestarts": number(restarts.value)}
        value: dict[str, Any] = {
            "kind": kind,
            "apiVersion": "",
            "metadata": self.metadata(),
            "spec": spec,
            "status": status,
        }
        for name, inner in (
            ("status", holder or root.find("Pods Statuses") or root.find("Name")),
            ("metadata", root.find("Name")),
        ):
            if inner is not None:
                self.stands(value, name, inner.first, inner.last)
        for name, title in (("capacity", "Capacity"), ("allocatable", "Allocatable")):
            found = root.find(title)
            if found is not None:
                status[name] = {one.key: one.value for one in found.inner}
        return self.finished(value)

    def _job_facts(self, status: dict[str, Any]) -> None:
        """What `kubectl describe job` prints: `Pods Statuses: 0 Active (0 Ready) / 0 Succeeded / 3 Failed`."""
        counts = self.root.find("Pods Statuses")
        for amount, name in re.findall(r"(\d{1,9}) (Active|Running|Succeeded|Failed)", counts.value if counts else ""):
            self.put(status, {"Running": "active"}.get(name, name.lower()), int(amount), counts)
        for key, title in (("startTime", "Start Time"), ("completionTime", "Completed At")):
            self.put(status, key, _time(self.root.text(title)), self.root.find(title))

    def _tree_conditions(self, holder: Field | None) -> Iterator[dict[str, Any]]:
        """Conditions of a custom resource: their fields follow one another, a repeated key begins the next one."""
        condition: dict[str, Any] = {}
        for field in holder.inner if holder else []:
            key = _camel(field.key)
            if key in condition:
                yield condition
                condition = {}
            self.put(condition, key, field.value, field)
        if condition:
            yield condition


def _state_value(field: Field) -> Any:
    if field.key in ("Exit Code", "Signal"):
        return number(field.value)
    if field.key in ("Started", "Finished"):
        return _time(field.value)
    return field.value


def _phase(text: str | None) -> str | None:
    """`Terminating (lasts 3m)` is no phase, but what it says is worth as much."""
    return text.split(" ", 1)[0] if text else None


def _time(text: str | None) -> str | None:
    found = described_time(text) if text else None
    return None if found is None else str(found)


def _camel(title: str) -> str:
    first, *rest = title.split()
    return first.lower() + "".join(rest)
