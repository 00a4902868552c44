"""How and when each attempt ended: by the service's words, by its rules, or by what its replicas show."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from analyzer.model import SECOND
from analyzer.timeline.attempts import Try
from analyzer.timeline.evidence import Evidence, Signal
from analyzer.timeline.failures import blame, word_on
from analyzer.timeline.lives import TOLD, Life
from analyzer.timeline.policy import Limits, Policy

_PRIMARIES = ("workerpool0-0", "master-replica-0", "chief-replica-0")
EARLY, LATE = 60 * SECOND, 3600 * SECOND
"""How much sooner or later than at its limit of time a job may seem to end: its begin is not exactly known."""
MACHINE_DELAY = 600 * SECOND
"""A word on a machine that was taken away may come this long after the last line from it."""


class Judged(msgspec.Struct, frozen=True):
    """What the judge made of the job: its outcome, and of a failure the category and the replica."""

    outcome: str
    category: str = "unknown"
    replica: str | None = None


class Setting(msgspec.Struct, frozen=True):
    """What holds for the whole job: evidence, the platform's policy and limits, whether it runs on Spot machines.

    `judged` is there when the story is told once more, after the judge.
    """

    evidence: Evidence
    policy: Policy
    limits: Limits
    spot: bool
    judged: Judged | None = None

    @property
    def survived(self) -> bool:
        """Whether the judge knows that the job did not fail: what its program complained of was no end."""
        return self.judged is not None and self.judged.outcome in ("succeeded", "unknown", "running")

    @property
    def told(self) -> bool:
        """Whether the service tells of this job, so that its silence means something."""
        return self.policy.primary_exit_ends_job and bool(self.evidence.job)


def end_reason(attempt: Try, last: bool, setting: Setting) -> str | None:
    """Why an attempt ended; None where it still runs."""
    word = word_on(attempt)
    if word == "cancelled":
        return "timeout" if time_up(attempt, setting.limits) else word
    if word == "success" or (last and setting.judged is not None and setting.judged.outcome == "succeeded"):
        return "success"
    if last and setting.judged is not None and setting.judged.outcome == "failed":
        return setting.judged.category
    placed = [s for s in attempt.signals if s.event in ("stockout", "internal_error", "quota_denied")]
    if attempt.fatal is None and attempt.root is None and placed:
        return _placement(attempt, placed[-1], setting)
    if attempt.fatal is not None or attempt.root is not None:
        reason = _failure(attempt, setting)
        # A permanent error is not tried again, so that a retry after a plain exit shows that restarts were used up.
        retried = reason == "user_exception" and not last and setting.limits.worker_restarts is not None
        return "restarts_exhausted" if retried else reason
    if not last:
        return _quiet(attempt, setting)
    return "unknown" if word == "failed" else _without_word(attempt, setting)


def _placement(attempt: Try, signal: Signal, setting: Setting) -> str:
    if signal.event == "internal_error":
        return "internal"
    if signal.event == "quota_denied":
        return "quota"
    return "preemption" if setting.policy.spot_restarts and _was_running(attempt, setting.evidence) else "stockout"


def _was_running(attempt: Try, evidence: Evidence) -> bool:
    """Whether all replicas had come up, so that a lack of capacity means that machines were taken away."""
    if attempt.running is not None:
        return True
    came = {life.replica for life in attempt.lives}
    return bool(came) and came >= evidence.names.known and any(life.last_step is not None for life in attempt.lives)


def _failure(attempt: Try, setting: Setting) -> str:
    root, fatal, policy = attempt.root, attempt.fatal, setting.policy
    if fatal is not None and fatal.event in ("replica_out_of_memory", "low_memory"):
        return "out_of_memory"
    if fatal is not None and fatal.event == "low_disk":
        return "storage"
    if root is None:
        transient = fatal is not None and fatal.number in policy.transient_exit_codes
        return "crash" if transient else "user_exception"
    if root.reason == "oom":
        return "out_of_memory"
    if root.told in TOLD:
        return TOLD[root.told]
    words = [s for s in machine_words(attempt, setting.evidence) if same_machine(s, root)]
    if words:
        return words[0].finding.rule.category or "preemption"
    if policy.exit_reasons.get(root.exit_code or 0) in ("preempted", "maintenance"):
        return "preemption"
    if is_exhausted(root, attempt.lanes()[root.lane], attempt, setting):
        return "restarts_exhausted"
    if not policy.primary_exit_ends_job and root.finding is not None:
        return root.finding.rule.category or "user_exception"
    crashed = root.exit_code in policy.transient_exit_codes or (root.exit_code is None and root.crashed)
    return "crash" if crashed and policy.transient_exit_codes else "user_exception"


def is_exhausted(life: Life, lives: Sequence[Life], attempt: Try, setting: Setting) -> bool:
    """Whether a replica had used up its restarts in place when this one of its lives in the attempt ended."""
    limit = setting.limits.worker_restarts
    if limit is None:
        return False
    before = lives[: lives.index(life) + 1]
    restarts = sum(one.unit == other.unit for one, other in pairwise(before))
    named = sum(s.event == "replica_failed" and s.replica == life.replica for s in attempt.signals)
    return restarts >= limit or named > limit


def _quiet(attempt: Try, setting: Setting) -> str:
    """Why an attempt ended that no line tells of: its restarts used up, machines taken away, or a crash."""
    for lives in attempt.lanes().values():
        if is_exhausted(lives[-1], lives, attempt, setting):
            attempt.root = lives[-1]
            return "restarts_exhausted"
    if any(s.event in ("preempted", "evicted", "maintenance") for s in machine_words(attempt, setting.evidence)):
        return "preemption"
    if setting.spot or any(life.stop is not None for life in attempt.lives):
        return "preemption"
    crashed = [life for life in attempt.lives if life.failure is not None and life.roots]
    if crashed:
        attempt.root = min(crashed, key=blame)
        return "crash" if setting.policy.transient_exit_codes else "user_exception"
    return "preemption" if setting.policy.spot_restarts and attempt.lives else "unknown"


def machine_words(attempt: Try, evidence: Evidence) -> list[Signal]:
    """Words on machines that were taken away while an attempt ran."""
    first = min((life.begin for life in attempt.lives), default=attempt.begin)
    last = max((life.last for life in attempt.lives), default=attempt.begin)
    return [s for s in evidence.machines if first <= s.moment <= last + MACHINE_DELAY]


def same_machine(signal: Signal, life: Life) -> bool:
    """Whether a word on a machine is about the one that a container ran on; one that names none is about them all."""
    node = signal.finding.message.first.node or signal.values.get("node")
    if node is None and signal.replica is None:
        return True
    return (node is not None and node == life.node) or (signal.replica is not None and signal.replica == life.replica)


def _without_word(attempt: Try, setting: Setting) -> str | None:
    """The end of a last attempt without the service's last word: by the primary's exit, or by a teardown."""
    main = primary(attempt)
    if main is not None and main.exit_code == 0:
        return "success"
    if any(s.event == "teardown" for s in attempt.signals):
        return "timeout" if time_up(attempt, setting.limits) else "cancelled"
    lives = [life for life in attempt.lives if not life.doomed]
    if lives and all(life.exit_code == 0 for life in lives):
        return "success"
    finished = not setting.told and any(life.done for life in lives)
    return "success" if finished and not any(life.alive for life in lives) else None


def time_up(attempt: Try, limits: Limits) -> str | None:
    """Which limit of time an attempt had reached when it was ended: `timeout` or `wait`; None where none."""
    words = ("teardown", "job_cancelled", "job_failed")
    ended = next((s.moment for s in attempt.signals if s.event in words), None)
    if ended is None:
        return None
    first = min((life.begin for life in attempt.lives), default=None)
    begun = attempt.running if attempt.running is not None else first
    name, limit, since = ("wait", limits.wait, attempt.begin) if begun is None else ("timeout", limits.timeout, begun)
    return name if limit is not None and -EARLY <= ended - since - limit * SECOND <= LATE else None


def primary(attempt: Try) -> Life | None:
    """The last life of the replica whose exit ends the job; None where no replica is known to be that.

    No trial's end is the end of its tuning job.
    """
    names = {life.replica for life in attempt.lives}
    chosen = next((name for name in _PRIMARIES if name in names), None)
    if chosen is None and len(names) == 1:
        chosen = next(iter(names))
    lives = [life for life in attempt.lives if life.replica == chosen and not life.doomed and life.trial is None]
    return lives[-1] if lives else None


def end_moment(attempt: Try, last: bool) -> int | None:
    """When an attempt ended; None while it runs.

    The last one ends with the service's last line; another one with its last container, or, where nothing states when
    that ended, with the failure that ended the attempt.
    """
    if last and attempt.end_reason is None:
        return None
    final = ("job_succeeded", "job_failed", "job_cancelled", "teardown")
    words = [s.moment for s in attempt.signals if s.event in final]
    if last and words:
        return max(words)
    words = [attempt.fatal.moment] if attempt.fatal is not None else []
    words += [s.moment for s in attempt.signals if s.event in ("stockout", "internal_error")]
    lives = [life for life in attempt.lives if not life.doomed]
    latest = max(lives, key=lambda life: life.finish, default=None)
    if latest is None or latest.end_stated:
        return max((*words, *(life.finish for life in lives)), default=None)
    if words:
        return words[-1]
    return attempt.root.finish if attempt.root is not None and attempt.root.end_stated else latest.finish
