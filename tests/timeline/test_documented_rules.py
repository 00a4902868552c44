"""The training service's documented rules, one by one."""

from __future__ import annotations

import distortions
import jobs
import pytest
from chain import BEGIN, VERTEX, lines, runs_of, timeline_of, told
from jobs import Job

from analyzer.model import Instant, JobKey, Origin
from analyzer.timeline.policy import policies

START = 'Running task with arguments: --cluster={"chief": ["h:2222"]} --task={"type": "chief"}'
ENDED = "Task completed. Exit code ({}). Exit reason (SUBPROCESS_EXCEPTION)"


def test_every_policy_names_its_sources_and_the_service_its_limits() -> None:
    """Five restarts a worker, three retries, three attempts on internal errors, six restarts on Spot machines."""
    vertex = policies()["vertex"]
    limits = vertex.worker_restarts, vertex.job_retries, vertex.internal_attempts, vertex.spot_restarts
    assert limits == (5, 3, 3, 6)
    assert vertex.transient_exit_codes == [6, 134, 11, 139]
    assert all(policy.sources for name, policy in policies().items() if name != "local")


def test_a_restart_in_vain_is_no_restart_in_place() -> None:
    """A container started after a permanent error is marked doomed, counted apart, and told as no new cause."""
    timeline = timeline_of(jobs.make(jobs.exception, 1).entries)
    assert (timeline.restarts.in_place, timeline.restarts.doomed) == (0, 1)
    assert any("no new cause" in remark for remark in timeline.remarks)


def test_workers_may_print_before_the_job_runs() -> None:
    """Replicas start in parallel, so lines before RUNNING are of the same attempt."""
    timeline = timeline_of(
        lines(
            (0, "service", "Waiting for job to be provisioned."), (2, "service", "Waiting for training program to start."),
            (60, "workerpool1-0", START), (90, "workerpool0-0", START), (91, "service", "Job is running."),
        )
    )  # fmt: skip
    assert [attempt.running_since for attempt in timeline.attempts] == [BEGIN.plus(91)]
    assert timeline.restarts_total == 0


def test_five_restarts_are_all_a_worker_has() -> None:
    """The sixth failure ends the attempt by used-up restarts, and the budget says so."""
    timeline = timeline_of(jobs.make(jobs.exhausted, 2).entries)
    assert [attempt.end_reason for attempt in timeline.attempts] == [
        "restarts_exhausted",
        "restarts_exhausted",
        "success",
    ]
    assert "5/5" in timeline.budgets.worker_restarts.values()
    assert timeline.budgets.job_retries == "2/3"


def test_more_restarts_than_documented_are_reported() -> None:
    """A sixth restart in one attempt breaks the documented limit; it is counted, and the breach is told."""
    job = Job(1, vertex=True, prebuilt=True, replicas=2)
    job.create()
    job.start_all()
    jobs.fail_and_restart(job, job.names[1], 6)
    jobs.succeed(job)
    timeline = timeline_of(job.entries)
    assert timeline.restarts.in_place == 6
    assert any("more than the documented 5" in remark for remark in timeline.remarks)


def test_internal_errors_have_three_attempts() -> None:
    """Two retries are all there are."""
    timeline = timeline_of(jobs.make(jobs.internal_errors, 1).entries)
    assert (len(timeline.attempts), timeline.budgets.job_retries) == (3, "2/2")


def test_spot_machines_have_six_restarts() -> None:
    """A job of one replica that ends for lack of capacity while it ran was preempted, each time its machine changed."""
    timeline = timeline_of(jobs.make(jobs.spot, 1, replicas=1).entries)
    assert {attempt.end_reason for attempt in timeline.attempts} == {"preemption"}
    assert timeline.budgets.job_retries == "6/6"


def test_another_machine_under_one_replica_is_maintenance() -> None:
    """The job goes on, so it is a move within the attempt, and deduced."""
    timeline = timeline_of(jobs.make(jobs.maintenance, 1, replicas=3).entries)
    moved = [run for runs in runs_of(timeline).values() for run in runs if run.reason == "maintenance"]
    assert (timeline.restarts.moved, timeline.restarts.job_retries, len(moved)) == (1, 0, 1)
    assert "reason" in moved[0].deduced


def test_the_german_console_says_the_same() -> None:
    """The service's words are known in German, too."""
    timeline = timeline_of(
        lines(
            (0, "service", "Auf den Start des Trainingsprogramms wird gewartet."), (30, "workerpool0-0", START),
            (900, "workerpool0-0", ENDED.format(1)),
            (920, "service", "Das Replikat workerpool0-0 wurde mit dem Status „1“ ungleich null beendet. Grund für Beendigung: Error."),
        )
    )  # fmt: skip
    assert [attempt.end_reason for attempt in timeline.attempts] == ["user_exception"]
    assert runs_of(timeline)["workerpool0-0"][0].exit_code == 1


def test_a_container_that_imitates_the_service_is_not_believed() -> None:
    """Only the service may say that the job is set up again, failed or succeeded."""
    timeline = timeline_of(
        lines(
            (0, "service", "Waiting for training program to start."), (30, "workerpool0-0", START),
            (60, "workerpool0-0", "Waiting for training program to start."),
            (70, "workerpool0-0", "Job completed successfully."), (80, "workerpool0-0", "step 3 loss 1.0"),
        )
    )  # fmt: skip
    assert [(attempt.number, attempt.end_reason) for attempt in timeline.attempts] == [(1, None)]
    assert runs_of(timeline)["workerpool0-0"][0].reason == "running"


def test_a_command_of_the_program_that_fails_is_no_exit() -> None:
    """Training that goes on after a command's exit line shows that the line was not about the container."""
    timeline = timeline_of(
        lines(
            (0, "service", "Waiting for training program to start."), (30, "workerpool0-0", START),
            (60, "workerpool0-0", "Command '['nvidia-smi', '-q']' returned non-zero exit status 9."),
            (200, "workerpool0-0", "step 20 loss 0.9"),
        )
    )  # fmt: skip
    (run,) = runs_of(timeline)["workerpool0-0"]
    assert (run.reason, run.exit_code) == ("running", None)


def test_a_teardown_without_a_failure_is_a_cancellation() -> None:
    """The service stops a job that ran well and says nothing more: someone cancelled it."""
    assert timeline_of(jobs.make(jobs.cancelled, 2).entries).attempts[-1].end_reason == "cancelled"


def test_the_service_names_a_restarted_container_by_its_earlier_life() -> None:
    """A restart may be quicker than the service's word, which is about the life that had ended."""
    timeline = timeline_of(
        lines(
            (0, "service", "Waiting for training program to start."), (30, "workerpool0-0", "starting up"),
            (33, "workerpool0-0", "loading data"), (600, "workerpool0-0", "step 9 loss 1.0"),
            (700, "workerpool0-0", "starting up"), (703, "workerpool0-0", "loading data"),
            (710, "service", "The replica workerpool0-0 exited with a non-zero status of 1. Termination reason: Error."),
            (800, "service", "Finished tearing down training program."), (801, "service", "Job failed."),
        )
    )  # fmt: skip
    assert [(run.exit_code, run.doomed) for run in runs_of(timeline, doomed=True)["workerpool0-0"]] == [
        (1, False),
        (None, True),
    ]


def test_the_service_counts_a_death_by_signal_in_its_own_way() -> None:
    """A runner prints -9, the service 247 for the same death: its number counts."""
    key = JobKey("ai_platform", "walnut", "walnut_1")
    timeline = timeline_of(
        lines(
            (0, "service", "Waiting for training program to start."), (30, "master-replica-0", START),
            (600, "master-replica-0", "Command '['python3', '-m', 'a']' returned non-zero exit status -9."),
            (620, "service", "The replica master 0 ran out-of-memory and exited with a non-zero status of 247."), key=key,
        )
    )  # fmt: skip
    (run,) = runs_of(timeline)["master-replica-0"]
    assert (run.exit_code, run.reason, timeline.attempts[0].end_reason) == (247, "oom", "out_of_memory")


@pytest.mark.parametrize("text", ["Job is running.", "Waiting for training program to start."])
def test_an_attempt_is_announced_by_a_repeated_word(text: str) -> None:
    """The service sets the job up a second time: that is a second attempt."""
    said = lines(
        (0, "service", "Waiting for training program to start."), (30, "workerpool0-0", START), (31, "service", "Job is running."),
        (600, "workerpool0-0", ENDED.format(11)), (601, "service", "The replica workerpool0-0 exited with a non-zero status of 11."),
    )  # fmt: skip
    again = lines((700, "service", text), (720, "workerpool0-0", START), nodes={"workerpool0-0": "vm-2"})
    renamed = [distortions.changed(entry, insert_id=f"b{entry.insert_id}") for entry in again]
    timeline = timeline_of([*said, *renamed])
    assert [attempt.start for attempt in timeline.attempts] == [BEGIN, BEGIN.plus(700)]


def test_a_description_alone_gives_one_attempt_with_its_times() -> None:
    """Where nothing but the job's description is given, its creation, start and end are the attempt's."""
    facts = {"created": "2025-03-04T05:00:00Z", "started": "2025-03-04T05:04:00Z", "finished": "2025-03-04T06:00:00Z"}
    timeline = timeline_of(
        [told(VERTEX, 3600, "error", origin=Origin.STATUS, kind="job", state="JOB_STATE_FAILED", code=13, **facts)]
    )
    (attempt,) = timeline.attempts
    assert (attempt.start, attempt.running_since) == (Instant.parse(facts["created"]), Instant.parse(facts["started"]))
    assert timeline.restarts_total == 0


def test_trials_of_a_tuning_job_stand_side_by_side() -> None:
    """They are lanes of one attempt under their own numbers, and no retries of one another."""
    said = lines(
        (0, "workerpool0-0", START), (5, "workerpool0-0", START), (60, "workerpool0-0", "step 1 loss 1.0"),
        (61, "workerpool0-0", "step 1 loss 2.0"), (90, "workerpool0-0", ENDED.format(1)), (95, "workerpool0-0", ENDED.format(0)),
    )  # fmt: skip
    trials = [
        distortions.changed(entry, fields={"trial": 1 + place % 2}, attempt=1 + place % 2)
        for place, entry in enumerate(said)
    ]
    timeline = timeline_of(trials)
    (attempt,) = timeline.attempts
    assert [(lane.label, [run.exit_code for run in lane.runs]) for lane in attempt.replicas] == [
        ("workerpool0-0 #1", [1]), ("workerpool0-0 #2", [0])
    ]  # fmt: skip
    assert timeline.restarts_total == 0


def test_a_trial_does_not_move_to_the_machine_of_another() -> None:
    """Trials share no machine, so a line that names another's is labelled wrongly; a retry on a free one is a move."""
    told = ((0, 1, "a"), (1, 2, "b"), (20, 1, "b"), (40, 2, "b"), (60, 1, "c"))
    entries = lines(*((second, "workerpool0-0", f"step {second} loss 1.0") for second, _, _ in told))
    trials = [
        distortions.changed(entry, fields={"trial": trial}, attempt=trial, node=node)
        for entry, (_, trial, node) in zip(entries, told, strict=True)
    ]
    timeline = timeline_of(trials)
    (attempt,) = timeline.attempts
    assert [(lane.trial, [run.node for run in lane.runs]) for lane in attempt.replicas] == [(1, ["a", "c"]), (2, ["b"])]
    assert timeline.restarts_total == timeline.restarts.moved == 1


def test_nothing_begins_after_the_services_last_word() -> None:
    """A client that repeats the error later tells of no further attempt."""
    error = "Internal error occurred for the current attempt."
    timeline = timeline_of(
        lines(
            (0, "service", "Waiting for job to be provisioned."), (600, "service", error), (700, "service", "Job failed."),
            (900, "service", error),
        )
    )  # fmt: skip
    assert (len(timeline.attempts), timeline.restarts_total) == (1, 0)
