"""Work grows no faster than the input."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import jobs
import pytest
from chain import evidence_of, timeline_of
from jobs import Job

from analyzer.entries import Options
from analyzer.timeline import reconstruct


def failing(job: Job) -> None:
    """A crash, a retry of the job and a permanent error."""
    job.create()
    job.start_all()
    job.train(600)
    job.exit(job.names[1], 11 if job.prebuilt else 139, "crash")
    job.blame(job.names[1], 11 if job.prebuilt else 139)
    job.retry("crash")
    job.start_all()
    job.train(600)
    jobs.fail_for_good(job, job.names[0])


def one_by_one(job: Job) -> None:
    """Each replica starts and says one thing when the others have long been silent."""
    job.create()
    for name in job.names:
        job.wait(60, 70)
        job.start(name, f"vm-of-{name}")
        job.say(name, "RuntimeError: boom")


def calls(scenario: Callable[[Job], None], replicas: int, *, prebuilt: bool) -> tuple[int, int]:
    """How many entries a job of so many replicas has, and how many function calls its timeline takes."""
    job = Job(1, vertex=True, prebuilt=prebuilt, replicas=replicas)
    scenario(job)
    built_of = evidence_of(job.entries)
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        reconstruct(*built_of, Options())
    finally:
        sys.setprofile(None)
    return len(built_of[0].entries), count


@pytest.mark.parametrize("prebuilt", [True, False])
@pytest.mark.parametrize(
    "scenario", [failing, one_by_one, jobs.success, jobs.spot, jobs.maintenance], ids=lambda s: s.__name__
)
def test_calls_grow_as_the_entries_do(scenario: Callable[[Job], None], prebuilt: bool) -> None:
    """Four times as many replicas take about four times as many calls, not sixteen times."""
    small_entries, small = calls(scenario, 20, prebuilt=prebuilt)
    large_entries, large = calls(scenario, 80, prebuilt=prebuilt)
    assert large / small < 1.25 * large_entries / small_entries


def test_a_job_of_many_replicas_has_all_of_them() -> None:
    """Nothing is dropped for size."""
    job = jobs.make(jobs.success, 5, replicas=300)
    assert {lane.name for lane in timeline_of(job.entries).attempts[0].replicas} == set(job.names)
