"""The answer, field by field as the JSON contract has it. An unknown value is null, never a guess."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from analyzer.model.entry import Note
from analyzer.model.instant import Instant
from analyzer.model.timeline import Timeline

if TYPE_CHECKING:
    import pandas

SCHEMA_VERSION = 1

CATEGORIES = (
    "success", "user_exception", "out_of_memory", "stockout", "internal", "quota", "permission", "image",
    "configuration", "preemption", "hardware", "network", "storage", "timeout", "cancelled", "unknown",
)  # fmt: skip
OUTCOMES = ("failed", "succeeded", "cancelled", "running", "unknown")
RETRY_ADVICE = ("as_is", "elsewhere", "after_fix", "after_quota", "never")


class Job(msgspec.Struct, kw_only=True):
    """What is known of the job itself."""

    id: str
    platform: str
    project: str | None = None
    region: str | None = None
    display_name: str | None = None
    state: str | None = None
    machine_type: str | None = None
    accelerator: str | None = None
    replicas: list[str] = []
    created: Instant | None = None
    started: Instant | None = None
    ended: Instant | None = None


class Evidence(msgspec.Struct, kw_only=True):
    """A message of the input, verbatim but for masked secrets; `link` opens it in Logs Explorer."""

    text: str
    source: str | None = None
    line: int | None = None
    insert_id: str | None = None
    replica: str | None = None
    time: Instant | None = None
    severity: str | None = None
    link: str | None = None


class RootCause(msgspec.Struct, kw_only=True):
    """The cause that was chosen. The first evidence is the one line or message that best proves it."""

    rule: str | None
    replica: str | None = None
    rank: int | None = None
    attempt: int | None = None
    trial: int | None = None  # of a hyperparameter tuning job
    time: Instant | None = None
    exit_code: int | None = None
    signal: str | None = None
    evidence: list[Evidence] = []
    values: dict[str, str] = {}


class Symptom(msgspec.Struct, kw_only=True):
    """A finding that the root cause explains; `explained_by` is the rule that does."""

    rule: str
    replica: str | None
    time: Instant | None
    evidence: Evidence
    explained_by: str | None


class Point(msgspec.Struct, kw_only=True):
    """A reason for or against a candidate, with its weight (positive: for)."""

    points: float
    reason: str


class Alternative(msgspec.Struct, kw_only=True):
    """Another candidate that was considered, with its points."""

    rule: str | None
    category: str
    cause: str
    replica: str | None
    time: Instant | None
    score: float
    points: list[Point] = []
    evidence: Evidence | None = None


class RuledOut(msgspec.Struct, kw_only=True):
    """A category that was considered and why it is not this."""

    category: str
    why: str


class Retry(msgspec.Struct, kw_only=True):
    """Whether trying again helps."""

    advice: str | None = None
    why: str = ""


class Memory(msgspec.Struct, kw_only=True):
    """Memory figures of an out-of-memory failure, in GiB."""

    machine_type: str | None = None
    capacity_gib: float | None = None
    allocatable_gib: float | None = None
    usable_low_gib: float | None = None
    limit_gib: float | None = None
    observed_peak_gib: float | None = None
    accelerator_memory_gib: float | None = None
    suggestions: list[str] = []
    basis: str | None = None


class Remedy(msgspec.Struct, kw_only=True):
    """Something to do; the first of the list is the one thing to do now. `again`: what to do if it comes back."""

    title: str
    steps: list[str] = []
    commands: list[str] = []
    sources: list[str] = []
    applies_if: str | None = None
    again: str | None = None


class Gap(msgspec.Struct, kw_only=True):
    """Something the input lacks, and the command that would fetch it."""

    kind: str
    text: str
    command: str | None = None


class Stats(msgspec.Struct, kw_only=True):
    """What was read for this job."""

    entries: int = 0
    bytes: int | None = None
    first: Instant | None = None
    last: Instant | None = None
    severities: dict[str, int] = {}
    seconds: float | None = None


class Context(msgspec.Struct, kw_only=True):
    """Lines around the proving message on the same replica, for the report: before and after, verbatim."""

    before: list[Evidence] = []
    after: list[Evidence] = []


class Diagnosis(msgspec.Struct, kw_only=True):
    """Why a job ended as it did, the proof, its timeline, and what to do."""

    job: Job
    outcome: str
    category: str
    cause: str
    summary: str
    confidence: float = 0.0
    confidence_reasons: list[str] = []
    retry: Retry = msgspec.field(default_factory=Retry)
    root_cause: RootCause | None = None
    symptoms: list[Symptom] = []
    alternatives: list[Alternative] = []
    points: list[Point] = []  # of the chosen cause
    ruled_out: list[RuledOut] = []
    memory: Memory | None = None
    timeline: Timeline = msgspec.field(default_factory=Timeline)
    remediation: list[Remedy] = []
    gaps: list[Gap] = []
    stats: Stats = msgspec.field(default_factory=Stats)
    context: Context = msgspec.field(default_factory=Context)
    novel: list[Evidence] = []  # with a baseline: lines that the good run did not have, the rarest first
    explanation: list[str] = []  # how the verdict was reached, step by step

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as the JSON contract has it."""
        from analyzer.report.json_report import to_builtins

        return to_builtins(self)

    def to_html(self, lang: str = "en") -> str:
        """The diagnosis as one self-contained HTML page."""
        from analyzer.report.html import render_html

        return render_html(Report(diagnoses=[self]), lang=lang)

    def evidence_frame(self) -> pandas.DataFrame:
        """A row an evidence item of the root cause and of each symptom."""
        from analyzer.frames import evidence_frame

        return evidence_frame(self)

    def _repr_html_(self) -> str:
        from analyzer.report.html import notebook_frame

        return notebook_frame(self.to_html())


class Tool(msgspec.Struct, kw_only=True):
    """What made a report."""

    name: str = "diagnose"
    version: str = ""
    rulebook_version: str = ""


class Report(msgspec.Struct, kw_only=True):
    """What `--format json` writes: failed jobs first, then the rest, each by time."""

    schema_version: int = SCHEMA_VERSION
    tool: Tool = msgspec.field(default_factory=Tool)
    diagnoses: list[Diagnosis] = []
    notes: list[Note] = []
    jobs_found: list[str] = []  # ids of all jobs of the input, also of those that were not asked for
