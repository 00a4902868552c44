"""Objects of launchers that are not known by name, but that tell exit codes, states, runs or errors in the usual words.

A scheduler's record of a task lists its runs, each with a number, a state and times, or counts its restarts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analyzer.formats.clock import any_instant
from analyzer.formats.located import Document
from analyzer.formats.part import Part, known
from analyzer.formats.shape import as_list
from analyzer.model import JobKey
from analyzer.model.numbers import number

_EXIT = ("exit_code", "exitCode", "exitcode", "exit_status", "return_code", "returncode", "ExitCode")
_STATE = ("state", "status", "phase", "State", "Status")
_WORDS = ("error", "message", "error_message", "errorMessage", "reason")
_ENDS = ("reasonResolved", "state_message", "termination_reason", "statusReason")
"""Keys whose value is a bare word of the scheduler, which says nothing without its key."""
_NAMES = ("name", "task", "replica", "id", "task_id", "rank", "index")
_PODS = ("pod", "pod_name", "podName")
_OWNERS = ("name", "task", "taskId", "task_id", "job_name", "jobName", "id")
_RUNS = ("runId", "attempt", "attempt_number", "attemptNumber", "try_number", "run_attempt")
_COUNTS = ("restarts", "Restarts", "restart_count", "restartCount", "RestartCount", "num_restarts", "numRestarts")
_BEGINS = ("started", "start_time", "startTime", "started_at", "startedAt", "StartedAt", "start_date")
_FINISHES = ("finished", "end_time", "endTime", "finished_at", "finishedAt", "FinishedAt", "resolved", "stoppedAt",
             "completed_at", "completedAt", "end_date")  # fmt: skip
_MOST_RUNS = 1000
"""A higher number is no count of runs but an identifier."""
_PARTS = 10_000

Place = tuple[Any, str | int] | None


def unknown_parts(document: Document, value: Any) -> list[Part]:
    """A statement for each object that tells an exit code, a state or an error; none where the document has none."""
    return [part for part, _ in zip(_walk(document, value, None, None, None, 0), range(_PARTS), strict=False)]


def _walk(
    document: Document, value: Any, place: Place, owner: str | None, job: JobKey | None, depth: int
) -> Iterator[Part]:
    if depth > 12:
        return
    if isinstance(value, dict):
        own = _job_of_pods(value)
        if own is not None:
            yield from _job_state(document, value, own)
        else:
            part = _stated(document, value, place, owner, job)
            if part is not None:
                yield part
        owner = _text(value, _OWNERS) or owner
        for key, inner in value.items():
            if isinstance(inner, dict | list):
                yield from _walk(document, inner, (value, key), owner, own or job, depth + 1)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, dict | list):
                yield from _walk(document, inner, (value, index), owner, job, depth + 1)


def _job_of_pods(value: Mapping[str, Any]) -> JobKey | None:
    """The job that a launcher's status table is about: it has a name, and a list of tasks that name their pods."""
    named = any(_pod(task) for inner in value.values() for task in as_list(inner))
    name = _text(value, ("job", *_OWNERS))
    return JobKey("gke", "", name.rstrip("/").rpartition("/")[2]) if named and name else None


def _pod(task: Any) -> str | None:
    return _text(task, _PODS) if isinstance(task, dict) else None


def _job_state(document: Document, value: Mapping[str, Any], job: JobKey) -> Iterator[Part]:
    key = next((key for key in _STATE if isinstance(value.get(key), str)), None)
    if key is not None:
        text, line = document.quote(value, key), document.place(value, key)
        yield Part(text=text, fields=known(kind="job", state=value[key]), job=job, line=line)


def _stated(
    document: Document, value: Mapping[str, Any], place: Place, owner: str | None, job: JobKey | None
) -> Part | None:
    code, state = _number(value, _EXIT), _text(value, _STATE)
    word = next((key for key in _WORDS if isinstance(value.get(key), str) and value[key]), None)
    run, restarts = _run(value), _number(value, _COUNTS)
    if code is None and (state is None or (word is None and run is None and restarts is None)):
        return None
    fields = known(
        kind="task" if place is not None else "job",
        exit_code=code,
        state=state,
        display_name=_name(value, place, owner, counted=run is not None or restarts is not None),
        restart_count=restarts,
        started=None if restarts or run is None else _text(value, _BEGINS),
        finished=_text(value, _FINISHES),
        reason=_text(value, _ENDS),
    )
    text, line = _words(document, value, place, word)
    time = next((found for key in _FINISHES if (found := any_instant(value.get(key)))), None)
    pod, index = _pod(value), number(value.get("index"))
    fields |= known(pod=pod)
    replica = pod or (None if index is None or place is None else f"task-{index}")
    return Part(text=text, fields=fields, job=job, replica=replica, time=time, line=line, attempt=run)


def _name(
    value: Mapping[str, Any], place: Place, owner: str | None, *, counted: bool
) -> str | None:
    """Its own name; of a run, whose run it is; of an object in a table of names, the name it stands under."""
    own = next((value[key] for key in _NAMES if isinstance(value.get(key), str | int)), None)
    if own is not None or not counted:
        return None if own is None else str(own)
    return place[1] if place is not None and isinstance(place[1], str) else owner


def _words(
    document: Document, value: Mapping[str, Any], place: Place, word: str | None
) -> tuple[str, int]:
    """What to quote of an object, and its line: its error, its reason, else the whole object or its state."""
    if word is not None:
        return str(value[word]).rstrip("\n"), document.place(value, word)
    reason = next((key for key in _ENDS if value.get(key)), None)
    if reason is None and place is not None:
        return document.quote(*place), document.place(*place)
    key = reason or next(key for key in (*_EXIT, *_STATE) if key in value)
    return document.quote(value, key), document.place(value, key)


def _run(value: Mapping[str, Any]) -> int | None:
    found = _number(value, _RUNS)
    return found if found is not None and 0 <= found < _MOST_RUNS else None


def _number(value: Mapping[str, Any], keys: tuple[str, ...]) -> int | None:
    return next((found for key in keys if (found := number(value.get(key))) is not None), None)


def _text(value: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((value[key] for key in keys if isinstance(value.get(key), str) and value[key]), None)
