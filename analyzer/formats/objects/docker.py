"""`docker inspect`: the state of one container on one machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analyzer.formats.clock import any_instant
from analyzer.formats.located import Document
from analyzer.formats.part import Part, known
from analyzer.formats.shape import as_dict
from analyzer.model.numbers import number

_NEVER = "0001-01-01T00:00:00Z"


def is_docker(value: dict[str, Any]) -> bool:
    """Whether an object is what `docker inspect` prints for a container."""
    state = value.get("State")
    return isinstance(state, dict) and "ExitCode" in state


def docker_parts(document: Document, value: dict[str, Any]) -> Iterator[Part]:
    """The statement of one container: how it ended, or that it runs."""
    state = value["State"]
    error = state.get("Error")
    name = str(value.get("Name") or "").lstrip("/") or None
    limit = number(as_dict(value.get("HostConfig")).get("Memory"))
    ended = state.get("Status") in ("exited", "dead") or not state.get("Running")
    fields = known(
        kind="container",
        container=name,
        state="terminated" if ended else "running",
        reason="OOMKilled" if state.get("OOMKilled") else None,
        exit_code=number(state.get("ExitCode")) if ended else None,
        oom_killed=bool(state.get("OOMKilled")),
        restart_count=number(value.get("RestartCount")),
        started=_moment(state.get("StartedAt")),
        finished=_moment(state.get("FinishedAt")),
        memory_limit=f"{limit}" if limit else None,
        image=as_dict(value.get("Config")).get("Image"),
    )
    yield Part(
        text=str(error) if error else document.quote(value, "State"),
        fields=fields,
        replica=name,
        time=any_instant(_moment(state.get("FinishedAt") if ended else state.get("StartedAt"))),
        line=document.place(state, "Error") if error else document.place(value, "State"),
    )


def _moment(value: Any) -> str | None:
    return str(value) if value and value != _NEVER else None
