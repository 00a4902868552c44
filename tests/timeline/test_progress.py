"""Steps, checkpoints, work lost, and what the remarks say of them."""

from __future__ import annotations

import pytest
from chain import BEGIN, lines, timeline_of

from analyzer.model import Entry
from analyzer.timeline.sentences import duration

SET_UP = (0.0, "service", "Waiting for training program to start.")
RUNNING = (10.0, "service", "Job is running.")
START = "Running task with arguments: --cluster={} --task={}"
FAILED = "The replica workerpool0-0 exited with a non-zero status of {}. Termination reason: Error."
EXIT = "Task completed. Exit code ({}). Exit reason (SUBPROCESS_EXCEPTION)"
OVER = "Job failed."


def failing(*said: tuple[float, str], hours: float = 1.0, code: int = 1) -> list[Entry]:
    """A job of one replica that prints something and fails after some hours."""
    end = hours * 3600
    own = [(seconds, "workerpool0-0", text) for seconds, text in said]
    return lines(
        SET_UP, RUNNING, (12, "workerpool0-0", START), *own, (end, "workerpool0-0", EXIT.format(code)),
        (end + 20, "service", FAILED.format(code)), (end + 90, "service", OVER),
    )  # fmt: skip


def test_lost_work_is_counted_from_the_last_checkpoint() -> None:
    """From the line that says so to the end of the failing run; without one from when the job ran."""
    saved = failing((600, "Saving checkpoint... step 40 -> gs://b/step_40.pt"), (1800, "step 90 loss 0.5"))
    assert timeline_of(saved).lost_seconds == 3000
    assert timeline_of(failing((1800, "step 90 loss 0.5"))).lost_seconds == 3590


def test_several_lines_about_one_checkpoint_are_one() -> None:
    """It begins, and it is written: the last line counts."""
    timeline = timeline_of(
        failing(
            (600, "saving checkpoint at iteration    40 to /ckpt in torch_dist format"),
            (640, "  successfully saved checkpoint from iteration    40 to /ckpt [ t 1/1, p 1/1 ]"),
        )
    )
    assert [(c.step, c.time) for c in timeline.checkpoints] == [(40, BEGIN.plus(640))]


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("Saving checkpoints for 13597 into gs://b/model.ckpt.", 13597),
        ("Saving model checkpoint to gs://b/checkpoint-924", 924),
        ("I1120 04:50:50.607474 14 checkpointer.py:164] Finished saving checkpoint to `gs://b/run/2232`.", 2232),
        ("[torch_checkpoint_engine.py:33:commit] [Torch] Checkpoint global_step106 is ready now!", 106),
        (
            "Epoch 0, global step 3043: 'v' reached 1.9 (best 1.9), saving model to 'gs://b/step=3043.ckpt' as top 1",
            3043,
        ),
    ],
)
def test_frameworks_name_the_step_of_a_checkpoint_in_their_own_ways(text: str, step: int) -> None:
    """By a number, or by the name of the file."""
    assert [checkpoint.step for checkpoint in timeline_of(failing((600, text))).checkpoints] == [step]


def test_a_restart_that_resumed_says_from_where() -> None:
    """The last step before and the step that was taken up tell how much was done twice."""
    timeline = timeline_of(
        lines(
            SET_UP, RUNNING, (12, "workerpool0-0", START), (600, "workerpool0-0", "step 90 loss 0.5"),
            (700, "workerpool0-0", EXIT.format(75)), (710, "workerpool0-0", START),
            (730, "workerpool0-0", "Resuming from gs://b/step_40.pt"), (900, "workerpool0-0", "step 80 loss 0.6"),
        )
    )  # fmt: skip
    assert timeline.progress.resumed_from_step == 40
    assert any("resumed from step 40, 50 steps before" in remark for remark in timeline.remarks)


def test_a_restart_that_began_anew_is_told() -> None:
    """No checkpoint was taken up, and the counter is back at its beginning."""
    timeline = timeline_of(
        lines(
            SET_UP, RUNNING, (12, "workerpool0-0", START), (600, "workerpool0-0", "step 90 loss 0.5"),
            (700, "workerpool0-0", EXIT.format(75)), (710, "workerpool0-0", START), (900, "workerpool0-0", "step 3 loss 2.6"),
        )
    )  # fmt: skip
    assert any("from zero" in remark for remark in timeline.remarks)


def test_four_hours_without_a_checkpoint_bring_the_documented_advice() -> None:
    """Less than that does not."""
    steps = [(seconds, f"step {seconds} loss 1.0") for seconds in range(600, 14_000, 600)]
    long, short = timeline_of(failing(*steps, hours=5)), timeline_of(failing(*steps[:5], hours=3))
    assert any("no checkpoint was saved" in remark and "every 4 hours" in remark for remark in long.remarks)
    assert not any("no checkpoint was saved" in remark for remark in short.remarks)


def test_the_interval_is_worked_out_from_stated_inputs() -> None:
    """One failure in 18,080 s, a minute to write: √(2 · 60 · 18,080) is 1,473 s."""
    remarks = timeline_of(failing((600, "step 1 loss 1.0"), hours=5, code=139)).remarks
    (told,) = [remark for remark in remarks if "Young/Daly" in remark]
    assert "every 24 min" in told
    assert "5 h 1 min between failures" in told
    assert "assumption" in told


def test_a_number_longer_than_any_step_is_no_step() -> None:
    """Hostile digits are left alone."""
    timeline = timeline_of(failing((600, f"step {'9' * 5000} loss 1.0")))
    assert timeline.progress.last_step is None


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0 s"), (59.6, "1 min"), (45, "45 s"), (4920, "1 h 22 min"), (180_000, "2 d 2 h")]
)
def test_durations_are_shown_in_their_two_largest_units(seconds: float, shown: str) -> None:
    """As a person would say them."""
    assert duration(seconds * 1e9) == shown


def test_a_run_that_ends_silently_worked_until_something_tells_of_its_end() -> None:
    """Its last line is no end: the service's word is the first sign of it."""
    said = lines(
        SET_UP, RUNNING, (12, "workerpool0-0", "walnut begins"), (600, "workerpool0-0", "step 40 loss 0.5"),
        (3600, "service", "The replica workerpool0-0 ran out-of-memory and exited with a non-zero status of 137."),
        (3690, "service", OVER),
    )  # fmt: skip
    assert timeline_of(said).lost_seconds == 3590
