"""Limits of time in a job's description that the job had reached when the service ended it.

Both services end a job at its limit as if somebody had cancelled it, and no message says why; only the times tell.
Source: https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs#Scheduling and
https://cloud.google.com/vertex-ai/docs/reference/rest/v1/CustomJobSpec#Scheduling
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analyzer.formats.clock import any_instant
from analyzer.formats.located import Document
from analyzer.formats.part import Part
from analyzer.model import Instant, JobKey

_OF_RUNNING = ("timeout", "maxRunningTime")
_OF_WAITING = ("maxWaitTime", "maxWaitDuration")
_LATE = 3600.0
"""Seconds by which the service may be late to end a job that is at its limit."""


def reached_limits(document: Document, scheduling: dict[str, Any], job: dict[str, Any], key: JobKey) -> Iterator[Part]:
    """A statement for the limit that a cancelled job had reached: of running, or of waiting where it never started."""
    ended, started = any_instant(job.get("endTime")), any_instant(job.get("startTime"))
    since = started or any_instant(job.get("createTime"))
    if "CANCEL" not in str(job.get("state")) or ended is None or since is None:
        return
    for name in _OF_RUNNING if started else _OF_WAITING:
        limit = _seconds(scheduling.get(name))
        if limit and 0 <= _between(since, ended) - limit <= _LATE:
            yield Part(
                text=document.quote(scheduling, name),
                fields={"kind": "limit", "limit": name, "duration": f"{limit:g}"},
                job=key,
                time=ended,
                line=document.place(scheduling, name),
            )


def _between(one: Instant, other: Instant) -> float:
    return (int(other) - int(one)) / 1e9


def _seconds(value: Any) -> float | None:
    try:
        return float(str(value).removesuffix("s"))
    except ValueError:
        return None
