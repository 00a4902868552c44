"""Tells jobs apart: which names are of one job, and which job each entry that names none belongs to.

An entry that names its job goes there. Names of one job that differ only in how much they say (a project's number or
its id, a pod or its controller) are joined; what names no job at all is tied to one by pod, uid or node and time, and
failing that joins the only job of the input or becomes a job of its own, named after its file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

import msgspec

from analyzer.entries.owners import Owners
from analyzer.entries.ties import Ties, joined, ties_of
from analyzer.model import SECOND, Entry, JobKey, Note, Origin

NODE_WINDOW = 600 * SECOND
"""How far from a job's own entries a node's line may lie and still be tied to it (ns): eviction and restart delays."""
CUT = 12
"""Characters that are left at least of a name which GKE cuts."""
_INFRASTRUCTURE = frozenset((Origin.NODE, Origin.AUDIT, Origin.CLUSTER))


class Place(NamedTuple):
    """A part of a cluster that is made or deleted as a whole; "" where a name does not matter."""

    namespace: str
    cluster: str
    pool: str


class Belonging(msgspec.Struct):
    """What makes up one job: the keys that its entries bear, and entries that bear none."""

    keys: list[JobKey] = []
    loose: list[Entry] = []


def tell_apart(named: Mapping[JobKey, Ties], loose: Sequence[Entry]) -> tuple[dict[JobKey, Belonging], list[Note]]:
    """What belongs to each job, by key and in the order of keys, and notes on what could be tied to none.

    `loose` are the entries that name no job, in their total order.
    """
    jobs = _Jobs(named)
    notes = _place(jobs.tied(loose), jobs) if loose else []
    jobs.add_what_stands_behind()
    return dict(sorted(jobs.found.items())), notes


class _Jobs:
    """The jobs of the input while entries without a name are given to them."""

    def __init__(self, named: Mapping[JobKey, Ties]) -> None:
        self.found: dict[JobKey, Belonging] = {}
        self.ties: dict[JobKey, Ties] = {}
        for key, keys in _join_names(named).items():
            self.found[key] = Belonging(keys)
            self.ties[key] = joined([named[one] for one in keys])
        self._by_pod: dict[str, JobKey] = {}
        self._by_node: dict[str, list[tuple[int, int, JobKey]]] = {}
        self._by_place: dict[Place | None, list[tuple[int, int, JobKey]]] = {}

    def tied(self, loose: Sequence[Entry]) -> list[Entry]:
        """Gives entries to the jobs that they can be tied to; returns the others."""
        pods = {name for entry in loose for name in _names_of(entry)}
        nodes = {entry.node for entry in loose if entry.node}
        places = sorted({place for entry in loose if (place := _place_of(entry)) is not None})
        for key in sorted(self.ties):
            ties = self.ties[key]
            for name in (key.id, *ties.speakers):
                if name in pods:
                    self._by_pod.setdefault(name, key)
            for node in nodes.intersection(ties.nodes):
                self._by_node.setdefault(node, []).append((*ties.nodes[node], key))
            for place in places:
                if spans := [span for node, span in ties.nodes.items() if _is_at(place, node, ties)]:
                    span = min(low for low, _ in spans), max(high for _, high in spans)
                    self._by_place.setdefault(place, []).append((*span, key))
        leftover = []
        for entry in loose:
            keys = self._owners_of(entry) or self._own_row(entry)
            for key in keys:
                self.give(key, [entry])
            if not keys:
                leftover.append(entry)
        for key, job in self.found.items():
            if job.loose:
                self.ties[key] = joined([self.ties.get(key, Ties()), ties_of(key, job.loose)])
        return leftover

    def give(self, key: JobKey, entries: Iterable[Entry]) -> None:
        """Gives entries to a job, a new one where there is none of that key."""
        self.found.setdefault(key, Belonging()).loose.extend(entries)

    def _own_row(self, entry: Entry) -> list[JobKey]:
        """A job of its own for the row of a list of jobs that nothing else of the input is about."""
        if not entry.fields.get("listed"):
            return []
        name = str(entry.fields["involved_name"])
        key = self._by_pod[name] = JobKey(str(entry.fields["platform"]), "", name)
        return [key]

    def _owners_of(self, entry: Entry) -> list[JobKey]:
        for name in _names_of(entry):
            if name in self._by_pod:
                return [self._by_pod[name]]
        spans = self._by_node.get(entry.node or "", []) or self._by_place.get(_place_of(entry), [])
        if entry.time is None:
            return [key for _, _, key in spans]
        return [key for low, high, key in spans if low - NODE_WINDOW <= entry.time <= high + NODE_WINDOW]

    def add_what_stands_behind(self) -> None:
        """Gives a pipeline, trial or managed training the entries of the custom jobs behind it that failed: its cause.

        Those jobs stay jobs of their own beside it.
        """
        by_id = {key.id: key for key in sorted(self.found) if key.platform == "vertex"}
        for key in by_id.values():
            for other in sorted({by_id[name] for name in self._ties_of(key).failed if name in by_id} - {key}):
                mine, more = self.found[key], self.found[other]
                known = set(map(id, mine.loose))
                mine.keys += [name for name in more.keys if name not in mine.keys]
                mine.loose += [entry for entry in more.loose if id(entry) not in known]

    def _ties_of(self, key: JobKey) -> Ties:
        return self.ties[key] if key in self.ties else ties_of(key, self.found[key].loose)


def _names_of(entry: Entry) -> list[str]:
    """The names of pods, objects and replicas that an entry speaks of."""
    fields = entry.fields
    names = (fields.get("pod"), fields.get("involved_name"), fields.get("uid"), entry.replica)
    return [str(name) for name in names if name]


def _place_of(entry: Entry) -> Place | None:
    """The namespace, node pool or cluster that the audit log says something was done to as a whole."""
    fields = entry.fields
    if fields.get("kind") != "audit" or fields.get("pod") or fields.get("involved_name") or entry.node:
        return None
    names = (str(fields.get(name) or "") for name in ("namespace", "cluster", "node_pool"))
    place = Place(*names)
    return place if place.namespace or place.cluster else None


def _is_at(place: Place, node: str, ties: Ties) -> bool:
    """Whether a job's machine is of a place, by the name that GKE gives it.

    That is gke-CLUSTER-POOL-HASH-ENDING, where long names of clusters and pools are cut.
    """
    if place.namespace:
        return place.namespace in ties.namespaces
    parts = node.split("-")
    if len(parts) < 5 or parts[0] not in ("gke", "gk3"):
        return False
    names = (("-".join(parts[1:at]), "-".join(parts[at:-2])) for at in range(2, len(parts) - 2))
    return any(_cut(cluster, place.cluster) and (not place.pool or _cut(pool, place.pool)) for cluster, pool in names)


def _cut(told: str, whole: str) -> bool:
    """Whether a name is the whole one, or as much of a long one as a machine's name has room for."""
    return told == whole or (len(told) >= CUT and whole.startswith(told))


# -- names of one job


def _join_names(named: Mapping[JobKey, Ties]) -> dict[JobKey, list[JobKey]]:
    """The keys of each job by the one that says most."""
    by_id: dict[tuple[str, str], list[JobKey]] = {}
    for key in sorted(named):
        by_id.setdefault((key.platform, key.id), []).append(key)
    by_uid = {("batch", uid): key for key in sorted(named, reverse=True) for uid in named[key].uids}
    owners, arrays = Owners(named), _arrays_of(named)
    target: dict[JobKey, JobKey] = {}
    for key in named:
        same = by_id[key.platform, key.id]
        better = _same_job(key, same) or by_uid.get((key.platform, key.id)) or arrays.get(key) or owners.of(key)
        if better is not None and better != key:
            target[key] = better
    found: dict[JobKey, list[JobKey]] = {}
    for key in sorted(named):
        final, seen = key, {key}
        while target.get(final, final) not in seen:
            final = target[final]
            seen.add(final)
        found.setdefault(final, []).append(key)
    return found


def _same_job(key: JobKey, same: Sequence[JobKey]) -> JobKey | None:
    """The same job under a project's id, where this key has only its number or nothing."""
    if key.project and not key.project.isdecimal():
        return None
    return min((other for other in same if other != key and _says_more(other, key)), default=None)


def _says_more(one: JobKey, other: JobKey) -> bool:
    def rank(key: JobKey) -> int:
        return 2 if key.project and not key.project.isdecimal() else 1 if key.project else 0

    return rank(one) > rank(other)


def _arrays_of(named: Mapping[JobKey, Ties]) -> dict[JobKey, JobKey]:
    """Slurm's job arrays by the keys of their tasks: slurmctld writes ARRAY_INDEX(TASK), slurmd only TASK."""
    found: dict[JobKey, JobKey] = {}
    for key in sorted(key for key in named if key.platform == "slurm"):
        for task in named[key].tasks:
            found.setdefault(JobKey("slurm", key.project, task), key)
    return {task: array for task, array in found.items() if task != array and array not in found}


# -- entries without a name


def _place(leftover: Sequence[Entry], jobs: _Jobs) -> list[Note]:
    """Gives what could be tied to none to the only job, to that of its file, or to a new one."""
    if not leftover:
        return []
    if len(jobs.found) == 1:
        jobs.give(next(iter(jobs.found)), leftover)
        return []
    if not jobs.found:
        _new_job(jobs, leftover, sorted({entry.source for entry in leftover}))
        return []
    notes: list[Note] = []
    meant = {key: set(ties.sources) for key, ties in jobs.ties.items() if ties.sources}
    stray = _stray(leftover, meant, jobs)
    if stray:
        text = "cluster, node or audit entries belong to no job of the input and were left aside"
        notes.append(Note("unrelated", text, count=len(stray)))
    for source, entries in _by_source(entry for entry in leftover if entry.origin not in _INFRASTRUCTURE).items():
        beside = [key for key, sources in meant.items() if source in sources] or list(meant)
        if len(beside) == 1:
            jobs.give(beside[0], entries)
        else:
            _new_job(jobs, entries, [source])
    return notes


def _stray(leftover: Sequence[Entry], meant: Mapping[JobKey, set[str]], jobs: _Jobs) -> list[Entry]:
    """What machines and clusters say without a job, but for the lines of a scheduler's daemon whose file is about one.

    Those join it: between the lines that name its number, the daemon works on that job.
    """
    about: dict[str, list[JobKey]] = {}
    for key, sources in meant.items():
        for source in sources:
            about.setdefault(source, []).append(key)
    stray = []
    for source, entries in _by_source(entry for entry in leftover if entry.origin in _INFRASTRUCTURE).items():
        keys = about.get(source, [])
        of_daemon = [entry for entry in entries if len(keys) == 1 and entry.fields.get("platform") == "slurm"]
        if of_daemon:
            jobs.give(keys[0], of_daemon)
        stray += [entry for entry in entries if len(keys) != 1 or entry.fields.get("platform") != "slurm"]
    return stray


def _by_source(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.source, []).append(entry)
    return found


def _new_job(jobs: _Jobs, entries: Sequence[Entry], sources: Sequence[str]) -> None:
    platforms = sorted({str(entry.fields["platform"]) for entry in entries if entry.fields.get("platform")})
    jobs.give(JobKey(platforms[0] if platforms else "local", "", _file_name(sources[0])), entries)


def _file_name(source: str) -> str:
    """A job's name out of its file's: without folders and endings."""
    if source in ("", "-", "<stdin>"):
        return "stdin"
    name = PurePath(source.replace("\\", "/")).name
    return name.split(".", 1)[0] or name
