"""What the entries that came show beside their words: where the job ran, on which machines, in which service, when."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from analyzer.live.target import Service
from analyzer.model import SECOND, Instant

_REGION = re.compile(r"([a-z]+-[a-z]+\d{1,2})(?:-[a-z])?", re.ASCII)
_ZONE = "compute.googleapis.com/zone"
_MACHINE = "compute.googleapis.com/resource_name"
_NODES = 10_000
_WORKLOAD = ("project_id", "location", "cluster_name", "namespace_name")
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.:-]{0,251}[a-z0-9])?", re.ASCII)


class Workload(msgspec.Struct, frozen=True, order=True):
    """Where a pod ran, by names that may stand in a path and in a command."""

    project: str
    location: str
    cluster: str
    namespace: str


class Observed(msgspec.Struct):
    """Counts and names out of entries. `first` and `last` are the ends of the time that they cover."""

    entries: int = 0
    regions: set[str] = msgspec.field(default_factory=set)
    nodes: set[str] = msgspec.field(default_factory=set)
    services: set[Service] = msgspec.field(default_factory=set)
    workloads: set[Workload] = msgspec.field(default_factory=set)
    first: Instant | None = None
    last: Instant | None = None

    def take(self, entries: Iterable[Any]) -> None:
        """Adds entries of the API."""
        for entry in entries:
            self.entries += 1
            time = moment(entry)
            self.first = time if self.first is None else min(self.first, time)
            self.last = time if self.last is None else max(self.last, time)
            self._place(entry.resource.type, entry.resource.labels, entry.labels)

    def _place(self, kind: str, resource: Any, labels: Any) -> None:
        service = _service(kind, resource.get("job_id", ""))
        if service is not None:
            self.services.add(service)
        found = _REGION.fullmatch(labels.get(_ZONE) or resource.get("location") or resource.get("zone") or "")
        if found is not None:
            self.regions.add(found[1])
        if kind == "k8s_container" and len(self.nodes) < _NODES and (node := labels.get(_MACHINE)):
            self.nodes.add(node)
        if kind in ("k8s_container", "k8s_pod"):
            names = [resource.get(name, "") for name in _WORKLOAD]
            if all(map(_NAME.fullmatch, names)):
                self.workloads.add(Workload(*names))


def moment(entry: Any) -> Instant:
    """When an entry of the API was made."""
    return Instant(entry.timestamp.seconds * SECOND + entry.timestamp.nanos)


def _service(kind: str, job: str) -> Service | None:
    if kind.startswith("aiplatform.") or (kind in ("ml_job", "cloudml_job") and job.isdecimal()):
        return Service.VERTEX
    if kind in ("ml_job", "cloudml_job"):
        return Service.AI_PLATFORM
    if kind.startswith("batch."):
        return Service.BATCH
    return Service.GKE if kind.startswith("k8s_") else None
