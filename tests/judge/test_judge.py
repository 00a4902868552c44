"""Of all that was found: what is the cause, what follows from it, what is only loud."""

from __future__ import annotations

from msgspec.structs import replace
from small_jobs import KEY, ONE_RUN, RULES, judged, rule, said, service

from analyzer.entries import Options, Story
from analyzer.judge import judge
from analyzer.model import Timeline
from analyzer.rulebook import Matcher


def test_a_failure_that_training_survived_is_no_cause() -> None:
    """What the same replica went on after did not end it; the later one did."""
    diagnosis = judged(said(1, "BOOM first"), said(2, "step 1 done"), said(3, "step 2 done"), said(4, "BOOM last"))
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.values["what"] == "last"


def test_a_machine_that_was_taken_away_is_no_cause_once_the_job_failed_by_itself_later() -> None:
    """Restarts are for preemption: what ended the job is what failed after it ran again."""
    again = judged(said(1, "PREEMPTED"), said(2, "resumed"), said(3, "BOOM now"), timeline=ONE_RUN)
    assert again.category == "user_exception"
    last = judged(said(1, "PREEMPTED"), said(3, "BOOM now"), timeline=ONE_RUN)
    assert last.category == "preemption"


def test_a_limit_of_time_is_no_cause_of_a_job_that_hung_since_a_process_failed() -> None:
    """What broke is the cause; but a job that made progress after it was ended by the limit."""
    broke = said(1, 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: BOOM now')
    assert judged(broke, service(9000, "TIME IS UP")).category == "user_exception"
    went_on = [said(second, f"step {second} done") for second in (2, 3, 4)]
    assert judged(broke, *went_on, service(9000, "TIME IS UP")).category == "timeout"


def test_a_crash_of_one_replica_comes_before_the_lost_connections_of_others() -> None:
    """The platform's word on its exit code is enough, where no line says more of it."""
    lost = [said(1, "NCCL broke", f"workerpool1-{number}") for number in (0, 1)]
    crashed = judged(*lost, service(9, "replica workerpool0-0 exited with 139"))
    assert (crashed.category, crashed.cause) == ("user_exception", "crash_signal_sigsegv")
    aborted = judged(*lost, service(9, "replica workerpool0-0 exited with 134"))  # NCCL's watchdog aborts so
    assert aborted.category == "network"


def test_a_peers_network_error_follows_from_the_first_death() -> None:
    """A cause on one replica explains the errors of the others, and they become its symptoms."""
    diagnosis = judged(
        said(1, "GPU IS FULL", "workerpool1-0"), said(2, "NCCL broke"), said(3, "NCCL broke", "workerpool1-1")
    )
    assert (diagnosis.category, diagnosis.cause) == ("out_of_memory", "gpu")
    assert {s.rule for s in diagnosis.symptoms} == {"network.nccl"}
    assert all(s.explained_by == "out_of_memory.gpu" for s in diagnosis.symptoms)


def test_a_cause_does_not_come_after_what_it_explains() -> None:
    """An error minutes before the supposed cause is not explained by it."""
    diagnosis = judged(said(1, "NCCL broke"), said(900, "GPU IS FULL", "workerpool1-0"))
    assert "network.nccl" not in {symptom.rule for symptom in diagnosis.symptoms}


def test_noise_is_no_cause() -> None:
    """A message that a noise rule names gives no candidate, whatever else it matches."""
    diagnosis = judged(said(1, "BOOM harmless"), service(2, "replica workerpool0-0 exited with 1"))
    assert diagnosis.category == "unknown"


def test_a_cascade_alone_is_never_the_cause() -> None:
    """Where only consequences are in the log the answer is unknown."""
    diagnosis = judged(said(1, "connection reset"), service(2, "replica workerpool0-0 exited with 1"))
    assert diagnosis.category == "unknown"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.exit_code == 1


def test_the_exit_code_is_the_platforms_word() -> None:
    """The service's message gives the exit code of the replica that failed."""
    diagnosis = judged(said(1, "BOOM now"), service(60, "replica workerpool0-0 exited with 1"))
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.exit_code == 1
    assert any("the service" in reason for reason in diagnosis.confidence_reasons)


def test_an_exit_code_that_the_caller_knows_wins() -> None:
    """--exit-code says what the log does not."""
    diagnosis = judged(said(1, "BOOM now"), options=Options(exit_codes={None: 137}))
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.exit_code == 137


def test_a_rank_that_a_line_names_has_the_exit_code_of_the_stream_that_it_stands_in() -> None:
    """A node's stream is numbered by Slurm's task; the line in it names the rank, and the launcher's word stands beside."""
    spoken = said(1, "rank 21 found NaN", replica=None)
    ends = [(2, "replica node-c exited with 1"), (3, "replica node-d exited with 6")]
    words = [replace(said(60 + task, text, replica=None), rank=task) for task, text in ends]
    diagnosis = judged(replace(spoken, rank=2), *words)
    assert diagnosis.root_cause is not None
    assert (diagnosis.root_cause.rank, diagnosis.root_cause.exit_code) == (21, 1)


def test_a_crash_signal_alone_is_told_by_its_code() -> None:
    """Exit code 139 without any line that says why is a crash, not unknown."""
    diagnosis = judged(said(1, "step 1 done"), service(60, "replica workerpool0-0 exited with 139"))
    assert diagnosis.category == "user_exception"
    assert "sigsegv" in diagnosis.cause


def test_a_kill_alone_is_unknown() -> None:
    """Exit code 137 has many senders: without another witness the answer stays open, with what was seen."""
    diagnosis = judged(said(1, "step 1 done"), service(60, "replica workerpool0-0 exited with 137"))
    assert (diagnosis.category, diagnosis.cause) == ("unknown", "sigkill_sender_unknown")


def test_the_services_success_outweighs_any_noise() -> None:
    """A job that completed did not fail, whatever its replicas printed."""
    diagnosis = judged(said(1, "BOOM x"), said(2, "NCCL broke"), service(60, "Job completed"))
    assert (diagnosis.outcome, diagnosis.category, diagnosis.root_cause) == ("succeeded", "success", None)


def test_evidence_stays_within_the_contracts_bounds() -> None:
    """Evidence of all items together: under 60 lines and 8,000 characters, with the telling line in the first."""
    flood = "\n".join(f"frame {n} of a long dump" for n in range(500))
    diagnosis = judged(said(1, f"{flood}\nBOOM here\n{flood}"), service(2, "replica workerpool0-0 exited with 1"))
    assert diagnosis.root_cause is not None
    texts = [item.text for item in diagnosis.root_cause.evidence]
    assert "BOOM here" in texts[0]
    assert sum(text.count("\n") + 1 for text in texts) < 60
    assert sum(map(len, texts)) < 8000


def test_an_unknown_end_shows_the_launcher_s_first_word_on_a_lost_process() -> None:
    """It names the process and where it ran; the driver's own end names neither."""
    lost = rule("user_exception.wrapper.ray", "worker died", role="cascade", cause=None)
    told = [said(1, "epoch 1"), said(2, "a worker died on node 7"), said(3, "error: the run failed, see above")]
    findings = [finding for message in told for finding in Matcher([*RULES, lost]).find(message)]
    diagnosis = judge(Story(KEY, tuple(m.first for m in told)), told, findings, Timeline(), Options())
    assert diagnosis.category == "unknown"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].text == "a worker died on node 7"
