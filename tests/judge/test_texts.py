"""Texts with the values of a case: what is not known is not told, and commands fit the platform."""

from __future__ import annotations

import pytest

from analyzer.judge.commands import fitting
from analyzer.judge.texts import CaseTexts
from analyzer.model import Attempt, Job, ReplicaRuns, Run, Timeline
from analyzer.rulebook.text import fill


@pytest.mark.parametrize(
    ("template", "values", "text"),
    [
        ("it failed ({path|see line})", {}, "it failed"),
        ("it failed ({path|see line})", {"path": "/a"}, "it failed (/a)"),
        ("it failed ({file|?}:{line|?}).", {"line": "3"}, "it failed (?:3)."),
        ("full (/dev/shm) of {name}", {}, "full (/dev/shm) of unknown"),
        ("it said: {words}.", {"words": "no heads."}, "it said: no heads."),
        ("it said: {words}", {"words": "no heads."}, "it said: no heads"),
        ("it said: {words}.", {"words": "wait ..."}, "it said: wait ...."),
        ("{words} and went on", {"words": "etc."}, "etc. and went on"),
    ],
)
def test_brackets_and_full_stops(template: str, values: dict[str, str], text: str) -> None:
    """Brackets need a value that is known; a value's own full stop is not doubled."""
    assert fill(template, values) == text


def test_commands_fit_the_platform() -> None:
    """A cluster's command is given where there may be such a cluster, and replaced where the same is done otherwise."""
    drain = "kubectl drain {node} --ignore-daemonsets"
    assert fitting(drain, "gke") == drain
    assert (fitting(drain, "slurm") or "").startswith("scontrol update NodeName={node} State=DRAIN")
    assert fitting(drain, "vertex") is None
    assert fitting("kubectl get events", "local") == "kubectl get events"
    assert fitting("nvidia-smi -q", "vertex") == "nvidia-smi -q"


def test_a_success_names_the_trials_that_failed() -> None:
    """Each trial by the end of its last run."""
    ends = {1: "completed", 2: "error", 3: "stopped"}
    lanes = [ReplicaRuns(name="master-replica-0", trial=n, runs=[Run(reason=end)]) for n, end in ends.items()]
    texts = CaseTexts(Job(id="7", platform="vertex"), "en")
    assert texts.success(Timeline(attempts=[Attempt(number=1, replicas=lanes)])) == (
        "The job succeeded; 1 of its 3 trials failed."
    )
