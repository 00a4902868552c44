"""What a timeline tells in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

from chain import BEGIN, lines, timeline_of
from distortions import changed

from analyzer.model import Entry

SET_UP = (0.0, "service", "Waiting for training program to start.")
START = "Running task with arguments: --cluster={} --task={}"
EXIT = "Task completed. Exit code ({}). Exit reason (SUBPROCESS_EXCEPTION)"
KEY_ERROR = (
    "Traceback (most recent call last):\n  File \"/app/fit.py\", line 3, in <module>\n    main()\nKeyError: 'depth'"
)


def failures(steps: Sequence[int], texts: Sequence[str] = ()) -> list[Entry]:
    """A replica that fails once after each of these steps."""
    said: list[tuple[float, str, str]] = [SET_UP]
    for place, step in enumerate(steps):
        begin = 60 + place * 600
        text = texts[place] if texts else KEY_ERROR
        said += [(begin, "workerpool0-0", START), (begin + 300, "workerpool0-0", f"step {step} loss 1.0")]
        said += [(begin + 301, "workerpool0-0", text), (begin + 303, "workerpool0-0", EXIT.format(75))]
    return lines(*said)


def test_the_same_failure_at_the_same_step_will_not_go_away() -> None:
    """Three times the same at step 1200."""
    remarks = timeline_of(failures((1200, 1200, 1200))).remarks
    assert any("3 times" in r and "step 1200" in r and "will not help" in r for r in remarks)


def test_a_failure_that_moves_is_told_apart() -> None:
    """The same error, but each time at another step."""
    remarks = timeline_of(failures((1200, 800, 1900))).remarks
    assert any("different steps (1200, 800, 1900)" in r for r in remarks)
    assert not any("will not help" in r for r in remarks)


def test_failures_of_different_kinds_are_not_called_one() -> None:
    """Each is named."""
    remarks = timeline_of(
        failures((5, 5), (KEY_ERROR, KEY_ERROR.replace("KeyError: 'depth'", "ZeroDivisionError: division by zero")))
    ).remarks
    assert any("differ" in r for r in remarks)


def test_remarks_speak_german() -> None:
    """The same in the other language."""
    remarks = timeline_of(failures((1200, 1200, 1200)), lang="de").remarks
    assert any("jedes Mal bei Schritt 1200" in r for r in remarks)


def test_the_replica_that_fell_silent_first_is_named() -> None:
    """Where the others only complain and nobody failed by itself."""
    said: list[tuple[float, str, str]] = [SET_UP, (50, "service", "Job is running.")]
    for n in range(3):
        said.append((60 + n, f"workerpool1-{n}", START))
        last = 600 if n == 1 else 1200
        said += [(t + n, f"workerpool1-{n}", f"step {t} loss 1.0") for t in range(120, last, 60)]
        if n != 1:
            text = "node-a:31:62 [0] include/socket.h:423 NCCL WARN Net : Connection closed by remote peer node-b<4>"
            said.append((1210, f"workerpool1-{n}", text))
    timeline = timeline_of(lines(*said, (1300, "service", "Job failed.")))
    assert any(r.startswith("workerpool1-1 fell silent first") for r in timeline.remarks)


TIMED_OUT = (
    "[rank0]:[E304 05:20:01.0 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=91, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600012 milliseconds "
    "before timing out."
)


def hanging(last_word: str = "Job failed.") -> list[Entry]:
    """Two of three replicas wait in vain for the third, which prints nothing more."""
    said: list[tuple[float, str, str]] = [SET_UP, (50, "service", "Job is running.")]
    for n in range(3):
        name, end = f"workerpool1-{n}", 600 if n == 1 else 1200
        said.append((60 + n, name, START))
        said += [(t + n, name, f"step {t} loss 1.0") for t in range(120, end, 60)]
        said.append((end + n, name, "evaluating shard 17" if n == 1 else "reducing gradients"))
        if n != 1:
            said.append((1810 + n, name, TIMED_OUT))
    return lines(*said, (1900, "service", last_word))


def test_the_last_lines_before_a_hang_are_told() -> None:
    """Like ones once, with how many said them; first those of who stopped first."""
    remarks = timeline_of(hanging()).remarks
    assert any(r.startswith("workerpool1-1 fell silent first") for r in remarks)
    assert any("workerpool1-1 “evaluating shard 17”; 2 replicas “reducing gradients”" in r for r in remarks)


def test_a_job_that_was_cancelled_did_not_hang() -> None:
    """Someone ended it, whatever the replicas complained of."""
    remarks = timeline_of(hanging("Job cancelled.")).remarks
    assert not any("silent" in r or "said last" in r for r in remarks)


def test_a_replica_that_never_talks_much_is_not_called_silent() -> None:
    """A parameter server says nothing after its start while the others train."""
    said: list[tuple[float, str, str]] = [SET_UP, (60, "ps-replica-0", START)]
    for n in range(2):
        name = f"worker-replica-{n}"
        said.append((61 + n, name, START))
        said += [(t + n, name, f"step {t} loss 1.0") for t in range(120, 1200, 60)]
        said.append((1810 + n, name, TIMED_OUT))
    remarks = timeline_of(lines(*said, (1900, "service", "Job failed."))).remarks
    assert not any("silent first" in r for r in remarks)


def test_replicas_of_the_cluster_specification_are_missed() -> None:
    """The runner prints which hosts the job has; one of them says nothing at all."""
    hosts = '"worker": ["cmle-training-worker-0a1b2c3d4e-0:2222", "cmle-training-worker-0a1b2c3d4e-1:2222"]'
    start = f'Running task with arguments: --cluster={{"master": ["cmle-training-master-0a1b2c3d4e-0:2222"], {hosts}}}'
    timeline = timeline_of(lines(SET_UP, (60, "master-replica-0", start), (61, "worker-replica-0", start)))
    assert any(r.startswith("worker-replica-1 never started") for r in timeline.remarks)


def test_replicas_that_never_started_are_named() -> None:
    """Two of the first attempt do not come up in the second, and one between known numbers never did."""
    first = [(60.0 + n, f"workerpool1-{n}", START) for n in (0, 1, 3)]
    timeline = timeline_of(lines(SET_UP, *first))
    assert any(r.startswith("workerpool1-2 never started") for r in timeline.remarks)


def test_events_are_the_lines_themselves_in_order() -> None:
    """A report shows them beside the runs."""
    events = timeline_of(failures((5, 5))).events
    assert [event.time for event in events] == sorted(event.time for event in events if event.time is not None)
    assert (events[0].kind, events[0].time, events[0].text) == ("attempt_begin", BEGIN, SET_UP[2])
    assert [event.kind for event in events if event.replica == "workerpool0-0"] == ["failure", "failure"]


def test_an_attempt_that_no_line_announces_is_told_as_deduced() -> None:
    """All replicas came back on other machines, and nothing else says that the job was tried again."""
    first = [(60.0 + n, f"workerpool1-{n}", START) for n in range(2)]
    again = lines(
        *((900.0 + n, f"workerpool1-{n}", START) for n in range(2)),
        nodes={f"workerpool1-{n}": f"b{n}" for n in range(2)},
    )
    timeline = timeline_of(
        [*lines(SET_UP, *first), *(changed(entry, insert_id=f"b{entry.insert_id}") for entry in again)]
    )
    assert len(timeline.attempts) == 2
    assert any("No line tells that attempt 2 began" in r for r in timeline.remarks)


def test_an_error_that_always_comes_back_needs_no_more_checkpoints() -> None:
    """An interval is worked out only where failures come by chance."""
    same, moving = timeline_of(failures((1200, 1200, 1200))), timeline_of(failures((1200, 800, 1900)))
    assert not any("Young/Daly" in r for r in same.remarks)
    assert any("Restarts and failures cost" in r for r in same.remarks)
    assert any("Restarts and failures cost" in r for r in moving.remarks)


def restarted(times: int, *, over: bool = False) -> list[Entry]:
    """A worker that was restarted so many times, each for another error, and works on."""
    said: list[tuple[float, str, str]] = [SET_UP, (50, "workerpool0-0", START), (51, "service", "Job is running.")]
    for n in range(times):
        begin = 100 + n * 600
        said += [(begin, "workerpool0-0", f"step {n} loss 1.0"), (begin + 300, "workerpool0-0", EXIT.format(75))]
        said.append((begin + 310, "workerpool0-0", START))
    end = 100 + times * 600
    last = [(end + 60.0, "service", "Job failed.")] if over else []
    return lines(*said, (end, "workerpool0-0", "step 90 loss 0.2"), *last)


def test_a_running_job_is_told_what_comes_next() -> None:
    """A restart in place while any is left, then a retry of the job; a job that has ended needs no such word."""
    few, all_used = timeline_of(restarted(3)).remarks, timeline_of(restarted(5)).remarks
    assert any("used 3 of 5 restarts" in r and "on the same machine" in r for r in few)
    assert any("used 5 of 5 restarts" in r and "3 of 3 retries are left" in r for r in all_used)
    assert not any("in the running attempt" in r for r in timeline_of(restarted(3, over=True)).remarks)
