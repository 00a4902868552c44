"""Batch tasks, Slurm requeues, numbered attempts of schedulers, restarts inside a container."""

from __future__ import annotations

import pytest
from chain import lines, runs_of, timeline_of, told

from analyzer.model import Entry, JobKey, Origin

BATCH = JobKey("batch", "walnut", "fit")
SLURM = JobKey("slurm", "", "418")
LOCAL = JobKey("local", "", "fit")


def task(seconds: float, text: str, node: str) -> Entry:
    """A status event of a Batch task."""
    return told(BATCH, seconds, text, origin=Origin.SERVICE, number=int(seconds), node=node, kind="task", event=True)


def text_lines(*said: tuple[float, str], key: JobKey = LOCAL) -> list[Entry]:
    """Lines of a console whose speaker is not known."""
    return [
        told(key, seconds, text, origin=Origin.TEXT, number=number) for number, (seconds, text) in enumerate(said, 1)
    ]


def test_a_preempted_task_goes_on_on_another_machine() -> None:
    """Exit code 50001 is the agent's word for a Spot machine that was taken away."""
    timeline = timeline_of(
        [
            task(0, "Task state is updated from PENDING to RUNNING on zones/us-central1-a/instances/1", "1"),
            task(900, "Task state is updated from RUNNING to FAILED on zones/us-central1-a/instances/1 due to Spot VM "
                 "preemption with exit code 50001.", "1"),
            task(1000, "Task state is updated from PENDING to RUNNING on zones/us-central1-f/instances/2", "2"),
            task(2000, "Task state is updated from RUNNING to SUCCEEDED on zones/us-central1-f/instances/2", "2"),
        ]
    )  # fmt: skip
    ((first, second),) = runs_of(timeline).values()
    assert (first.exit_code, first.reason, second.reason) == (50001, "preempted", "completed")
    assert timeline.restarts.moved == 1


def test_a_requeued_job_is_tried_again_once() -> None:
    """The decision, its confirmation and the new allocation tell of one retry."""
    timeline = timeline_of(
        text_lines(
            (0, "[2025-03-04T05:00:00.000] sched: Allocate JobId=418 NodeList=n[0-3] #CPUs=8 Partition=a"),
            (900, "0: step 20 | loss 1.9"),
            (1000, "[2025-03-04T05:16:40.000] requeue job JobId=418 due to failure of node n2"),
            (1018, "[2025-03-04T05:16:58.000] Requeuing JobId=418"),
            (1200, "[2025-03-04T05:20:00.000] sched: Allocate JobId=418 NodeList=n[0-1,3-4] #CPUs=8 Partition=a"),
            key=SLURM,
        )
    )  # fmt: skip
    assert timeline.restarts.job_retries == 1


def test_a_job_that_never_ran_is_requeued_all_the_same() -> None:
    """Each allocation that could not be had ends in a requeue; the last one is only announced."""
    said = []
    for number in range(2):
        begin = number * 400.0
        said += [
            (
                begin,
                f"[2025-03-04T05:00:{number:02d}.000] sched: Allocate JobId=418 NodeList=n[0-1] #CPUs=2 Partition=a",
            ),
            (begin + 30, f"[2025-03-04T05:00:{number:02d}.500] requeue job JobId=418 due to failure of node n1"),
            (begin + 31, f"[2025-03-04T05:00:{number:02d}.600] Requeuing JobId=418"),
        ]
    timeline = timeline_of(text_lines(*said, key=SLURM))
    assert (timeline.restarts.job_retries, runs_of(timeline)) == (2, {})


@pytest.mark.parametrize(
    ("text", "retries"),
    [
        ("iris.task   previous attempts: 4 preempted, 1 failed", 5),
        ("{taskinstance.py:2171} INFO - Starting attempt 3 of 4", 2),
        ("   Requeue=1 Restarts=2 BatchFlag=1 Reboot=0 ExitCode=0:0", 2),
        ("SLURM_RESTART_COUNT=0", 0),
        ("AWS_BATCH_JOB_ATTEMPT=1", 0),
    ],
)
def test_attempts_that_a_line_counts_are_believed(text: str, retries: int) -> None:
    """The log holds the last attempt alone, and a line in it says how many were before."""
    timeline = timeline_of(text_lines((0, text), (60, "step 10 loss 1.0")))
    assert (timeline.restarts.job_retries, len(timeline.attempts)) == (retries, 1)


def test_a_count_that_rises_begins_an_attempt() -> None:
    """A script prints how often it was requeued, and its output goes into one file."""
    timeline = timeline_of(
        text_lines(
            (0, "SLURM_RESTART_COUNT=0"), (60, "step 10 loss 1.0"), (900, "SLURM_RESTART_COUNT=1"),
            (960, "step 12 loss 1.0"), (970, "SLURM_RESTART_COUNT=1"), (980, "step 14 loss 0.9"), key=SLURM,
        )
    )  # fmt: skip
    assert [(len(attempt.replicas), attempt.number) for attempt in timeline.attempts] == [(1, 1), (1, 2)]
    assert timeline.restarts_total == 1


def test_runs_of_a_schedulers_record_are_attempts() -> None:
    """Each has its number, its times and how it ended."""
    record = [("2025-03-04T05:00:00Z", "2025-03-04T06:00:00Z", "worker-shutdown"),
              ("2025-03-04T06:05:00Z", "2025-03-04T07:00:00Z", "completed")]  # fmt: skip
    entries = [
        told(LOCAL, None, f"reasonResolved {reason}", origin=Origin.STATUS, number=number, kind="task", attempt=number,
             display_name="fit", state="done", started=begin, finished=end, reason=reason)
        for number, (begin, end, reason) in enumerate(record)
    ]  # fmt: skip
    timeline = timeline_of([*entries, *text_lines((4000, "step 10 loss 1.0"))])
    assert [attempt.end_reason for attempt in timeline.attempts][:1] == ["preemption"]
    assert (len(timeline.attempts), timeline.restarts.job_retries) == (2, 1)
    assert list(runs_of(timeline)) == ["fit"]


def test_a_scheduler_that_numbers_its_attempts_is_counted_by_its_numbers() -> None:
    """Attempts 0, 1 and 2 are two retries."""
    said = [(n * 600.0, f"[controller] task cds/0 attempt {n} ASSIGNED worker w-{n}") for n in range(3)]
    work = [(n * 600.0 + 60, f"[cds/0 a{n}] step {n * 100} loss 1.0") for n in range(3)]
    timeline = timeline_of(text_lines(*sorted(said + work)))
    assert (len(timeline.attempts), timeline.restarts.job_retries) == (3, 2)


def test_processes_started_again_inside_a_container_are_restarts() -> None:
    """torchrun says how often it may and how often it did."""
    again = "[default] Worker group FAILED. {}/3 attempts left; will restart worker group"
    timeline = timeline_of(
        lines(
            (0, "n0", "step 1 loss 2.0"), (60, "n0", again.format(2)), (90, "n0", "step 1 loss 2.0"),
            (120, "n0", again.format(1)), (150, "n0", "step 1 loss 2.0"), key=JobKey("slurm", "", "9"),
        )
    )  # fmt: skip
    assert (timeline.restarts.in_place, timeline.restarts_by_replica) == (2, {"n0": 2})


def test_a_log_without_times_still_has_its_order() -> None:
    """Starts and exits are told by their order; no time is made up."""
    said = ["XPK Start: Thu", "step 1 loss 2.0", "EXIT_CODE=1", "XPK Start: Thu", "step 1 loss 2.0", "EXIT_CODE=0"]
    entries = [
        Entry(text=text, job=LOCAL, origin=Origin.TEXT, source="f", line=n, sequence=n) for n, text in enumerate(said)
    ]
    timeline = timeline_of(entries)
    ((first, second),) = runs_of(timeline).values()
    assert (first.exit_code, second.exit_code, first.start, first.end) == (1, 0, None, None)
    assert timeline.restarts_total == 1
