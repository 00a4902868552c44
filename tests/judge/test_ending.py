"""How a program's own output ended, where nobody states it."""

from __future__ import annotations

import pytest
from small_jobs import RULES, rule, said

from analyzer.entries import Options, Story
from analyzer.judge import judge
from analyzer.model import Diagnosis, JobKey, Timeline
from analyzer.rulebook import Matcher

MATCHER = Matcher([
    *RULES,
    rule("progress.shown", "final (?:score|model)", role="progress", event="results"),
    rule("progress.orderly", "bye now", role="progress", event="last_sign"),
    rule("progress.planned", "will make (?P<steps>\\d+) steps", role="progress", event="steps_planned"),
    rule("progress.done", "TRAINING OVER", role="progress", event="training_done"),
    rule("user_exception.crash.abort", "INTERPRETER ABORTED", cause="user_exception.crash_signal_sigabrt"),
    rule("user_exception.raised", "ValueError: (?P<what>\\w+)", weight=10),
    rule("noise.passed_over", "skipping this one", role="noise", weight=90),
])  # fmt: skip
STEPS = [f"step {number} done" for number in range(1, 6)]
RAISED = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: bad'


def ended(*lines: str) -> Diagnosis:
    """The diagnosis of a plain output."""
    messages = [said(second, line, None) for second, line in enumerate(lines)]
    findings = [finding for message in messages for finding in MATCHER.find(message)]
    story = Story(JobKey("local", "", "out"), tuple(message.first for message in messages))
    return judge(story, messages, findings, Timeline(), Options())


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        ([*STEPS, "final score 0.9"], "succeeded"),
        ([*STEPS, "final score 0.9", "cleaning up", "closing the loader"], "succeeded"),
        ([*STEPS, "final score 0.9", "upload failed: no such bucket"], "unknown"),
        ([*STEPS, "final score 0.9", *STEPS], "unknown"),  # an evaluation on the way
        (["step 1 done", "final score 0.1", "step 2 done", "final score 0.2"], "unknown"),  # one of many
        ([*STEPS, "caught SIGTERM", "final model stored"], "unknown"),  # what it had, not what it was to make
        ([*STEPS, "bye now"], "succeeded"),
        (["loading", "bye now"], "unknown"),  # an order of nothing
        ([*STEPS, "cannot read the labels", "bye now"], "unknown"),
        (["will make 5 steps", *STEPS], "succeeded"),
        (["will make 9 steps", *STEPS], "unknown"),
        ([*STEPS, "final score 0.9", "BOOM late"], "failed"),
    ],
)
def test_the_last_act_of_the_output_tells_a_good_end_unless_something_speaks_against_it(
    lines: list[str], outcome: str
) -> None:
    """Results that are shown or stored at the very end, an order after work, a counter that came to its number."""
    assert ended(*lines).outcome == outcome


def test_an_exception_amid_the_ordinary_lines_of_a_program_was_caught() -> None:
    """The same kinds of lines came again and again before it, and come again after it."""
    batches = [f"batch {number} ok" for number in range(20)]
    assert ended(*batches[:10], RAISED, *batches[10:]).outcome == "unknown"
    assert ended(*batches, RAISED, "closing the loader").outcome == "failed"


def test_an_exception_that_is_said_to_be_passed_over_is_no_end_if_the_program_goes_on() -> None:
    """A last word on another thing does not excuse the exception that ends the program."""
    assert ended("load", "skipping this one", RAISED, "more", "and more", "still more").outcome == "unknown"
    assert ended("load", "skipping this one", RAISED).outcome == "failed"


def test_a_crash_between_the_end_of_training_and_its_stored_results_is_survived() -> None:
    """Libraries crash as they are unloaded; a crash before training was done is another thing."""
    assert ended(*STEPS, "TRAINING OVER", "INTERPRETER ABORTED", "final model stored").outcome == "succeeded"
    assert ended(*STEPS, "TRAINING OVER", "INTERPRETER ABORTED").outcome == "failed"
    assert ended(*STEPS, "INTERPRETER ABORTED", "final model stored").outcome == "failed"
