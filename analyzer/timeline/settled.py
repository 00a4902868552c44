"""The timeline once more, when the judge knows how the job ended and the first telling could only guess."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.entries import Options, Story
from analyzer.model import Diagnosis, Message, Timeline
from analyzer.rulebook import Finding
from analyzer.timeline.endings import Judged
from analyzer.timeline.reconstruct import reconstruct


def settled(
    diagnosis: Diagnosis, story: Story, messages: Sequence[Message], findings: Sequence[Finding], options: Options
) -> Timeline:
    """The diagnosis's timeline, told again where it does not agree with the outcome.

    A program that speaks alone may complain and go on: what looked like its end was none. And a launcher's report
    tells of a failure without telling of the container's end.
    """
    judged = _judged(diagnosis)
    return diagnosis.timeline if judged is None else reconstruct(story, messages, findings, options, judged)


def _judged(diagnosis: Diagnosis) -> Judged | None:
    """What the judge knows better than the timeline; None where they agree."""
    attempts, outcome, root = diagnosis.timeline.attempts, diagnosis.outcome, diagnosis.root_cause
    if not attempts:
        return None
    end = attempts[-1].end_reason
    if outcome == "succeeded" and end != "success":
        return Judged(outcome)
    if outcome in ("unknown", "running") and end not in (None, "success", "cancelled"):
        return Judged(outcome)
    stated = root is not None and root.exit_code is not None
    if outcome == "failed" and end is None and root is not None and stated and attempts[-1].replicas:
        return Judged(outcome, diagnosis.category, root.replica)
    return None
