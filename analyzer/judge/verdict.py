"""Chooses the cause: weighs the candidates and says why each of the others is not it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from analyzer.judge.candidates import Candidate, build, place_of
from analyzer.judge.course import Course
from analyzer.judge.exits import exit_candidates
from analyzer.judge.weigh import PEER_TROUBLE, weigh
from analyzer.model import Message
from analyzer.rulebook import Finding

CONVINCING = 10.0
"""The least score at which a candidate is called the cause; below it the answer is `unknown`."""


class Verdict(msgspec.Struct):
    """The chosen cause (None: none convinces), its rivals best first, and those that something else explains."""

    chosen: Candidate | None
    rivals: list[Candidate]
    explained: list[Candidate]


def choose(messages: Sequence[Message], findings: Sequence[Finding], course: Course) -> Verdict:
    """The verdict over a job's findings. Ties are broken by time, then by place in the log, then by rule id.

    Hearsay is never it: who would know says so himself, or the answer is unknown.
    """
    positions = place_of(messages)
    candidates = build(findings, positions, course)
    weigh(candidates, findings, course)
    standing = [c for c in candidates if c.explained_by is None]
    convincing = [c for c in standing if c.score >= CONVINCING]
    if not convincing:
        standing += exit_candidates(findings, positions, course)
    elif all(c.finding.rule.category in PEER_TROUBLE for c in convincing):
        standing += exit_candidates(findings, positions, course, before_peers=True)
    ranked = sorted(standing, key=_rank)
    convincing = [c for c in ranked if c.score >= CONVINCING]
    best = next((c for c in convincing if not c.finding.hearsay), None)
    rivals = [candidate for candidate in ranked if candidate is not best]
    return Verdict(best, rivals, [c for c in candidates if c.explained_by is not None])


def _rank(candidate: Candidate) -> tuple[float, int, int, str]:
    time = candidate.time
    return (-candidate.score, int(time) if time is not None else 0, candidate.position, candidate.finding.rule.id)
