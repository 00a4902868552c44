"""Writes the parts of a diagnosis out of candidates and findings."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.entries import Options, Story
from analyzer.judge.candidates import Candidate, rank_of, replica_of
from analyzer.judge.course import Course
from analyzer.judge.evidence import Mask, evidence_of, message_evidence, proof_of, stated_time, within_bounds
from analyzer.judge.replicas import names_of
from analyzer.judge.unknown import telling_messages
from analyzer.judge.verdict import Verdict
from analyzer.model import Alternative, Evidence, JobKey, Message, Origin, RootCause, RuledOut, Symptom
from analyzer.rulebook import Finding, Role
from analyzer.timeline.names import pool_of

_TELLS_EACH_END = frozenset(("vertex", "ai_platform"))  # services that name the replica with each exit code
MAX_SYMPTOMS = 12
MAX_ALTERNATIVES = 6


def root_cause_of(
    chosen: Candidate, story: Story, findings: Sequence[Finding], course: Course, mask: Mask, options: Options
) -> RootCause:
    """The chosen cause with its evidence: first the proving message, then what supports it."""
    finding = chosen.finding
    replica = (
        _ended_of_pool(chosen.replica, course)
        or _on_node(finding, story, course)
        or _named_by_launcher(findings)
        or _told_beside(finding, findings)
        or _the_failing(findings, story, course)
        or _only_container(finding, course, story)
    )
    code, signal = _exit(finding, replica, findings, course, options, story.key.platform)
    pair = course.run_at(replica, finding.time)
    support = _support(chosen, findings)
    evidence = proof_of(finding, story.key, mask)
    evidence += [evidence_of(other, story.key, mask, support=True) for other in support]
    return RootCause(
        rule=finding.rule.id,
        replica=replica and names_of(story).stable(replica),
        rank=rank_of(finding),
        attempt=pair[0].number if pair else finding.message.first.attempt,
        time=stated_time(finding.message),
        exit_code=code,
        signal=signal or finding.values.get("signal"),
        evidence=within_bounds(evidence),
        values={name: mask(value) for name, value in sorted(finding.values.items())},
    )


def _exit(
    finding: Finding, replica: str | None, findings: Sequence[Finding], course: Course, options: Options, platform: str
) -> tuple[int | None, str | None]:
    """The exit code of the failing replica: as the caller knows it, as the finding says it, as the platform says it.

    Where only others' ends are told, by launchers that tell of whom they please, a code that all agree on is the job's.
    """
    known = options.exit_codes.get(replica, options.exit_codes.get(None))
    if known is not None:
        return known, None
    own = _code(finding)
    if own is not None:
        return own, finding.values.get("signal")
    code, signal = course.exit_of(replica, finding.time)
    if code is not None:
        return code, signal
    words = [f for f in findings if _tells_an_end(f) and _code(f) is not None]
    ranks = {rank_of(finding), finding.message.rank} - {None}  # a node's stream may carry a rank that its lines name
    mine = [f for f in words if replica_of(f) == replica or rank_of(f) in ranks]
    alone = [f for f in words if not f.replica] or ([] if replica else words)
    agreed = words if len({_code(f) for f in words}) == 1 and platform not in _TELLS_EACH_END else []
    for told in (mine or alone or agreed)[-1:]:
        return _code(told), told.values.get("signal")
    return None, None


def _ended_of_pool(replica: str | None, course: Course) -> str | None:
    """The replica whose end with an exit code is stated, where the platform names only its pool; else what it names."""
    failing = course.failing_run()
    if replica is None or failing is None or failing[0] == replica or pool_of(failing[0]) != replica:
        return replica
    return failing[0] if failing[2].exit_code is not None and "exit_code" not in failing[2].deduced else replica


def _on_node(finding: Finding, story: Story, course: Course) -> str | None:
    """The replica on the machine that the proving line speaks of; where machines are the replicas, the machine."""
    entry = finding.message.first
    node = finding.values.get("node") or entry.node or str(entry.fields.get("resource") or "").rsplit("/", 1)[-1]
    if not node:
        return None
    there = {e.replica for e in story.entries if e.node == node and e.replica and e.replica != "service"}
    names = names_of(story)
    if len({names.stable(name) for name in there}) == 1:  # one, or one and its successors
        return min(there)
    return node if story.key.platform in ("slurm", "compute", "tpu", "local") and not there else None


def _told_beside(finding: Finding, findings: Sequence[Finding]) -> str | None:
    """The replica that another finding on the same message names: a service quotes the program's last words."""
    same = (other.values.get("replica") for other in findings if other.message is finding.message)
    return next((name for name in same if name), None)


def _the_failing(findings: Sequence[Finding], story: Story, course: Course) -> str | None:
    """The only replica that failed, where the proving line has no speaker: the platform says who ended so."""
    failing = course.failing_run()
    if failing is None or failing[0] == story.key.id:
        return None
    told = {finding.values.get("replica") for finding in findings} | {entry.replica for entry in story.entries}
    ends = {replica for _, replica, _ in course.deaths()}
    return failing[0] if failing[0] in told and ends <= {failing[0]} else None


def _only_container(finding: Finding, course: Course, story: Story) -> str | None:
    """The container that output without a speaker is of, where the job has only one, which a description names."""
    names = {lane.name for attempt in course.timeline.attempts for lane in attempt.replicas} - {story.key.id}
    return names.pop() if len(names) == 1 and finding.message.origin is Origin.TEXT else None


def _tells_an_end(finding: Finding) -> bool:
    return finding.role is Role.VERDICT or finding.event in ("container_exit", "replica_failed")


def _named_by_launcher(findings: Sequence[Finding]) -> str | None:
    """The process that a launcher or scheduler names as the first to fail, where the proving line names none."""
    for finding in findings:
        if finding.role in (Role.VERDICT, Role.CASCADE) and _code(finding) != 0:
            rank = finding.values.get("rank") or finding.values.get("local_rank")
            task = finding.values.get("task")
            if rank is not None or task is not None:
                return f"rank{rank}" if rank is not None else f"task {task}"
            if finding.values.get("replica") and _code(finding) is not None:
                return finding.values["replica"]
    return None


def _code(finding: Finding) -> int | None:
    text = finding.values.get("exit_code")
    return int(text) if text is not None and text.lstrip("-").isdigit() else None


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
    code, signal, attempt = (_code(verdict), verdict.values.get("signal"), None) if verdict else (None, None, None)
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
        replica=None if replica == "service" else replica,
        rank=telling[0].rank,
        attempt=attempt,
        time=time,
        exit_code=code if known is None else known,
        signal=signal,
        evidence=within_bounds(message_evidence(m, story.key, mask, lines=12, chars=2000) for m in telling),
    )


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
    """What follows from the cause: candidates that it explains and cascades; each kind once a replica."""
    chosen = verdict.chosen.finding.rule.id if verdict.chosen else None
    pairs: list[tuple[Finding, str | None]] = []
    for candidate in verdict.explained:
        cause = candidate.explained_by
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
