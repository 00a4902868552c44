"""Reads an exit code where no line of the log says more: it is evidence too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from analyzer.facts.tables import table
from analyzer.judge.candidates import Candidate
from analyzer.judge.course import Course
from analyzer.model import Origin
from analyzer.model.numbers import number
from analyzer.rulebook import Finding, Role, Rule
from analyzer.rulebook.schema import Condition, Text
from analyzer.timeline.evidence import trial_of


class ExitCause(msgspec.Struct, frozen=True):
    """What some exit codes prove by themselves (`rules/tables/exit_causes.yaml`)."""

    codes: list[int]
    cause: str
    weight: int
    retry: str
    title: Text
    before_peers: bool = False  # no lost connection or vain wait gives this code


@lru_cache(maxsize=1)
def exit_causes() -> Mapping[int, ExitCause]:
    """The table by code."""
    rows = table("exit_causes", list[ExitCause])
    return {code: row for row in rows for code in row.codes}


def exit_candidates(
    findings: Sequence[Finding], positions: Mapping[int, int], course: Course, *, before_peers: bool = False
) -> list[Candidate]:
    """Candidates out of the platform's words on exit codes, in the job's last life; a container's own count last.

    `before_peers`: only codes that no trouble with peers gives.
    """
    found: list[Candidate] = []
    for finding in sorted(findings, key=lambda finding: finding.message.origin is Origin.REPLICA):
        code = finding.values.get("exit_code")
        if finding.role is not Role.VERDICT or finding.rule.cause is not None or code is None:
            continue
        row = exit_causes().get(number(code) or 0)
        if row is None or (before_peers and not row.before_peers):
            continue
        if not course.in_last_life(finding.replica, finding.time, trial_of(finding)):
            continue
        rule = Rule(id=f"exit_code.{code.lstrip('-')}", title=row.title, role=Role.ROOT, when=Condition(regex="exit"),
                    cause=row.cause, weight=row.weight, retry=row.retry)  # fmt: skip
        candidate = Candidate(
            finding=Finding(rule, finding.message, finding.values),
            position=positions[id(finding.message)],
            replica=finding.replica,
            lang=course.lang,
        )
        candidate.give(row.weight, "code_says_this", code=code)
        if before_peers:
            candidate.give(20, "no_peer_gives_code")
        found.append(candidate)
    return found[:1]
