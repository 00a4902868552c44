"""Objects of launchers that are not known by name, but that tell exit codes, states or errors in the usual words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analyzer.formats.clock import any_instant
from analyzer.formats.identity import number
from analyzer.formats.located import Document
from analyzer.formats.part import Part, known

_EXIT = ("exit_code", "exitCode", "exitcode", "exit_status", "return_code", "returncode", "ExitCode")
_STATE = ("state", "status", "phase")
_WORDS = ("error", "message", "error_message", "errorMessage", "reason")
_NAMES = ("name", "task", "replica", "id", "task_id", "rank", "index")
_PARTS = 10_000


def unknown_parts(document: Document, value: Any) -> list[Part]:
    """A statement for each object that tells an exit code or an error; none where the document has no such object."""
    return [part for part, _ in zip(_walk(document, value, None, 0), range(_PARTS), strict=False)]


def _walk(document: Document, value: Any, place: tuple[Any, str | int] | None, depth: int) -> Iterator[Part]:
    if depth > 12:
        return
    if isinstance(value, dict):
        part = _stated(document, value, place)
        if part is not None:
            yield part
        for key, inner in value.items():
            if isinstance(inner, dict | list):
                yield from _walk(document, inner, (value, key), depth + 1)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, dict | list):
                yield from _walk(document, inner, (value, index), depth + 1)


def _stated(document: Document, value: Mapping[str, Any], place: tuple[Any, str | int] | None) -> Part | None:
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
    return Part(text=text, fields=fields, time=time, line=line)
