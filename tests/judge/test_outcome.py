"""How a job ended, where no line states it."""

from __future__ import annotations

import pytest
from small_jobs import said

from analyzer.entries import Story
from analyzer.judge.outcome import outcome_of
from analyzer.model import SECOND, Attempt, Instant, JobKey, ReplicaRuns, Run, Timeline


def pods(*runs: tuple[int, int, int]) -> Timeline:
    """A pod for each begin, end (seconds) and exit code."""
    lanes = [
        ReplicaRuns(
            name=f"task-{number}",
            runs=[Run(start=Instant(begin * SECOND), end=Instant(end * SECOND), exit_code=code,
                      reason="error" if code else "completed")],
        )
        for number, (begin, end, code) in enumerate(runs)
    ]  # fmt: skip
    return Timeline(attempts=[Attempt(number=1, replicas=lanes)])


@pytest.mark.parametrize(
    ("runs", "outcome"),
    [
        ([(0, 60, 1), (90, 300, 0)], "succeeded"),  # a pod in place of the one that failed
        ([(0, 60, 1), (90, 300, 1)], "failed"),
        ([(0, 60, 0), (0, 90, 1)], "failed"),  # side by side: the one that ended well is no retry
    ],
)
def test_a_pod_that_ends_well_in_place_of_a_failed_one_is_a_retry(
    runs: list[tuple[int, int, int]], outcome: str
) -> None:
    """Workflow engines start the next pod under another name; what follows the failure counts."""
    story = Story(JobKey("gke", "p", "task"), (said(0, "x").first,))
    assert outcome_of(story, [], [], pods(*runs), True, "en").outcome == outcome
