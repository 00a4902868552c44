"""A log line or an event, with who said it, when, and where it stands in the input."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from analyzer.model.instant import Instant


class Origin(StrEnum):
    """Who says a line. It counts as much as what the line says: a container may print anything."""

    REPLICA = "replica"  # the output of a training container or process
    SERVICE = "service"  # the managed training service's own words (task_name `service`, Batch's agent and events)
    CLUSTER = "cluster"  # orchestrators: Kubernetes events, controllers, autoscaler, Kueue, slurmctld, sacct
    NODE = "node"  # a machine's kernel, kubelet, container runtime, serial console
    AUDIT = "audit"  # Cloud Audit Logs: who did what to which resource
    STATUS = "status"  # a description of a job, pod or node as its API gives it
    TEXT = "text"  # text whose speaker is not known: plain output, a pasted console, a mixed file


class JobKey(msgspec.Struct, frozen=True, order=True, gc=False):
    """What names a job: platform (`vertex`, `ai_platform`, `gke`, …), project (or namespace-less ""), id."""

    platform: str
    project: str
    id: str


class Entry(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One log line or event.

    `text` is the message exactly as the input has it, prefixes and colours included. `time` is what the entry states;
    where a text line states none it inherits that of the line before it in its source, and `time_stated` is False.
    `sequence` keeps lines of one text source in order (0 for entries that have an `insert_id`, which orders them).
    `skipped` counts, by severity, lines of the same stream between the one before and this that were left out as they
    tell nothing. `fields` holds the structured facts of events and descriptions (reason, exit_code, pod, uid, …; see
    `analyzer.formats`); it is empty for log lines.
    """

    text: str
    time: Instant | None = None
    time_stated: bool = True
    severity: str = "DEFAULT"
    origin: Origin = Origin.TEXT
    job: JobKey | None = None
    replica: str | None = None
    rank: int | None = None
    attempt: int | None = None
    node: str | None = None
    insert_id: str = ""
    sequence: int = 0
    source: str = ""
    line: int = 0
    fields: dict[str, Any] = {}
    skipped: tuple[tuple[str, int], ...] = ()

    @property
    def order(self) -> tuple[int, str, int, str, int, str, str]:
        """The total order of entries: time, then insertId, then the place in the source, then what they say of whom."""
        time = -1 if self.time is None else int(self.time)
        return (time, self.insert_id, self.sequence, self.source, self.line, self.text, self.replica or "")


class Note(msgspec.Struct, frozen=True, order=True):
    """Something about the input that a person should know: what was skipped, repaired, bounded or doubted.

    `kind` is a short stable word (`unreadable`, `bad_line`, `truncated`, `duplicate`, …) for scripts.
    """

    kind: str
    text: str
    source: str | None = None
    line: int | None = None
    count: int = 1
