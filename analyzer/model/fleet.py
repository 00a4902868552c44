"""A fleet: one flat row a job, as a scan writes it to its tables and as the fleet report shows it."""

from __future__ import annotations

import msgspec

from analyzer.model.diagnosis import Tool
from analyzer.model.entry import Note
from analyzer.model.instant import Instant


class JobRow(msgspec.Struct, kw_only=True):
    """One job of a scan.

    `fingerprint` is the same for failures of the same kind (cause, exception, user frame), None for jobs that did not
    fail. `user_frame` is `file:function` of the deepest frame in the user's own code. `lost_seconds` is the work that
    was lost, once for the whole job; `replica_hours` and `gpu_hours` are what its replicas and their accelerators
    ran in all. `preemptions` counts runs whose machine was taken away. `report` is the address of the job's own report,
    relative to the fleet report.
    """

    id: str
    platform: str
    project: str | None = None
    region: str | None = None
    display_name: str | None = None
    machine_type: str | None = None
    accelerator: str | None = None
    image: str | None = None
    labels: dict[str, str] = {}
    outcome: str = "unknown"
    category: str = "unknown"
    cause: str = "unknown"
    rule: str | None = None
    fingerprint: str | None = None
    exception: str | None = None
    user_frame: str | None = None
    replica: str | None = None
    exit_code: int | None = None
    confidence: float | None = None
    retry: str | None = None
    created: Instant | None = None
    started: Instant | None = None
    ended: Instant | None = None
    attempts: int = 0
    restarts_total: int = 0
    preemptions: int = 0
    replicas: int = 0
    replica_hours: float | None = None
    gpu_hours: float | None = None
    lost_seconds: float | None = None
    summary: str = ""
    report: str | None = None


class Fleet(msgspec.Struct, kw_only=True):
    """All jobs of a scan.

    `known`: fingerprints that an earlier scan had seen; None where there was no earlier scan. `files`: addresses of the
    same data as files (`jobs.parquet`, `jobs.jsonl`), relative to the fleet report.
    """

    rows: list[JobRow] = []
    tool: Tool = msgspec.field(default_factory=Tool)
    notes: list[Note] = []
    known: list[str] | None = None
    files: list[str] = []
