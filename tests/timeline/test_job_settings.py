"""What a job's description sets: restarts of the whole job, retries switched off, limits of time."""

from __future__ import annotations

import pytest
from chain import VERTEX, lines, timeline_of, told

from analyzer.model import Entry, JobKey, Origin

SET_UP = (0.0, "service", "Waiting for training program to start.")
START = "Running task with arguments: --cluster={} --task={}"
EXIT = "Task completed. Exit code ({}). Exit reason (SUBPROCESS_EXCEPTION)"
AI_PLATFORM = JobKey("ai_platform", "walnut", "walnut_1")


def described(key: JobKey = VERTEX, **scheduling: object) -> Entry:
    """The job's description with these settings."""
    return told(key, None, "state", origin=Origin.STATUS, kind="job", scheduling=scheduling)


def two_workers() -> list[Entry]:
    """One worker fails, and both are started again on their VMs; then both work on."""
    names = ("workerpool0-0", "workerpool1-0")
    said = [(60.0 + n, name, START) for n, name in enumerate(names)]
    said += [(600.0, name, "step 90 loss 0.7") for name in names]
    said += [(700.0, names[1], EXIT.format(75))]
    said += [(720.0 + n, name, START) for n, name in enumerate(names)]
    said += [(1500.0, name, "step 120 loss 0.6") for name in names]
    return lines(SET_UP, *said)


def cancelled(key: JobKey, *said: tuple[float, str, str]) -> list[Entry]:
    """A job that the service tears down after these lines."""
    return lines(SET_UP, *said, key=key)


def test_a_worker_restart_restarts_the_job_where_the_description_says_so() -> None:
    """`restartJobOnWorkerRestart`: both workers begin again, which is one retry and no two restarts in place."""
    plain = timeline_of(two_workers()).restarts
    whole = timeline_of([*two_workers(), described(restartJobOnWorkerRestart=True)])
    assert (plain.in_place, plain.job_retries) == (2, 0)
    assert (whole.restarts.in_place, whole.restarts.job_retries) == (0, 1)
    assert any("restartJobOnWorkerRestart" in remark for remark in whole.remarks)


def test_retries_switched_off_leave_a_worker_restart_a_worker_restart() -> None:
    """`disableRetries` overrides `restartJobOnWorkerRestart`, and no retry of the job is left."""
    settings = described(restartJobOnWorkerRestart=True, disableRetries=True)
    timeline = timeline_of([*two_workers(), settings])
    assert (timeline.restarts.in_place, timeline.restarts.job_retries) == (2, 0)
    assert timeline.budgets.job_retries == "0/0"


def test_a_container_started_only_to_be_shut_down_is_no_retry_of_the_job() -> None:
    """After a permanent error the service shuts the job down, whatever the description asks of restarts."""
    said = lines(
        SET_UP, (60, "workerpool0-0", START), (600, "workerpool0-0", EXIT.format(1)), (617, "workerpool0-0", START),
        (629, "service", "The replica workerpool0-0 exited with a non-zero status of 1. Termination reason: Error."),
        (700, "service", "Finished tearing down training program."), (700, "service", "Job failed."),
    )  # fmt: skip
    counted = timeline_of([*said, described(restartJobOnWorkerRestart=True)]).restarts
    assert (counted.doomed, counted.job_retries) == (1, 0)


@pytest.mark.parametrize(
    ("key", "settings"),
    [
        (AI_PLATFORM, {"maxWaitTime": "3600s"}),
        (VERTEX, {"maxWaitDuration": "3600s", "strategy": "FLEX_START"}),
    ],
)
def test_a_job_that_waited_as_long_as_it_may_is_ended_for_that(key: JobKey, settings: dict[str, object]) -> None:
    """It never ran: the wait for machines had a limit."""
    waited = cancelled(key, (3605, "service", "Finished tearing down training program."))
    timeline = timeline_of([*waited, described(key, **settings)])
    assert timeline.attempts[-1].end_reason == "timeout"
    assert any("waited for machines as long as it allows (1 h)" in remark for remark in timeline.remarks)


@pytest.mark.parametrize("settings", [{"maxWaitDuration": "0s", "strategy": "FLEX_START"}, {}])
def test_a_job_may_wait_without_a_limit(settings: dict[str, object]) -> None:
    """0 means without end, and a job that is no flexible start has no such limit."""
    waited = cancelled(VERTEX, (3605, "service", "Finished tearing down training program."))
    assert timeline_of([*waited, described(**settings)]).attempts[-1].end_reason == "cancelled"


@pytest.mark.parametrize(("ended", "reason"), [(4000, "timeout"), (2000, "cancelled"), (90_000, "cancelled")])
def test_a_running_job_is_ended_by_its_limit_only_at_that_limit(ended: float, reason: str) -> None:
    """Long before it, or long after, someone cancelled it."""
    ran = cancelled(
        VERTEX,
        (60, "workerpool0-0", START),
        (61, "service", "Job is running."),
        (ended + 60, "service", "Finished tearing down training program."),
    )
    assert timeline_of([*ran, described(timeout="4000s")]).attempts[-1].end_reason == reason


def test_a_job_without_a_limit_of_its_own_has_the_documented_one() -> None:
    """Seven days from running."""
    week = 7 * 86_400.0
    ran = cancelled(
        VERTEX,
        (60, "workerpool0-0", START),
        (61, "service", "Job is running."),
        (week + 75, "service", "Finished tearing down training program."),
    )
    timeline = timeline_of(ran)
    assert timeline.attempts[-1].end_reason == "timeout"
    assert any("ran as long as it may (7 d)" in remark for remark in timeline.remarks)
