"""Puts together what belongs to one job: log lines, events, pod descriptions, node and audit entries.

An entry that names its job goes there. Names of one job that differ only in how much they say (a project's number or
its id, a pod or its controller) are joined; what names no job at all is tied to one by pod, uid or node and time, and
failing that joins the only job of the input or becomes a job of its own, named after its file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

from analyzer.entries.owners import Owners
from analyzer.entries.sift import Partial, Partials, absorb
from analyzer.entries.story import Story
from analyzer.expressions import expression
from analyzer.model import SECOND, Entry, JobKey, Note, Origin

NODE_WINDOW = 600 * SECOND
"""How far from a job's own entries a node's line may lie and still be tied to it (ns): eviction and restart delays."""

_ARRAY_TASK = expression(r"\bJobId=\d+_\d+\((?P<task>\d+)\)")
_INFRASTRUCTURE = frozenset((Origin.NODE, Origin.AUDIT, Origin.CLUSTER))


def assemble(partials: Partials) -> tuple[list[Story], list[Note]]:
    """The stories of all jobs, ordered by key, and notes on what could be tied to none."""
    named = _join_names({key: partial for key, partial in partials.items() if key is not None})
    loose = partials.get(None, Partial())
    leftover = _tie(loose, named)
    notes = _place(leftover, named)
    _add_what_stands_behind(named)
    stories = [Story(key, partial.in_order()) for key, partial in sorted(named.items())]
    doubled = sum(partial.doubled for partial in named.values())
    if doubled:
        notes.append(Note("duplicate", "entries with the same insertId and time were counted once", count=doubled))
    return stories, notes


# -- names of one job


def _join_names(named: Mapping[JobKey, Partial]) -> dict[JobKey, Partial]:
    target = {key: key for key in named}
    by_uid = _batch_jobs_by_uid(named)
    by_id: dict[tuple[str, str], list[JobKey]] = {}
    for key in sorted(named):
        by_id.setdefault((key.platform, key.id), []).append(key)
    owners, arrays = Owners(named), _arrays_of(named)
    for key in sorted(named):
        same = by_id[key.platform, key.id]
        better = _same_job(key, same) or by_uid.get((key.platform, key.id)) or arrays.get(key) or owners.of(key)
        if better is not None and better != key:
            target[key] = better
    joined: dict[JobKey, Partial] = {}
    for key in sorted(named):
        final, seen = key, {key}
        while target.get(final, final) not in seen:
            final = target[final]
            seen.add(final)
        absorb(joined, {final: named[key]})
    return joined


def _same_job(key: JobKey, same: Sequence[JobKey]) -> JobKey | None:
    """The same job under a project's id, where this key has only its number or nothing."""
    if key.project and not key.project.isdecimal():
        return None
    return min((other for other in same if other != key and _says_more(other, key)), default=None)


def _batch_jobs_by_uid(named: Mapping[JobKey, Partial]) -> dict[tuple[str, str], JobKey]:
    """Batch jobs by the uid that their descriptions state: their log lines may carry that instead of the name."""
    return {
        (key.platform, str(entry.fields["uid"])): key
        for key in sorted(named, reverse=True)
        if key.platform == "batch"
        for entry in named[key].entries.values()
        if entry.fields.get("kind") == "job" and entry.fields.get("uid")
    }


def _arrays_of(named: Mapping[JobKey, Partial]) -> dict[JobKey, JobKey]:
    """Slurm's job arrays by the keys of their tasks: slurmctld writes ARRAY_INDEX(TASK), slurmd only TASK."""
    found: dict[JobKey, JobKey] = {}
    for key in sorted(key for key in named if key.platform == "slurm"):
        for entry in named[key].entries.values():
            if entry.origin is Origin.CLUSTER:
                for task in _ARRAY_TASK.finditer(entry.text):
                    found.setdefault(JobKey("slurm", key.project, task["task"]), key)
    return {task: array for task, array in found.items() if task != array and array not in found}


def _says_more(one: JobKey, other: JobKey) -> bool:
    def rank(key: JobKey) -> int:
        return 2 if key.project and not key.project.isdecimal() else 1 if key.project else 0

    return rank(one) > rank(other)


# -- jobs of jobs


def _add_what_stands_behind(named: dict[JobKey, Partial]) -> None:
    """Gives a pipeline, trial or managed training the entries of the custom jobs behind it that failed: its cause.

    Those jobs stay jobs of their own beside it.
    """
    by_id = {key.id: key for key in sorted(named) if key.platform == "vertex"}
    behind = {key: _failed_behind(named[key]) for key in by_id.values()}
    for key, ids in behind.items():
        for other in sorted({by_id[name] for name in ids if name in by_id} - {key}):
            for entry in list(named[other].entries.values()):
                named[key].add(entry)


def _failed_behind(partial: Partial) -> set[str]:
    """The ids of the custom jobs that failed, as a job's own descriptions name them."""
    found: set[str] = set()
    for entry in partial.entries.values():
        fields = entry.fields
        if "backing_job" in fields or "failed_jobs" in fields:
            found.update(str(name) for name in fields.get("failed_jobs") or ())
            if str(fields.get("state") or "").endswith(("FAILED", "INFEASIBLE")) and fields.get("backing_job"):
                found.add(str(fields["backing_job"]))
    return found


# -- entries without a name


def _tie(loose: Partial, named: dict[JobKey, Partial]) -> list[Entry]:
    """Gives loose entries to the jobs that they can be tied to; returns the others in order."""
    by_pod: dict[str, JobKey] = {}
    by_node: dict[str, list[tuple[int, int, JobKey]]] = {}
    for key in sorted(named):
        by_pod.setdefault(key.id, key)
        spans: dict[str, tuple[int, int]] = {}
        for entry in named[key].entries.values():
            for name in (entry.replica, entry.fields.get("pod"), entry.fields.get("uid")):
                if name and name != "service":
                    by_pod.setdefault(str(name), key)
            if entry.node:
                time = int(entry.time or 0)
                low, high = spans.get(entry.node, (time, time))
                spans[entry.node] = (min(low, time), max(high, time))
        for node, (low, high) in spans.items():
            by_node.setdefault(node, []).append((low, high, key))
    leftover = []
    for entry in loose.in_order():
        keys = _owners_of(entry, by_pod, by_node) or _own_row(entry, named, by_pod)
        for key in keys:
            named[key].add(entry)
        if not keys:
            leftover.append(entry)
    return leftover


def _own_row(entry: Entry, named: dict[JobKey, Partial], by_pod: dict[str, JobKey]) -> list[JobKey]:
    """A job of its own for the row of a list of jobs that nothing else of the input is about."""
    if not entry.fields.get("listed"):
        return []
    name = str(entry.fields["involved_name"])
    key = JobKey(str(entry.fields["platform"]), "", name)
    named[key] = Partial()
    by_pod[name] = key
    return [key]


def _owners_of(
    entry: Entry, by_pod: Mapping[str, JobKey], by_node: Mapping[str, Sequence[tuple[int, int, JobKey]]]
) -> list[JobKey]:
    for name in (entry.fields.get("pod"), entry.fields.get("involved_name"), entry.fields.get("uid"), entry.replica):
        if name and str(name) in by_pod:
            return [by_pod[str(name)]]
    if entry.node is None or entry.node not in by_node:
        return []
    spans = by_node[entry.node]
    if entry.time is None:
        return [key for _, _, key in spans]
    return [key for low, high, key in spans if low - NODE_WINDOW <= entry.time <= high + NODE_WINDOW]


def _place(leftover: Sequence[Entry], named: dict[JobKey, Partial]) -> list[Note]:
    if not leftover:
        return []
    if len(named) == 1:
        only = next(iter(named.values()))
        for entry in leftover:
            only.add(entry)
        return []
    notes: list[Note] = []
    if named:
        meant = _sources_about(named)
        stray = _stray(leftover, meant, named)
        if stray:
            text = "cluster, node or audit entries belong to no job of the input and were left aside"
            notes.append(Note("unrelated", text, count=len(stray)))
        for source, entries in _by_source(entry for entry in leftover if entry.origin not in _INFRASTRUCTURE).items():
            beside = [key for key, sources in meant.items() if source in sources] or list(meant)
            if len(beside) == 1:
                for entry in entries:
                    named[beside[0]].add(entry)
            else:
                _new_job(named, entries, [source])
        return notes
    _new_job(named, leftover, sorted({entry.source for entry in leftover}))
    return notes


def _stray(leftover: Sequence[Entry], meant: Mapping[JobKey, set[str]], named: dict[JobKey, Partial]) -> list[Entry]:
    """What machines and clusters say without a job, but for the lines of a scheduler's daemon whose file is about one.

    Those join it: between the lines that name its number, the daemon works on that job.
    """
    about: dict[str, list[JobKey]] = {}
    for key, sources in meant.items():
        for source in sources:
            about.setdefault(source, []).append(key)
    stray = []
    for entry in leftover:
        keys = about.get(entry.source, []) if entry.fields.get("platform") == "slurm" else []
        if entry.origin in _INFRASTRUCTURE and len(keys) == 1:
            named[keys[0]].add(entry)
        elif entry.origin in _INFRASTRUCTURE:
            stray.append(entry)
    return stray


def _sources_about(named: Mapping[JobKey, Partial]) -> dict[JobKey, set[str]]:
    """The jobs that the input tells more of than a row of a list or an event about a pod, with where it does."""
    found: dict[JobKey, set[str]] = {}
    for key, partial in named.items():
        for entry in partial.entries.values():
            about_pod = entry.origin is Origin.CLUSTER and entry.fields.get("pod") == key.id
            if not entry.fields.get("listed") and not about_pod:
                found.setdefault(key, set()).add(entry.source)
    return found


def _by_source(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.source, []).append(entry)
    return found


def _new_job(named: dict[JobKey, Partial], entries: Sequence[Entry], sources: Sequence[str]) -> None:
    platforms = sorted({str(entry.fields["platform"]) for entry in entries if entry.fields.get("platform")})
    partial = Partial()
    for entry in entries:
        partial.add(entry)
    named[JobKey(platforms[0] if platforms else "local", "", _file_name(sources[0]))] = partial


def _file_name(source: str) -> str:
    """A job's name out of its file's: without folders and endings."""
    if source in ("", "-", "<stdin>"):
        return "stdin"
    name = PurePath(source.replace("\\", "/")).name
    return name.split(".", 1)[0] or name
