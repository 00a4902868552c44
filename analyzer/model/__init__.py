"""The values that flow between the steps of the chain; nothing here does any work."""

from analyzer.model.diagnosis import (
    CATEGORIES,
    OUTCOMES,
    RETRY_ADVICE,
    Alternative,
    Context,
    Diagnosis,
    Evidence,
    Gap,
    Job,
    Memory,
    Point,
    Remedy,
    Report,
    Retry,
    RootCause,
    RuledOut,
    Stats,
    Symptom,
    Tool,
)
from analyzer.model.entry import Entry, JobKey, Note, Origin
from analyzer.model.fleet import Fleet, JobRow
from analyzer.model.instant import SECOND, Instant
from analyzer.model.message import ExceptionLink, Frame, Message
from analyzer.model.timeline import (
    Attempt,
    Budgets,
    Checkpoint,
    Progress,
    ReplicaRuns,
    Restarts,
    Run,
    Timeline,
    TimelineEvent,
    label_of,
)

__all__ = [
    "CATEGORIES", "OUTCOMES", "RETRY_ADVICE", "SECOND", "Alternative", "Attempt", "Budgets", "Checkpoint", "Context",
    "Diagnosis", "Entry", "Evidence", "ExceptionLink", "Fleet", "Frame", "Gap", "Instant", "Job", "JobKey", "JobRow",
    "Memory", "Message", "Note", "Origin", "Point", "Progress", "Remedy", "ReplicaRuns", "Report", "Restarts",
    "Retry", "RootCause", "RuledOut", "Run", "Stats", "Symptom", "Timeline", "TimelineEvent", "Tool",
    "label_of",
]  # fmt: skip
