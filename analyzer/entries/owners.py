"""Which controller's job a name of Kubernetes belongs to that is only a pod's, a child job's or a queue object's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from analyzer.entries.sift import Partial
from analyzer.model import Entry, JobKey, Origin

_QUEUE_OBJECTS = frozenset(("workload", "provisioning_request"))
_INDEXED_POD = re.compile(r"(?P<job>.+)-\d+-[a-z0-9]{5}")
"""A pod of an Indexed Job: JOB-INDEX-RANDOM."""
_TASK_POD = re.compile(r"(?P<job>.+)-(?:master|chief|worker|ps|evaluator|launcher)-\d+")
"""A pod of a Kubeflow training job: JOB-ROLE-INDEX."""
_RAY_HEAD = re.compile(r"(?P<job>.+)-head(?:-[a-z0-9]{5})?")
"""The head pod of a Ray cluster: CLUSTER-head, with or without a random ending; workers are CLUSTER-GROUP-worker-…"""
_HASH = re.compile(r"-[0-9a-f]{5}$")
_KUEUE_KINDS = ("job-", "jobset-", "pytorchjob-", "tfjob-", "mpijob-", "rayjob-", "raycluster-", "pod-", "trainjob-")


class Owners:
    """Answers whose job a key is part of. The entries of all keys are gone through once."""

    def __init__(self, named: Mapping[JobKey, Partial]) -> None:
        self._by_id: dict[str, list[JobKey]] = {}
        self._below: dict[str, list[JobKey]] = {}  # by a name, or the first words of one: the keys that begin so
        self._naming: dict[str, list[JobKey]] = {}  # by pod: the keys whose entries name it
        self._holding: dict[str, list[JobKey]] = {}  # by pod: the keys that its output carries
        self._stated: dict[JobKey, set[str]] = {}  # the owners that a key's own entries name
        self._made: dict[JobKey, set[str]] = {}  # the pods that a controller says it made
        self._weak: set[JobKey] = set()
        self._families: dict[JobKey, set[str]] = {}  # by the job that pods' names suggest: those pods
        self._clusters: set[str] = set()  # Ray clusters whose head pod is there
        for key in sorted(key for key in named if key.platform == "gke"):
            self._by_id.setdefault(key.id, []).append(key)
            parts = key.id.split("-")
            for count in range(1, len(parts) + 1):
                self._below.setdefault("-".join(parts[:count]), []).append(key)
            self._read(key, list(named[key].entries.values()))

    def _read(self, key: JobKey, entries: list[Entry]) -> None:
        naming: set[str] = set()
        holding: set[str] = set()
        for entry in entries:
            fields = entry.fields
            names = (entry.replica, fields.get("pod"), fields.get("involved_name"), fields.get("created_pod"))
            naming.update(str(name) for name in names if name)
            if entry.origin is Origin.REPLICA and entry.replica:
                holding.add(entry.replica)
        for index, pods in ((self._naming, naming), (self._holding, holding)):
            for pod in pods:
                index.setdefault(pod, []).append(key)
        self._stated[key] = {str(entry.fields["owner_name"]) for entry in entries if entry.fields.get("owner_name")}
        self._made[key] = {str(entry.fields["created_pod"]) for entry in entries if entry.fields.get("created_pod")}
        if _is_weak(key, entries):
            self._weak.add(key)
            if (family := _family(key)) is not None:
                self._families.setdefault(family, set()).add(key.id)
            if (head := _RAY_HEAD.fullmatch(key.id)) is not None:
                self._clusters.add(head["job"])

    def of(self, key: JobKey) -> JobKey | None:
        """The job that owns this one: stated, told by the pods it made, or (for a pod's name) by its name."""
        if key not in self._stated:
            return None
        stated = self._others(key, self._stated[key]) or self._above(key)
        if stated:
            return min(stated)
        if key not in self._weak:
            return None
        known = [other for other in self._naming.get(key.id, ()) if _may_own(other, key)]
        if known:
            return min(known)
        parts = _bare_name(key.id).split("-")
        prefixes = ("-".join(parts[:count]) for count in range(len(parts), 0, -1))
        queued = self._queued(key)
        above = queued or next((max(found) for name in prefixes if (found := self._prefixed(key, name))), None)
        return above or self._suggested(key)

    def _queued(self, key: JobKey) -> JobKey | None:
        """The only job that a Kueue workload's name (kind-NAME-hash) can be of: NAME, or one below it."""
        bare = _bare_name(key.id)
        name = _HASH.sub("", bare)
        if bare == key.id or name == bare:
            return None
        found = {self._suggested(other) or other for other in self._below.get(name, ()) if _may_own(other, key)}
        return found.pop() if len(found) == 1 else None

    def _suggested(self, key: JobKey) -> JobKey | None:
        """The job that several pods are named after, as those of Indexed Jobs, Kubeflow's jobs and Ray clusters are."""
        family = _family(key)
        if family is not None and len(self._families[family]) > 1:
            return family
        parts = key.id.split("-")
        if "worker" not in parts and _RAY_HEAD.fullmatch(key.id) is None:
            return None
        names = ("-".join(parts[:count]) for count in range(len(parts) - 1, 0, -1))
        cluster = next((name for name in names if name in self._clusters), None)
        return JobKey(key.platform, key.project, cluster) if cluster is not None else None

    def _others(self, key: JobKey, names: Iterable[str]) -> list[JobKey]:
        return [other for name in names for other in self._by_id.get(name, ()) if _may_own(other, key)]

    def _prefixed(self, key: JobKey, name: str) -> list[JobKey]:
        return self._others(key, [name]) if len(name) < len(key.id) else []

    def _above(self, key: JobKey) -> list[JobKey]:
        """The jobs whose pods a controller made that is not the one which the pods name: it stands below them."""
        made = self._made[key]
        return [
            other
            for pod in made
            for other in self._holding.get(pod, ())
            if _may_own(other, key) and other.id not in made
        ]


def _family(key: JobKey) -> JobKey | None:
    found = _INDEXED_POD.fullmatch(key.id) or _TASK_POD.fullmatch(key.id)
    return JobKey(key.platform, key.project, found["job"]) if found else None


def _may_own(other: JobKey, key: JobKey) -> bool:
    return other.id != key.id and (not key.project or not other.project or key.project == other.project)


def _is_weak(key: JobKey, entries: list[Entry]) -> bool:
    """Whether a key is only the name of a pod or a queue object, so that another may own it."""
    kinds = {entry.fields.get("kind") for entry in entries}
    pods = {entry.fields.get("pod") or entry.fields.get("involved_name") for entry in entries}
    return bool(kinds & _QUEUE_OBJECTS) or key.id in pods or all(entry.replica == key.id for entry in entries)


def _bare_name(name: str) -> str:
    """A Kueue workload's name without the kind that Kueue puts before it (job-NAME-hash, jobset-NAME-hash, …)."""
    return next((name[len(kind) :] for kind in _KUEUE_KINDS if name.startswith(kind)), name)
