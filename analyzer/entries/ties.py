"""What ties a job to other names of it and to entries that name none: names, machines and times, but no lines.

It is small and can be joined, so that the jobs of any number of objects can be told apart without their entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from analyzer.expressions import expression
from analyzer.model import Entry, JobKey, Origin

_QUEUE_OBJECTS = frozenset(("workload", "provisioning_request"))
_ARRAY_TASK = expression(r"\bJobId=\d+_\d+\((?P<task>\d+)\)")
_FACTS = frozenset(
    ("kind", "pod", "uid", "involved_name", "created_pod", "owner_name", "backing_job", "failed_jobs", "listed")
)
"""The structured facts that are asked for."""

Names = tuple[str, ...]
"""In the order of the alphabet, each once."""


class Ties(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the entries of one job key name.

    `speakers` are replicas, pods and uids; `objects` replicas, pods and objects that they speak of; `holding` the
    replicas whose output is there; `owners` the owners that are stated; `made` the pods that a controller says it made;
    `uids` those of the job's own descriptions; `tasks` the numbers of a Slurm array's tasks; `failed` the ids of failed
    jobs behind this one; `sources` where more is told than a row of a list or an event about the pod itself; `nodes`
    the first and the last time (ns) on each machine. `is_queued`: of an object of a queue; `is_pod`: the key is an
    object's name that entries speak of; `has_others`: another replica than the key's name has a word; `namespaces`
    those of its events and objects.
    """

    speakers: Names = ()
    objects: Names = ()
    holding: Names = ()
    owners: Names = ()
    made: Names = ()
    uids: Names = ()
    tasks: Names = ()
    failed: Names = ()
    sources: Names = ()
    nodes: dict[str, tuple[int, int]] = {}
    is_queued: bool = False
    is_pod: bool = False
    has_others: bool = False
    namespaces: Names = ()


def ties_of(key: JobKey, entries: Iterable[Entry]) -> Ties:
    """The ties of entries of one job."""
    found = _Found(key)
    spans: dict[tuple[str | None, str | None, Origin, str, bool], list[int]] = {}
    for entry in entries:
        told = not _FACTS.isdisjoint(entry.fields) if entry.fields else False
        if told:
            found.facts(entry)
        if key.platform == "slurm" and entry.origin is Origin.CLUSTER:
            found.tasks.update(task["task"] for task in _ARRAY_TASK.finditer(entry.text))
        time = int(entry.time or 0)
        span = spans.setdefault((entry.replica, entry.node, entry.origin, entry.source, told), [time, time])
        if time < span[0]:
            span[0] = time
        elif time > span[1]:
            span[1] = time
    for (replica, node, origin, source, told), (low, high) in spans.items():
        found.speaker(replica, origin)
        if not told:
            found.sources.add(source)
        if node:
            found.on(node, low, high)
    return found.ties()


def joined(parts: Sequence[Ties]) -> Ties:
    """The ties of all entries of some parts of one job, in whatever order they come."""
    if len(parts) == 1:
        return parts[0]
    values: dict[str, Any] = {}
    for name, default in msgspec.structs.asdict(Ties()).items():
        told = [getattr(part, name) for part in parts]
        if isinstance(default, tuple):
            values[name] = tuple(sorted(set().union(*told)))
        elif isinstance(default, dict):
            nodes: dict[str, tuple[int, int]] = {}
            values[name] = nodes
            for node, span in (item for spans in told for item in spans.items()):
                nodes[node] = _wider(nodes.get(node, span), span)
        else:
            values[name] = any(told)
    return Ties(**values)


def _wider(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return min(one[0], other[0]), max(one[1], other[1])


class _Found:
    """Ties while they are gathered."""

    def __init__(self, key: JobKey) -> None:
        self._key = key
        self.speakers: set[str] = set()
        self.objects: set[str] = set()
        self.holding: set[str] = set()
        self.owners: set[str] = set()
        self.made: set[str] = set()
        self.uids: set[str] = set()
        self.tasks: set[str] = set()
        self.failed: set[str] = set()
        self.sources: set[str] = set()
        self.namespaces: set[str] = set()
        self.nodes: dict[str, tuple[int, int]] = {}
        self.is_queued = self.is_pod = self.has_others = False

    def facts(self, entry: Entry) -> None:
        """Takes the structured facts of an entry that has some."""
        fields = entry.fields
        kind, pod, uid, involved = (fields.get(name) for name in ("kind", "pod", "uid", "involved_name"))
        created, owner = fields.get("created_pod"), fields.get("owner_name")
        self.speakers.update(str(name) for name in (pod, uid) if name and name != "service")
        self.objects.update(str(name) for name in (pod, involved, created) if name)
        self.is_queued |= kind in _QUEUE_OBJECTS
        self.is_pod |= (pod or involved) == self._key.id
        if fields.get("namespace"):
            self.namespaces.add(str(fields["namespace"]))
        if owner:
            self.owners.add(str(owner))
        if created:
            self.made.add(str(created))
        if self._key.platform == "batch" and kind == "job" and uid:
            self.uids.add(str(uid))
        if "backing_job" in fields or "failed_jobs" in fields:
            self._behind(fields)
        if not fields.get("listed") and not (entry.origin is Origin.CLUSTER and pod == self._key.id):
            self.sources.add(entry.source)

    def _behind(self, fields: dict[str, Any]) -> None:
        self.failed.update(str(name) for name in fields.get("failed_jobs") or ())
        if str(fields.get("state") or "").endswith(("FAILED", "INFEASIBLE")) and fields.get("backing_job"):
            self.failed.add(str(fields["backing_job"]))

    def speaker(self, replica: str | None, origin: Origin) -> None:
        """Takes who speaks."""
        self.has_others |= replica != self._key.id
        if replica:
            self.objects.add(replica)
            if replica != "service":
                self.speakers.add(replica)
            if origin is Origin.REPLICA:
                self.holding.add(replica)

    def on(self, node: str, low: int, high: int) -> None:
        """Takes a time on a machine."""
        self.nodes[node] = _wider(self.nodes.get(node, (low, high)), (low, high))

    def ties(self) -> Ties:
        """What was gathered."""
        values = {name: getattr(self, name) for name in Ties.__struct_fields__}
        shared: dict[Names, Names] = {}  # mostly they are the same names
        for name, value in values.items():
            if isinstance(value, set):
                names = tuple(sorted(value))
                values[name] = shared.setdefault(names, names)
        return Ties(**values)
