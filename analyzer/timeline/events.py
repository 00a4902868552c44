"""Events of a timeline: the service's words, machines that were taken away, failures, checkpoints taken up again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analyzer.model import TimelineEvent
from analyzer.timeline.attempts import Try
from analyzer.timeline.evidence import Evidence, Signal
from analyzer.timeline.repeats import FAILURES
from analyzer.timeline.sentences import say, title_of

_FAILURES = frozenset((
    "replica_failed", "replica_out_of_memory", "low_memory", "low_disk", "stockout", "internal_error", "quota_denied",
    "job_failed", "preempted", "evicted", "host_error", "out_of_memory_kill", "retries_exhausted",
    "task_exit",
))  # fmt: skip
_OF_LANES = frozenset(("checkpoint_restored", "no_checkpoint", "worker_restart", "training_done"))
LONGEST = 300


def events_of(tries: Sequence[Try], evidence: Evidence, lang: str) -> list[TimelineEvent]:
    """All events in order of time; the text is the line itself, or what is known of a failure that has no line."""
    found: list[tuple[int, int, TimelineEvent]] = []
    for signal in (*evidence.job, *evidence.described, *evidence.machines, *_of_lanes(evidence)):
        kind = "failure" if signal.event in _FAILURES else signal.event
        found.append((signal.moment, signal.place, _event(signal, kind, evidence)))
    for attempt in tries:
        for life in attempt.lives:
            if life.reason not in FAILURES or life.doomed or life.named_by_service:
                continue
            code = life.exit_code
            text = say("no_exit_code", lang) if code is None else say("exit_code", lang, code=code)
            if life.finding is not None:
                text = f"{title_of(life.finding, life.replica, lang)} ({text})"
            time = evidence.clock.shown(life.finish)
            event = TimelineEvent(time=time, kind="failure", replica=life.replica, text=text)
            found.append((life.finish, life.place, event))
    return [event for _, _, event in sorted(found, key=lambda item: (*item[:2], item[2].kind, item[2].text))]


def _of_lanes(evidence: Evidence) -> Iterable[Signal]:
    for items in evidence.lanes.values():
        for item in items:
            yield from (signal for signal in item.signals if signal.event in _OF_LANES)


def _event(signal: Signal, kind: str, evidence: Evidence) -> TimelineEvent:
    text = signal.finding.message.text.strip().split("\n", 1)[0]
    shown = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return TimelineEvent(time=evidence.clock.shown(signal.moment), kind=kind, replica=signal.replica, text=shown)
