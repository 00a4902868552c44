"""Which controller's job a name of Kubernetes belongs to that is only a pod's, a child job's or a queue object's."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping

from analyzer.entries.ties import Ties
from analyzer.expressions import expression
from analyzer.model import JobKey

_INDEXED_POD = expression(r"(?P<job>.+)-\d+-[a-z0-9]{5}")
"""A pod of an Indexed Job: JOB-INDEX-RANDOM."""
_TASK_POD = expression(r"(?P<job>.+)-(?:master|chief|worker|ps|evaluator|launcher)-\d+")
"""A pod of a Kubeflow training job: JOB-ROLE-INDEX."""
_CHILD = expression(r".+-(?:\d+|master|chief|worker|ps|evaluator|launcher)")
"""A child of a JobSet or training job, or a pod without its random ending: JOB-INDEX, JOB-NAME-INDEX, JOB-ROLE."""
_RAY_HEAD = expression(r"(?P<job>.+)-head(?:-[a-z0-9]{5})?")
"""The head pod of a Ray cluster: CLUSTER-head, with or without a random ending; workers are CLUSTER-GROUP-worker-…"""
_HASH = expression(r"-[0-9a-f]{5}$")
_KUEUE_KINDS = ("job-", "jobset-", "pytorchjob-", "tfjob-", "mpijob-", "rayjob-", "raycluster-", "pod-", "trainjob-")


class Owners:
    """Answers whose job a key is part of. The ties of all keys are gone through once."""

    def __init__(self, named: Mapping[JobKey, Ties]) -> None:
        self._named = named
        self._keys = sorted((key for key in named if key.platform == "gke"), key=lambda key: (key.id, key))
        self._ids = [key.id for key in self._keys]
        self._naming: dict[str, list[JobKey]] = {}  # by a weak key's name: the keys whose entries name it
        self._holding: dict[str, list[JobKey]] = {}  # by a pod that a controller made: the keys that its output carries
        self._families: dict[JobKey, set[str]] = {}  # by the job that pods' names suggest: those pods
        self._clusters: set[str] = set()  # Ray clusters whose head pod is there
        self._weak = {key for key in self._keys if _is_weak(named[key])}
        asked = {key.id for key in self._weak}
        made = {pod for key in self._keys for pod in named[key].made}
        for key in sorted(self._keys):
            ties = named[key]
            for index, pods, wanted in ((self._naming, ties.objects, asked), (self._holding, ties.holding, made)):
                for pod in wanted.intersection(pods):
                    index.setdefault(pod, []).append(key)
        for key in self._weak:
            if (family := _family(key)) is not None:
                self._families.setdefault(family, set()).add(key.id)
            if (head := _RAY_HEAD.fullmatch(key.id)) is not None:
                self._clusters.add(head["job"])

    def of(self, key: JobKey) -> JobKey | None:
        """The job that owns this one: stated, told by the pods it made, or (for a pod's name) by its name."""
        if key.platform != "gke":
            return None
        stated = self._others(key, self._named[key].owners) or self._above(key)
        if stated:
            return min(stated)
        if key not in self._weak:
            return self._child_of(key)
        known = [other for other in self._naming.get(key.id, ()) if _may_own(other, key)]
        if known:
            return min(known)
        parts = _bare_name(key.id).split("-")
        prefixes = ("-".join(parts[:count]) for count in range(len(parts), 0, -1))
        queued = self._queued(key)
        above = queued or next((max(found) for name in prefixes if (found := self._prefixed(key, name))), None)
        return above or self._suggested(key)

    def _child_of(self, key: JobKey) -> JobKey | None:
        """The object that a name is below which labels give and no event or object is about."""
        if _CHILD.fullmatch(key.id) is None:
            return None
        parts = key.id.split("-")
        above = ("-".join(parts[:count]) for count in range(len(parts) - 1, 0, -1))
        found = (other for name in above for other in self._others(key, [name]))
        return next((other for other in found if self._named[other].is_pod), None)

    def _queued(self, key: JobKey) -> JobKey | None:
        """The only job that a Kueue workload's name (kind-NAME-hash) can be of: NAME, or one below it."""
        bare = _bare_name(key.id)
        name = _HASH.sub("", bare)
        if bare == key.id or name == bare:
            return None
        at_or_below = (*self._called(name), *self._between(f"{name}-", f"{name}."))  # a full stop comes after a dash
        found = {self._suggested(other) or other for other in at_or_below if _may_own(other, key)}
        return found.pop() if len(found) == 1 else None

    def _suggested(self, key: JobKey) -> JobKey | None:
        """The job that several pods are named after, as those of Indexed Jobs, Kubeflow's jobs and Ray clusters are."""
        family = _family(key)
        if family is not None and len(self._families.get(family, ())) > 1:
            return family
        parts = key.id.split("-")
        if "worker" not in parts and _RAY_HEAD.fullmatch(key.id) is None:
            return None
        names = ("-".join(parts[:count]) for count in range(len(parts) - 1, 0, -1))
        cluster = next((name for name in names if name in self._clusters), None)
        return JobKey(key.platform, key.project, cluster) if cluster is not None else None

    def _others(self, key: JobKey, names: Iterable[str]) -> list[JobKey]:
        return [other for name in names for other in self._called(name) if _may_own(other, key)]

    def _called(self, name: str) -> list[JobKey]:
        return self._between(name, f"{name}\0")

    def _between(self, first: str, end: str) -> list[JobKey]:
        """The keys whose ids stand from `first` up to and without `end`."""
        return self._keys[bisect_left(self._ids, first) : bisect_left(self._ids, end)]

    def _prefixed(self, key: JobKey, name: str) -> list[JobKey]:
        return self._others(key, [name]) if len(name) < len(key.id) else []

    def _above(self, key: JobKey) -> list[JobKey]:
        """The jobs whose pods a controller made that is not the one which the pods name: it stands below them."""
        made = self._named[key].made
        return [
            other
            for pod in made
            for other in self._holding.get(pod, ())
            if _may_own(other, key) and other.id not in made and not other.id.startswith(f"{key.id}-")
        ]


def _family(key: JobKey) -> JobKey | None:
    found = _INDEXED_POD.fullmatch(key.id) or _TASK_POD.fullmatch(key.id)
    return JobKey(key.platform, key.project, found["job"]) if found else None


def _may_own(other: JobKey, key: JobKey) -> bool:
    return other.id != key.id and (not key.project or not other.project or key.project == other.project)


def _is_weak(ties: Ties) -> bool:
    """Whether a key is only the name of a pod or a queue object, so that another may own it."""
    return ties.is_queued or ties.is_pod or not ties.has_others


def _bare_name(name: str) -> str:
    """A Kueue workload's name without the kind that Kueue puts before it (job-NAME-hash, jobset-NAME-hash, …)."""
    return next((name[len(kind) :] for kind in _KUEUE_KINDS if name.startswith(kind)), name)
