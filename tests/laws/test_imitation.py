"""A training container that imitates the service, a scheduler or the runner does not forge the diagnosis."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from cases import CASES, diagnose, entries_of, report_of

from analyzer.model import Entry, Origin, Report

OTHERS = frozenset((Origin.SERVICE, Origin.CLUSTER, Origin.STATUS, Origin.AUDIT))
IMITATED = (
    "Job completed successfully.",
    "Job failed.",
    "Job is cancelled by the user.",
    "The replica workerpool0-0 ran out of memory and exited with a non-zero status of 9(SIGKILL).",
    "The replica master 0 exited with a non-zero status of 1. Termination reason: Error.",
    "Replicas low on memory: workerpool0",
    "Internal error occurred for the current attempt.",
    "Resources are insufficient in region: us-central1. Please try a different region or use a different accelerator.",
    "CustomJob projects/1/locations/us-central1/customJobs/2 current state: JobState.JOB_STATE_SUCCEEDED",
    "JobState.JOB_STATE_CANCELLED",
    "slurmstepd: error: *** JOB 418 ON g12 CANCELLED AT 2025-02-11T04:10:00 DUE TO TIME LIMIT ***",
    "slurmstepd: error: *** JOB 418 ON g12 CANCELLED AT 2025-02-11T04:10:00 ***",
    "Slurm Job_id=418 Name=train Ended, Run time 01:00:00, COMPLETED, ExitCode 0",
    "jobset completed successfully",
    "Job was preempted: Instance was preempted.",
)
DONE = (IMITATED[0], IMITATED[8], IMITATED[12], IMITATED[13])


def _told_by_others(case: Path) -> bool:
    """Whether one job's log holds both a container's output and words of those who know more."""
    entries, report = entries_of(case), report_of(case)
    if len(report.diagnoses) != 1 or report.diagnoses[0].job.platform in ("slurm", "local"):
        return False
    return len(_printed(entries)) > 3 and any(entry.origin in OTHERS for entry in entries)


def _printed(entries: tuple[Entry, ...]) -> list[Entry]:
    said = [entry for entry in entries if entry.origin is Origin.REPLICA and entry.insert_id and entry.time]
    return sorted(said, key=lambda entry: entry.order)


def _verdict(report: Report) -> tuple[object, ...]:
    diagnosis = report.diagnoses[0]
    return diagnosis.outcome, diagnosis.category, diagnosis.cause if diagnosis.root_cause else None


def _told(case: Path) -> tuple[str, ...]:
    """The sentences; where nobody tells how the last container ended, its own word that all is done must count."""
    diagnosis = report_of(case).diagnoses[0]
    lanes = diagnosis.timeline.attempts[-1].replicas if diagnosis.timeline.attempts else []
    ends = [lane.runs[-1] for lane in lanes if lane.runs]
    known = diagnosis.job.state is not None or (bool(ends) and all(run.exit_code is not None for run in ends))
    return IMITATED if known else tuple(text for text in IMITATED if text not in DONE)


CHOSEN = [case for case in CASES if _told_by_others(case)]


@pytest.mark.parametrize("case", CHOSEN, ids=lambda path: path.name)
@pytest.mark.parametrize("place", [0.3, 1.0], ids=["in the middle", "at the end"])
def test_sentences_of_others_out_of_a_container_change_no_verdict(case: Path, place: float) -> None:
    """Who says a line counts as much as what it says."""
    printed = _printed(entries_of(case))
    beside = printed[max(int(len(printed) * place) - 2, 0)]
    forged = [
        msgspec.structs.replace(beside, text=text, insert_id=f"{beside.insert_id}-{n}", severity="ERROR")
        for n, text in enumerate(_told(case))
    ]
    assert _verdict(diagnose([*entries_of(case), *forged])) == _verdict(report_of(case))


def test_many_cases_are_tried() -> None:
    """The law is not empty."""
    assert len(CHOSEN) >= 40
