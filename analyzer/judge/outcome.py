"""How the job ended: by the state of the job, the service's words, the primary replica's exit, the log's last signs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from analyzer.entries import Story
from analyzer.judge.course import FAILURES, at_its_end
from analyzer.judge.ending import counted_out, last_act
from analyzer.judge.sentences import sentence
from analyzer.model import Message, Timeline
from analyzer.rulebook import Finding, Role
from analyzer.rulebook.text import fill

_STATES = {
    "succeeded": ("SUCCEEDED", "COMPLETE", "COMPLETED", "FINISHED"),
    "failed": ("FAILED", "EXPIRED", "ERROR", "OUT_OF_MEMORY", "NODE_FAIL", "BOOT_FAIL"),
    "cancelled": ("CANCELLED", "CANCELLING", "CANCELED", "DELETED"),
    "running": ("RUNNING", "PENDING", "QUEUED", "PREPARING", "ACTIVE"),
}
_EVENTS = {"job_succeeded": "succeeded", "job_failed": "failed", "job_cancelled": "cancelled"}


class Outcome(msgspec.Struct, frozen=True):
    """The outcome, the state word it was read from, how sure it is (`stated`, `deduced`) and the proving finding."""

    outcome: str
    state: str | None
    stated: bool
    reason: str
    finding: Finding | None = None


def outcome_of(
    story: Story, messages: Sequence[Message], findings: Sequence[Finding], timeline: Timeline, has_cause: bool,
    lang: str, *, lived_on: bool = False,
) -> Outcome:  # fmt: skip
    """The outcome of a job. `has_cause`: whether a convincing cause of a failure was found.

    `lived_on`: the output went on in its ordinary way after the failure that the timeline takes for the end.
    """

    def say(name: str, **values: str) -> str:
        return sentence(name, lang, values)

    state = _described_state(story)
    if state is not None and (word := _word(state)) is not None and word != "running":
        return Outcome(word, state, True, say("description_says", state=state), _last(findings, word))
    if (phases := _phases(story)) and set(phases.values()) == {"Succeeded"}:
        return Outcome("succeeded", state, True, say("description_says", state="Succeeded"))
    said = [f for f in findings if f.event in _EVENTS]
    if said:
        last = said[-1]
        told = say("log_says", title=fill(last.rule.title.of(lang), last.values))
        return Outcome(_EVENTS[last.event or ""], None, True, told, last)
    if story.key.platform == "gke" and _retried_well(timeline):
        return Outcome("succeeded", state, False, say("later_run_ended_well"))
    done = [f for f in findings if f.event == "training_done" or at_its_end(f)]
    if has_cause:
        return Outcome("failed", state, False, say("failure_found"))
    ended = timeline.attempts[-1].end_reason if timeline.attempts else None
    if ended == "success":
        told = say("primary_ended_well" if _ended_with_code_zero(timeline) else "program_says_done")
        return Outcome("succeeded", state, False, told, done[-1] if done else None)
    if done and not _ended_badly(findings[findings.index(done[-1]) :]):
        return Outcome("succeeded", state, False, say("program_says_done"), done[-1])
    if ended == "cancelled":
        return Outcome("cancelled", state, False, say("stopped_by_service"))
    if ended is not None and not lived_on:
        return Outcome("failed", state, False, say("last_attempt_ended", how=sentence(f"end_{ended}", lang)))
    if _ended_badly(findings):
        return Outcome("failed", state, False, say("nonzero_exit_told"))
    if state is not None and _word(state) == "running":
        return Outcome("running", state, True, say("description_says", state=state))
    if _still_running(timeline) and _would_say_so(story, findings):
        return Outcome("running", state, False, say("no_end_told"))
    if (act := last_act(messages, findings) or counted_out(findings)) is not None:
        return Outcome("succeeded", state, False, say("last_act", title=fill(act.rule.title.of(lang), act.values)), act)
    return Outcome("unknown", state, False, say("no_line_on_end"))


def _ended_with_code_zero(timeline: Timeline) -> bool:
    """Whether a run of the last attempt is told to have ended so; a program may also only say that it is done."""
    return any(run.exit_code == 0 for lane in timeline.attempts[-1].replicas for run in lane.runs)


def _retried_well(timeline: Timeline) -> bool:
    """Whether all pods that failed were over before others began, and each of those ended with exit code 0.

    So a controller's retry looks that no object or event tells of: a pod in place of another, under another name.
    """
    runs = [run for attempt in timeline.attempts for lane in attempt.replicas for run in lane.runs if not run.doomed]
    failed = [run for run in runs if run.reason in FAILURES and run.reason != "unknown"]
    if not failed or any(run.end is None for run in failed):
        return False
    over = max(run.end for run in failed if run.end is not None)
    later = [run for run in runs if run.start is not None and run.start >= over]
    return bool(later) and all(run.exit_code == 0 for run in later)


def _ended_badly(findings: Sequence[Finding]) -> bool:
    """Whether a platform or launcher reports an end with a non-zero exit code among some findings."""
    return any(f.role is Role.VERDICT and f.values.get("exit_code", "0").strip("-0:") != "" for f in findings)


def _last(findings: Sequence[Finding], outcome: str) -> Finding | None:
    return next((f for f in reversed(findings) if _EVENTS.get(f.event or "") == outcome), None)


def _described_state(story: Story) -> str | None:
    states = [str(fields["state"]) for fields in story.descriptions if fields.get("state")]
    return states[-1] if states else None


def _phases(story: Story) -> dict[str, str]:
    """The last phase of each pod of the job that a description tells."""
    told = [e for e in story.entries if e.fields.get("kind") == "pod" and e.fields.get("phase")]
    return {str(entry.replica): str(entry.fields["phase"]) for entry in told}


def _word(state: str) -> str | None:
    plain = state.upper().removeprefix("JOB_STATE_").removeprefix("PIPELINE_STATE_").removeprefix("STATE_")
    return next((outcome for outcome, words in _STATES.items() if plain in words), None)


def _still_running(timeline: Timeline) -> bool:
    runs = [run for attempt in timeline.attempts[-1:] for lane in attempt.replicas for run in lane.runs]
    return any(run.reason == "running" for run in runs)


def _would_say_so(story: Story, findings: Sequence[Finding]) -> bool:
    """Whether this log would tell the end of its job: those of the managed services do, a program's output does not."""
    return story.key.platform in ("vertex", "ai_platform") or any(f.event == "job_running" for f in findings)
