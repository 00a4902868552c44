"""Objects of launchers that are not known by name, but that tell exit codes, states or errors in the usual words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analyzer.formats.clock import any_instant
from analyzer.formats.identity import number
from analyzer.formats.located import Document
from analyzer.formats.part import Part, known
from analyzer.formats.shape import as_list
from analyzer.model import JobKey

_EXIT = ("exit_code", "exitCode", "exitcode", "exit_status", "return_code", "returncode", "ExitCode")
_STATE = ("state", "status", "phase")
_WORDS = ("error", "message", "error_message", "errorMessage", "reason")
_NAMES = ("name", "task", "replica", "id", "task_id", "rank", "index")
_JOBS = ("job", "job_name", "jobName", "job_id", "jobId", "name", "id")
_PODS = ("pod", "pod_name", "podName")
_PARTS = 10_000

Place = tuple[Any, str | int] | None


def unknown_parts(document: Document, value: Any) -> list[Part]:
    """A statement for each object that tells an exit code, a state or an error; none where the document has none."""
    return [part for part, _ in zip(_walk(document, value, None, None, 0), range(_PARTS), strict=False)]


def _walk(document: Document, value: Any, place: Place, job: JobKey | None, depth: int) -> Iterator[Part]:
    if depth > 12:
        return
    if isinstance(value, dict):
        own = _job_of_pods(value)
        if own is not None:
            yield from _job_state(document, value, own)
        else:
            part = _stated(document, value, place, job)
            if part is not None:
                yield part
        for key, inner in value.items():
            if isinstance(inner, dict | list):
                yield from _walk(document, inner, (value, key), own or job, depth + 1)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, dict | list):
                yield from _walk(document, inner, (value, index), job, depth + 1)


def _job_of_pods(value: Mapping[str, Any]) -> JobKey | None:
    """The job that a launcher's status table is about: it has a name, and a list of tasks that name their pods."""
    named = any(_pod(task) for inner in value.values() for task in as_list(inner))
    name = next((str(value[key]) for key in _JOBS if isinstance(value.get(key), str) and value[key]), None)
    return JobKey("gke", "", name.rstrip("/").rpartition("/")[2]) if named and name else None


def _pod(task: Any) -> str | None:
    if not isinstance(task, dict):
        return None
    return next((task[key] for key in _PODS if isinstance(task.get(key), str) and task[key]), None)


def _job_state(document: Document, value: Mapping[str, Any], job: JobKey) -> Iterator[Part]:
    key = next((key for key in _STATE if isinstance(value.get(key), str)), None)
    if key is not None:
        text, line = document.quote(value, key), document.place(value, key)
        yield Part(text=text, fields=known(kind="job", state=value[key]), job=job, line=line)


def _stated(document: Document, value: Mapping[str, Any], place: Place, job: JobKey | None) -> Part | None:
    code = next((found for key in _EXIT if (found := number(value.get(key))) is not None), None)
    state = next((value[key] for key in _STATE if isinstance(value.get(key), str)), None)
    word = next((key for key in _WORDS if isinstance(value.get(key), str) and value[key]), None)
    if code is None and (state is None or word is None):
        return None
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str | int)), None)
    kind = "task" if place is not None else "job"
    fields = known(kind=kind, exit_code=code, state=state, display_name=None if name is None else str(name))
    if word is not None:
        text, line = str(value[word]).rstrip("\n"), document.place(value, word)
    elif place is not None:
        text, line = document.quote(*place), document.place(*place)
    else:
        key = next(key for key in (*_EXIT, *_STATE) if key in value)
        text, line = document.quote(value, key), document.place(value, key)
    time = next(
        (found for key in ("finished", "end_time", "endTime", "finished_at") if (found := any_instant(value.get(key)))),
        None,
    )
    pod = _pod(value)
    index = number(value.get("index"))
    replica = pod or (None if index is None or place is None else f"task-{index}")
    fields |= known(pod=pod)
    attempt = number(value.get("attempt"))
    return Part(text=text, fields=fields, job=job, replica=replica, attempt=attempt, time=time, line=line)
