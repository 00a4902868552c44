"""State changes of Vertex AI pipelines and their tasks, as the pipeline service logs them."""

from __future__ import annotations

from typing import Any

import msgspec

from analyzer.formats.part import Part, known


def pipeline_part(payload: msgspec.Raw, text: str | None) -> Part:
    """The part of one entry of `pipeline_job_events` or `pipeline_job_task_events`."""
    value: Any = msgspec.json.decode(payload) if payload else {}
    if not isinstance(value, dict):
        raise ValueError("a pipeline event is an object")
    error = value.get("error")
    error = error if isinstance(error, dict) else {}
    task = value.get("taskName") or value.get("task_name")
    fields = known(
        kind="task" if task else "job",
        state=value.get("state"),
        code=error.get("code"),
        display_name=task or value.get("displayName"),
    )
    words = text or error.get("message") or value.get("message") or value.get("state")
    return Part(str(words) if words else bytes(payload).decode("utf-8", "replace"), fields)
