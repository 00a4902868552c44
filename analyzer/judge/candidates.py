"""Candidates: findings that could be the cause, each once, with the story of where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from analyzer.judge.course import Course
from analyzer.judge.sentences import sentence
from analyzer.model import Instant, Message, Point
from analyzer.rulebook import Finding, Role
from analyzer.rulebook.patterns import compile_pattern
from analyzer.timeline.evidence import number_in, trial_of

GENERIC = 15  # up to this weight a rule says no more than that something was raised
WRAPPERS = "user_exception.wrapper."
"""Rules on what launchers and frameworks say of a process that failed elsewhere."""
NEAR = 40  # messages within which a bare line and a traceback are told to be of one failure


class Candidate(msgspec.Struct, kw_only=True):
    """A possible cause. `others` are findings of the same kind elsewhere; `position` is its message's place."""

    finding: Finding
    position: int
    replica: str | None
    lang: str = "en"  # of its reasons
    others: list[Finding] = []
    points: list[Point] = []
    explained_by: Candidate | None = None
    dropped: str | None = None  # why it is no candidate after all

    @property
    def score(self) -> float:
        """The sum of its points."""
        return sum(point.points for point in self.points)

    @property
    def time(self) -> Instant | None:
        """When the message was logged."""
        return self.finding.time

    @property
    def trial(self) -> int | None:
        """The trial of a tuning job that it is about."""
        return trial_of(self.finding)

    @property
    def cause(self) -> str:
        """The full name, category.cause."""
        return self.finding.rule.cause or "unknown.unknown"

    def give(self, points: float, reason: str, **values: object) -> None:
        """Adds a point for or against; `reason` names a sentence that the values fill."""
        told = sentence(reason, self.lang, {name: str(value) for name, value in values.items()})
        self.points.append(Point(points=points, reason=told))


def replica_of(finding: Finding) -> str | None:
    """The replica that a finding is about; where only a rank is known, `rank3`."""
    if finding.replica:
        return finding.replica
    rank = rank_of(finding)
    return f"rank{rank}" if rank is not None else None


def rank_of(finding: Finding) -> int | None:
    """The rank that a finding is about: as its rule reads it, as a prefix says it, or as c10d names the speaker.

    `ranks` of a rule are those that are missed: one alone is meant. srun's `task` counts over all machines, as a rank
    does. c10d puts `[Rank 3]` (before PyTorch 2.2) or `[PG ID 0 PG GUID 0(default_pg) Rank 3]` before what a rank says.
    """
    for name in ("rank", "ranks", *(("task",) if finding.event == "task_exit" else ())):
        told = number_in(finding.values, name)
        if told is not None:
            return told
    if finding.message.rank is not None:
        return finding.message.rank
    spoken = compile_pattern(r"\[(?:PG [^\]\n]{0,80})?Rank (?P<rank>\d{1,6})\]").search(finding.message.text)
    return int(spoken.groupdict()["rank"] or 0) if spoken else None


def exit_code_of(finding: Finding) -> int | None:
    """The exit code that a finding states; negative where a launcher says so of a signal."""
    return number_in(finding.values, "exit_code")


def can_be_cause(finding: Finding) -> bool:
    """Whether a finding's rule is a root, or a verdict that names a cause."""
    return finding.rule.cause is not None and finding.role in (Role.ROOT, Role.VERDICT)


def build(findings: Sequence[Finding], positions: Mapping[int, int], course: Course) -> list[Candidate]:
    """The candidates of a job: of several findings on one message the most specific, of repeats the telling one.

    A message that a noise rule names gives no candidate, and one that a cascade rule names no generic one. Of findings
    of one rule on one replica the first of the replica's last life stands for all, since earlier lives were survived.
    """
    noisy = _outweighed(findings)
    best: dict[int, Finding] = {}
    for finding in findings:
        if not can_be_cause(finding) or noisy.get(id(finding.message), -1) >= finding.rule.weight:
            continue
        known = best.get(id(finding.message))
        if known is None or _more_specific(finding, known):
            best[id(finding.message)] = finding
    groups: dict[tuple[str, str | None], list[Finding]] = {}
    for finding in sorted(best.values(), key=lambda f: (positions[id(f.message)], f.rule.id)):
        groups.setdefault((finding.rule.id, replica_of(finding)), []).append(finding)
    return [_stand_for(group, positions, course) for group in groups.values()]


def _outweighed(findings: Sequence[Finding]) -> dict[int, int]:
    """By message: the weight up to which a finding on it is no candidate, since it is known noise or a cascade.

    A wrapper that quotes the exception that it passes on hides nothing.
    """
    limits: dict[int, int] = {}
    for finding in findings:
        cascade = finding.role is Role.CASCADE and not _quotes_the_cause(finding)
        limit = finding.rule.weight if finding.role is Role.NOISE else GENERIC if cascade else -1
        limits[id(finding.message)] = max(limit, limits.get(id(finding.message), -1))
    return limits


def _quotes_the_cause(finding: Finding) -> bool:
    """Whether it is a wrapper's report with the exception of the process or executor that it speaks for."""
    inner = finding.message.exceptions[:-1]
    return finding.rule.id.startswith(WRAPPERS) and any(link.relation in ("remote", "cause") for link in inner)


def _more_specific(one: Finding, other: Finding) -> bool:
    return (one.rule.weight, one.role is Role.ROOT, other.rule.id) > (
        other.rule.weight,
        other.role is Role.ROOT,
        one.rule.id,
    )


def _stand_for(group: list[Finding], positions: Mapping[int, int], course: Course) -> Candidate:
    replica = replica_of(group[0])
    recent = [f for f in group if course.in_last_life(replica, f.time, trial_of(f))]
    latest = [f for f in recent if not course.went_on_after(f.message)]
    first = _most_telling(latest or group[-1:], positions)
    others = [finding for finding in group if finding is not first]
    return Candidate(
        finding=first, position=positions[id(first.message)], replica=replica, lang=course.lang, others=others
    )


def _most_telling(group: Sequence[Finding], positions: Mapping[int, int]) -> Finding:
    """The first of some like findings; of one failure a traceback rather than a bare line: it says where and how."""
    first = group[0]
    if first.message.exceptions:
        return first
    near = positions[id(first.message)] + NEAR
    whole = (f for f in group if f.message.kind == "traceback" and positions[id(f.message)] <= near)
    return next(whole, first)


def place_of(messages: Sequence[Message]) -> dict[int, int]:
    """The place of every message in the log."""
    return {id(message): place for place, message in enumerate(messages)}
