"""Who ran, died and came back: runs in attempts, with events between. Field by field as the JSON contract has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.model.instant import Instant

if TYPE_CHECKING:
    import pandas

RUN_REASONS = (
    "completed", "error", "oom", "crash", "retryable", "cascade", "maintenance", "preempted", "stopped", "running",
    "unknown",
)  # fmt: skip
END_REASONS_BESIDE_CATEGORIES = ("crash", "restarts_exhausted")


def label_of(replica: str, trial: int | None) -> str:
    """How a replica is told from those of other trials: `master-replica-0 #2`."""
    return replica if trial is None else f"{replica} #{trial}"


class Run(msgspec.Struct, kw_only=True):
    """One life of a replica's container, from its start to its exit.

    `deduced` names the fields that no line states and that were worked out from others. `doomed` marks a container
    started after the failure that ended its attempt: the service shuts it down soon, so its fate says nothing.
    """

    start: Instant | None = None
    end: Instant | None = None
    exit_code: int | None = None
    signal: str | None = None
    reason: str = "unknown"
    node: str | None = None
    doomed: bool = False
    deduced: list[str] = []
    last_entry: Instant | None = None
    why: str | None = None  # how the end is known, in a short plain sentence


class ReplicaRuns(msgspec.Struct, kw_only=True):
    """The runs of one replica in one attempt, in order.

    Trials of a hyperparameter tuning job run side by side, each with replicas of the same names: `trial` is its number.
    """

    name: str
    trial: int | None = None
    runs: list[Run] = []

    @property
    def label(self) -> str:
        """The name, with the number of the trial where it is of one."""
        return label_of(self.name, self.trial)


class Attempt(msgspec.Struct, kw_only=True):
    """One try of the whole job. `end_reason`: `success`, a category, `crash`, `restarts_exhausted`; null: it runs."""

    number: int
    start: Instant | None = None
    end: Instant | None = None
    end_reason: str | None = None
    running_since: Instant | None = None
    replicas: list[ReplicaRuns] = []


class Restarts(msgspec.Struct, kw_only=True):
    """Restarts by kind; `restarts_total` of the timeline is their sum."""

    in_place: int = 0
    moved: int = 0
    doomed: int = 0
    job_retries: int = 0

    @property
    def total(self) -> int:
        """All restarts together."""
        return self.in_place + self.moved + self.doomed + self.job_retries


class Budgets(msgspec.Struct, kw_only=True):
    """How much of the platform's limits was used, as `used/limit` ("3/5"); the limit is "?" where it is not known."""

    worker_restarts: dict[str, str] = {}
    job_retries: str | None = None


class Checkpoint(msgspec.Struct, kw_only=True):
    """A line that says a checkpoint was written; `step` as that line gives it."""

    replica: str | None
    time: Instant | None
    step: int | None


class TimelineEvent(msgspec.Struct, kw_only=True):
    """Something that happened to the job or a replica: state changes, failures, restores, service messages."""

    time: Instant | None
    kind: str
    replica: str | None
    text: str


class Progress(msgspec.Struct, kw_only=True):
    """The furthest sign of life: the last step or epoch that was logged, and where the job resumed from."""

    last_step: int | None = None
    last_step_time: Instant | None = None
    resumed_from_step: int | None = None


class Timeline(msgspec.Struct, kw_only=True):
    """The whole story of a job's runs. Times in UTC, durations in seconds."""

    attempts: list[Attempt] = []
    restarts_total: int = 0
    restarts: Restarts = msgspec.field(default_factory=Restarts)
    restarts_by_replica: dict[str, int] = {}
    budgets: Budgets = msgspec.field(default_factory=Budgets)
    checkpoints: list[Checkpoint] = []
    progress: Progress = msgspec.field(default_factory=Progress)
    lost_seconds: float | None = None
    events: list[TimelineEvent] = []
    remarks: list[str] = []  # what the timeline tells in plain sentences: repeats, limits used, resumed or not

    def to_frame(self) -> pandas.DataFrame:
        """A row a run.

        Columns: attempt, replica, trial, run (number), start, end, seconds, exit_code, signal, reason, node, doomed.
        """
        from analyzer.frames import timeline_frame

        return timeline_frame(self)
