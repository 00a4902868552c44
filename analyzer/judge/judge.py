"""From findings and timeline to the diagnosis, step by step; each step leaves its reason in it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from analyzer.entries import Options, Story
from analyzer.entries.sift import entries_in, severities, time_span
from analyzer.judge.candidates import Candidate
from analyzer.judge.capacity import capacity_steps
from analyzer.judge.confidence import confidence_of
from analyzer.judge.course import Course
from analyzer.judge.evidence import Mask, context_around, evidence_of, message_evidence
from analyzer.judge.gaps import gaps_of
from analyzer.judge.jobfacts import job_of
from analyzer.judge.locate import locate
from analyzer.judge.memory import memory_of
from analyzer.judge.novelty import novel_messages
from analyzer.judge.outcome import Outcome, outcome_of
from analyzer.judge.sentences import sentence
from analyzer.judge.texts import CaseTexts
from analyzer.judge.verdict import Verdict, choose
from analyzer.judge.weigh import VERDICT_LAG
from analyzer.judge.write import alternatives_of, root_cause_of, ruled_out_of, symptoms_of, unknown_cause
from analyzer.model import Context, Diagnosis, Message, Retry, RootCause, Stats, Timeline
from analyzer.redact import redact
from analyzer.rulebook import Finding


def judge(
    story: Story, messages: Sequence[Message], findings: Sequence[Finding], timeline: Timeline, options: Options
) -> Diagnosis:
    """The diagnosis of one job. Pure: the same story gives the same answer."""
    course = Course(messages, findings, timeline, options.lang)
    verdict = choose(messages, findings, course)
    lived_on = any(course.output_went_on_after(rival.finding.message) for rival in verdict.rivals)
    outcome = outcome_of(
        story, messages, findings, timeline, verdict.chosen is not None, options.lang, lived_on=lived_on
    )
    if outcome.outcome == "succeeded":
        return _success(story, messages, findings, timeline, outcome, verdict, options)
    if outcome.outcome == "running" and not (verdict.chosen and verdict.chosen.score >= 60):
        return _still_running(story, findings, timeline, outcome, options)
    return _failure(story, messages, findings, timeline, outcome, verdict, course, options)


def _frame(story: Story, findings: Sequence[Finding], timeline: Timeline, outcome: Outcome, lang: str) -> Diagnosis:
    job = job_of(story, timeline, outcome.state)
    first, last = time_span(story.entries)
    return Diagnosis(
        job=job,
        outcome=outcome.outcome,
        category="unknown",
        cause="unknown",
        summary="",
        timeline=timeline,
        gaps=gaps_of(story, findings, timeline, job, lang),
        stats=Stats(
            entries=entries_in(story.entries), first=first, last=last, severities=dict(severities(story.entries))
        ),
        explanation=[sentence(f"outcome_{outcome.outcome}", lang, {"reason": outcome.reason})],
    )


def _success(
    story: Story, messages: Sequence[Message], findings: Sequence[Finding], timeline: Timeline,
    outcome: Outcome, verdict: Verdict, options: Options,
) -> Diagnosis:  # fmt: skip
    diagnosis = _frame(story, findings, timeline, outcome, options.lang)
    texts = CaseTexts(diagnosis.job, options.lang)
    diagnosis.category = "success"
    diagnosis.cause = "after_restarts" if timeline.restarts_total else "completed"
    diagnosis.summary = texts.success(timeline)
    diagnosis.confidence, diagnosis.confidence_reasons = confidence_of(None, [], findings, outcome, options.lang)
    survived = [c for c in (verdict.chosen, *verdict.rivals) if c is not None]
    diagnosis.ruled_out = ruled_out_of(survived, sentence("succeeded_in_spite", options.lang))
    if survived:
        diagnosis.explanation.append(sentence(_survived(len(survived)), options.lang, {"count": str(len(survived))}))
    return diagnosis


def _survived(number: int) -> str:
    return "survived_one" if number == 1 else "survived"


def _still_running(
    story: Story, findings: Sequence[Finding], timeline: Timeline, outcome: Outcome, options: Options
) -> Diagnosis:
    diagnosis = _frame(story, findings, timeline, outcome, options.lang)
    diagnosis.cause = "still_running"
    diagnosis.summary = CaseTexts(diagnosis.job, options.lang).running(timeline)
    diagnosis.confidence, diagnosis.confidence_reasons = confidence_of(None, [], findings, outcome, options.lang)
    return diagnosis


def _failure(
    story: Story, messages: Sequence[Message], findings: Sequence[Finding], timeline: Timeline,
    outcome: Outcome, verdict: Verdict, course: Course, options: Options,
) -> Diagnosis:  # fmt: skip
    diagnosis = _frame(story, findings, timeline, outcome, options.lang)
    mask = redact if options.redact else str
    chosen = verdict.chosen
    diagnosis.confidence, diagnosis.confidence_reasons = confidence_of(
        chosen, verdict.rivals, findings, outcome, options.lang
    )
    diagnosis.alternatives = alternatives_of(verdict.rivals, story.key, mask)
    if options.known_shapes:
        novel = novel_messages(messages, options.known_shapes)
        diagnosis.novel = [message_evidence(message, story.key, mask, lines=3, chars=600) for message in novel]
    if chosen is None and outcome.outcome == "cancelled":
        return _cancelled(diagnosis, outcome, story, mask, options)
    if chosen is None:
        texts = CaseTexts(diagnosis.job, options.lang)
        diagnosis.root_cause = unknown_cause(story, messages, findings, course, mask, options)
        diagnosis.cause = texts.unknown_kind(diagnosis)
        diagnosis.summary = texts.unknown(diagnosis)
        diagnosis.confidence = min(diagnosis.confidence, 0.4)
        diagnosis.remediation = texts.unknown_remedy(diagnosis)
        diagnosis.explanation.append(sentence("none_convinces", options.lang))
        return diagnosis
    values = {name: mask(value) for name, value in chosen.finding.values.items()}
    chosen.finding = msgspec.structs.replace(chosen.finding, values=values)
    diagnosis.outcome = _ended_as(chosen, outcome.outcome, [*verdict.rivals, *verdict.explained])
    diagnosis.category, diagnosis.cause = chosen.cause.split(".", 1)
    place = locate(chosen, verdict.explained, messages, findings, story, course)
    diagnosis.root_cause = root_cause_of(chosen, place, story, findings, course, mask, options)
    texts = CaseTexts(diagnosis.job, options.lang, chosen.finding, diagnosis.root_cause)
    diagnosis.summary = mask(texts.summary())
    rule = chosen.finding.rule
    diagnosis.retry = Retry(advice=rule.retry, why=mask(texts.why()))
    diagnosis.remediation = texts.remedies()
    if diagnosis.category == "stockout" and diagnosis.remediation:
        region = chosen.finding.values.get("region")
        diagnosis.remediation[0].steps += capacity_steps(diagnosis.job, region, options.lang)
    diagnosis.points = list(chosen.points)
    diagnosis.symptoms = symptoms_of(verdict, findings, story.key, mask)
    diagnosis.ruled_out = ruled_out_of(
        [c for c in verdict.rivals if c.score < 0], sentence("something_against", options.lang)
    )
    diagnosis.memory = memory_of(diagnosis, options.lang)
    before, after = context_around(list(messages), chosen.position, story.key, mask)
    diagnosis.context = Context(before=before, after=after)
    diagnosis.explanation += _explanation(verdict, options.lang)
    return diagnosis


def _cancelled(diagnosis: Diagnosis, outcome: Outcome, story: Story, mask: Mask, options: Options) -> Diagnosis:
    """A job that was ended from outside, where no line says by whom."""
    diagnosis.category, diagnosis.cause = "cancelled", "by_request"
    diagnosis.summary = CaseTexts(diagnosis.job, options.lang).cancelled()
    diagnosis.retry = Retry(advice="as_is")
    if outcome.finding is not None:
        diagnosis.root_cause = RootCause(rule=None, evidence=[evidence_of(outcome.finding, story.key, mask)])
    diagnosis.explanation.append(sentence("nothing_failed_before", options.lang))
    return diagnosis


def _ended_as(chosen: Candidate, outcome: str, others: Sequence[Candidate]) -> str:
    """The outcome that fits the cause: what ended long before it was another job, whose state says nothing of this."""
    if chosen.finding.rule.category == "cancelled":
        return "cancelled"
    ends = [c.time for c in others if c.cause == "cancelled.job_state" and c.time is not None]
    if outcome == "cancelled" and chosen.time is not None and any(t.plus(VERDICT_LAG) < chosen.time for t in ends):
        return "failed"
    return "failed" if outcome in ("unknown", "running") else outcome


def _explanation(verdict: Verdict, lang: str) -> list[str]:
    lines = []
    for candidate in [c for c in (verdict.chosen, *verdict.rivals) if c is not None]:
        points = "; ".join(f"{point.points:+.0f} {point.reason}" for point in candidate.points)
        where = f" ({candidate.replica})" if candidate.replica else ""
        values = {"rule": f"{candidate.finding.rule.id}{where}", "score": f"{candidate.score:.0f}", "points": points}
        lines.append(sentence("scored", lang, values))
    lines += [
        sentence(
            "follows_from", lang, {"rule": candidate.finding.rule.id, "cause": candidate.explained_by.finding.rule.id}
        )
        for candidate in verdict.explained
        if candidate.explained_by is not None
    ]
    return lines
