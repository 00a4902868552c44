"""Frames for pandas: times are `datetime64[ns, UTC]`, whole numbers `Int64` with real gaps, texts `str`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pandas

from analyzer.model.instant import Instant

if TYPE_CHECKING:
    from analyzer.model.diagnosis import Diagnosis, Evidence
    from analyzer.model.entry import Entry
    from analyzer.model.timeline import Run, Timeline

_TIME, _WHOLE, _NUMBER, _TEXT, _TRUTH = "time", "Int64", "float64", "str", "bool"

_TIMELINE = {
    "attempt": _WHOLE, "replica": _TEXT, "trial": _WHOLE, "run": _WHOLE, "start": _TIME, "end": _TIME,
    "seconds": _NUMBER, "exit_code": _WHOLE, "signal": _TEXT, "reason": _TEXT, "node": _TEXT, "doomed": _TRUTH,
}  # fmt: skip
_EVIDENCE = {
    "role": _TEXT, "rule": _TEXT, "replica": _TEXT, "time": _TIME, "severity": _TEXT, "text": _TEXT, "source": _TEXT,
    "line": _WHOLE, "insert_id": _TEXT, "link": _TEXT, "explained_by": _TEXT,
}  # fmt: skip
_ENTRIES = {
    "time": _TIME, "severity": _TEXT, "origin": _TEXT, "platform": _TEXT, "project": _TEXT, "job_id": _TEXT,
    "replica": _TEXT, "rank": _WHOLE, "attempt": _WHOLE, "node": _TEXT, "text": _TEXT, "insert_id": _TEXT,
    "source": _TEXT, "line": _WHOLE,
}  # fmt: skip


def timeline_frame(timeline: Timeline) -> pandas.DataFrame:
    """A row a run, by attempt and replica; `run` counts the runs of a replica within its attempt, from 1."""
    return _frame(
        [
            (attempt.number, replica.name, replica.trial, number, *_run_values(run))
            for attempt in timeline.attempts
            for replica in attempt.replicas
            for number, run in enumerate(replica.runs, 1)
        ],
        _TIMELINE,
    )


def evidence_frame(diagnosis: Diagnosis) -> pandas.DataFrame:
    """A row an evidence item: of the root cause first (`role` is `root`), then of each symptom (`symptom`)."""
    root, symptoms = diagnosis.root_cause, diagnosis.symptoms
    rows = [_evidence_row("root", root.rule, root.replica, item, None) for item in root.evidence] if root else []
    rows += [_evidence_row("symptom", item.rule, item.replica, item.evidence, item.explained_by) for item in symptoms]
    return _frame(rows, _EVIDENCE)


def entries_frame(entries: Iterable[Entry]) -> pandas.DataFrame:
    """A row an entry, in the given order."""
    return _frame([_entry_row(entry) for entry in entries], _ENTRIES)


def _run_values(run: Run) -> tuple[Any, ...]:
    seconds = run.end.since(run.start) if run.start is not None and run.end is not None else None
    return run.start, run.end, seconds, run.exit_code, run.signal, run.reason, run.node, run.doomed


def _entry_row(entry: Entry) -> tuple[Any, ...]:
    named = (entry.job.platform, entry.job.project, entry.job.id) if entry.job else (None, None, None)
    return (
        entry.time, entry.severity, str(entry.origin), *named, entry.replica, entry.rank, entry.attempt, entry.node,
        entry.text, entry.insert_id or None, entry.source or None, entry.line or None,
    )  # fmt: skip


def _evidence_row(role: str, rule: str | None, replica: str | None, item: Evidence, by: str | None) -> tuple[Any, ...]:
    return (
        role, rule, item.replica or replica, item.time, item.severity, item.text, item.source, item.line,
        item.insert_id, item.link, by,
    )  # fmt: skip


def _frame(rows: Sequence[tuple[Any, ...]], columns: dict[str, str]) -> pandas.DataFrame:
    by_column = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    series = {
        name: _times(values) if kind == _TIME else pandas.Series(list(values), dtype=kind)
        for (name, kind), values in zip(columns.items(), by_column, strict=True)
    }
    return pandas.DataFrame(series)


def _times(values: Sequence[Instant | None]) -> pandas.Series[Any]:
    whole = pandas.Series([None if value is None else int(value) for value in values], dtype="Int64")
    return pandas.to_datetime(whole, unit="ns", utc=True).astype("datetime64[ns, UTC]")
