"""Writes the parts of a diagnosis out of candidates and findings."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.entries import Options, Story
from analyzer.judge.candidates import Candidate, exit_code_of, rank_of, replica_of
from analyzer.judge.course import Course
from analyzer.judge.evidence import Mask, evidence_of, message_evidence, proof_of, stated_time, within_bounds
from analyzer.judge.locate import Place
from analyzer.judge.replicas import names_of
from analyzer.judge.unknown import telling_messages
from analyzer.judge.verdict import Verdict
from analyzer.judge.weigh import PEER_TROUBLE, VERDICT_LAG
from analyzer.model import Alternative, Evidence, JobKey, Message, RootCause, RuledOut, Symptom
from analyzer.rulebook import Finding, Role
from analyzer.rulebook.conditions import line_of
from analyzer.timeline.evidence import number_in, trial_of

_TELLS_EACH_END = frozenset(("vertex", "ai_platform"))  # services that name the replica with each exit code
MAX_SYMPTOMS = 12
MAX_ALTERNATIVES = 6


def root_cause_of(
    chosen: Candidate, place: Place, story: Story, findings: Sequence[Finding], course: Course, mask: Mask,
    options: Options,
) -> RootCause:  # fmt: skip
    """The chosen cause with its evidence: first the proving message, then what supports it; `place`: where it was."""
    finding, replica = chosen.finding, place.replica
    code, signal = _exit(finding, place, findings, course, options, story.key.platform)
    pair = course.run_at(replica, finding.time, chosen.trial)
    support = _support(chosen, findings)
    evidence = proof_of(finding, story.key, mask)
    evidence += [evidence_of(other, story.key, mask, support=True) for other in support]
    return RootCause(
        rule=finding.rule.id,
        replica=replica and names_of(story).stable(replica),
        rank=place.rank,
        attempt=pair[0].number if pair else None if chosen.trial is not None else finding.message.first.attempt,
        trial=chosen.trial,
        time=stated_time(finding.message),
        exit_code=code,
        signal=signal or finding.values.get("signal"),
        evidence=within_bounds(evidence),
        values={name: mask(value) for name, value in sorted(finding.values.items())},
    )


def _exit(
    finding: Finding, place: Place, findings: Sequence[Finding], course: Course, options: Options, platform: str
) -> tuple[int | None, str | None]:
    """The exit code of the failing replica: as the caller knows it, as the finding says it, as the platform says it.

    Where only others' ends are told, by launchers that tell of whom they please, a code that all agree on is the job's.
    """
    replica = place.replica
    known = options.exit_codes.get(replica, options.exit_codes.get(None))
    if known is not None:
        return known, None
    own = exit_code_of(finding)
    if own is not None:
        return own, finding.values.get("signal")
    code, signal = course.exit_of(replica, finding.time, trial_of(finding))
    if code is not None:
        return code, signal
    alike = finding.rule.category in PEER_TROUBLE  # all processes end of it in one way
    words = [f for f in findings if _tells_an_end(f) and exit_code_of(f) is not None]
    words = [f for f in words if alike or not _is_beyond(f, place.rank)]
    mine = [f for f in words if replica_of(f) == replica or rank_of(f) == place.rank is not None]
    beside = [f for f in words if f.message.rank == finding.message.rank is not None]  # by the launcher of its node
    alone = [f for f in words if not f.replica] or ([] if replica else words)
    agreed = words if len({exit_code_of(f) for f in words}) == 1 and platform not in _TELLS_EACH_END else []
    for told in (mine or beside or alone or agreed)[-1:]:
        return exit_code_of(told), told.values.get("signal")
    return None, None


def _is_beyond(finding: Finding, rank: int | None) -> bool:
    """Whether it tells of a process that has a higher rank on its machine than another has in the whole job."""
    local = number_in(finding.values, "local_rank")
    return rank is not None and local is not None and local > rank


def _tells_an_end(finding: Finding) -> bool:
    return finding.role is Role.VERDICT or finding.event in ("container_exit", "replica_failed")


def _support(chosen: Candidate, findings: Sequence[Finding]) -> list[Finding]:
    """What else proves it: other messages of the same cause, other speakers on the category, the platform's word."""
    own = chosen.finding.message
    others = [f for f in findings if f.message is not own]
    same = [f for f in others if f.rule.cause == chosen.cause and f.rule.id != chosen.finding.rule.id]
    speakers = [
        f
        for f in others
        if f.rule.cause is not None
        and f.rule.category == chosen.finding.rule.category
        and f.message.origin is not own.origin
    ]
    words = [
        f for f in others if f.role is Role.VERDICT and "exit_code" in f.values and f.replica in (chosen.replica, None)
    ]
    return [*same[:2], *speakers[:2], *words[-1:]]


def unknown_cause(
    story: Story, messages: Sequence[Message], findings: Sequence[Finding], course: Course, mask: Mask, options: Options
) -> RootCause | None:
    """Where nothing convinces: no rule, the run that ended the job, and the most telling lines as evidence."""
    if not messages:
        return None
    telling = telling_messages(messages, findings, options.known_shapes)
    verdict = next((f for f in findings if f.message is telling[0] and "exit_code" in f.values), None)
    replica = (replica_of(verdict) if verdict else None) or telling[0].replica
    code, signal = (exit_code_of(verdict), verdict.values.get("signal")) if verdict else (None, None)
    attempt = None
    time = stated_time(telling[0])
    failing = course.failing_run()
    if failing is not None and (verdict is None or failing[2].exit_code is not None):
        run = failing[2]
        if verdict is None or verdict.replica != failing[0]:
            time = run.end
        replica, attempt, code, signal = failing[0], failing[1].number, run.exit_code, run.signal
    known = options.exit_codes.get(replica, options.exit_codes.get(None))
    return RootCause(
        rule=None,
        replica=None if replica in (None, "service") else names_of(story).stable(replica),
        rank=telling[0].rank,
        attempt=attempt,
        time=time,
        exit_code=code if known is None else known,
        signal=signal,
        evidence=within_bounds(item for message in telling for item in _shown(message, story.key, mask)),
    )


def _shown(message: Message, key: JobKey, mask: Mask) -> list[Evidence]:
    """A message that proves nothing: of a traceback first the line that names the last exception."""
    whole = message_evidence(message, key, mask, lines=12, chars=2000)
    place = line_of(message.exceptions[-1], message) if message.kind == "traceback" and message.exceptions else None
    if place is None:
        return [whole]
    return [message_evidence(message, key, mask, place, lines=1, chars=2000), whole]


def alternatives_of(rivals: Sequence[Candidate], key: JobKey, mask: Mask) -> list[Alternative]:
    """The runners-up with their points."""
    found = []
    for rival in rivals[:MAX_ALTERNATIVES]:
        category, cause = rival.cause.split(".", 1)
        found.append(
            Alternative(
                rule=rival.finding.rule.id, category=category, cause=cause, replica=rival.replica, time=rival.time,
                score=round(rival.score, 1), points=list(rival.points),
                evidence=evidence_of(rival.finding, key, mask, support=True),
            )
        )  # fmt: skip
    return found


def symptoms_of(verdict: Verdict, findings: Sequence[Finding], key: JobKey, mask: Mask) -> list[Symptom]:
    """What follows from the cause: candidates that it explains and cascades; each kind once a replica.

    What an earlier failure of the same kind explains, which was survived, follows from that one.
    """
    chosen = verdict.chosen.finding.rule.id if verdict.chosen else None
    pairs: list[tuple[Finding, str | None]] = []
    for candidate in verdict.explained:
        cause = candidate.explained_by
        if cause is not None and cause.finding.rule.id == chosen and _long_before(candidate, verdict.chosen):
            continue
        pairs.append((candidate.finding, cause.finding.rule.id if cause else None))
    pairs += [(finding, chosen) for finding in findings if finding.role is Role.CASCADE]
    seen: set[tuple[str, str | None]] = set()
    found: list[Symptom] = []
    for finding, by in pairs:
        identity = (finding.rule.id, replica_of(finding))
        if identity in seen or len(found) >= MAX_SYMPTOMS:
            continue
        seen.add(identity)
        found.append(_symptom(finding, by, key, mask))
    return found


def _long_before(candidate: Candidate, chosen: Candidate | None) -> bool:
    """Whether it came so long before the cause that it cannot follow from it."""
    if chosen is None or chosen.time is None or candidate.time is None:
        return False
    return candidate.time.plus(VERDICT_LAG) < chosen.time


def _symptom(finding: Finding, by: str | None, key: JobKey, mask: Mask) -> Symptom:
    evidence: Evidence = proof_of(finding, key, mask)[0]
    return Symptom(
        rule=finding.rule.id, replica=replica_of(finding), time=evidence.time, evidence=evidence, explained_by=by
    )


def ruled_out_of(candidates: Sequence[Candidate], otherwise: str) -> list[RuledOut]:
    """Categories that were looked at and are not it, each with the strongest reason against."""
    found: dict[str, str] = {}
    for candidate in candidates:
        category = candidate.finding.rule.category or "unknown"
        against = min(candidate.points, key=lambda point: point.points, default=None)
        why = against.reason if against is not None and against.points < 0 else otherwise
        found.setdefault(category, f"{candidate.finding.rule.id}: {why}")
    return [RuledOut(category=category, why=why) for category, why in sorted(found.items())]
