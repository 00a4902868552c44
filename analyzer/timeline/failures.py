"""The failure that ended an attempt: which word of the service, which life, and what was started after it in vain."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from analyzer.timeline.attempts import SKEW, VERDICTS, Try
from analyzer.timeline.evidence import Signal, trial_of
from analyzer.timeline.lives import TOLD, Life
from analyzer.timeline.names import pool_of
from analyzer.timeline.verdicts import AFTER_VERDICT, FRESH, gone_on_after, life_meant

STOP_CODES = frozenset((9, 15, 137, 143))
"""Exit codes of a container that was told to end, and of one that was killed when it did not."""
_POOLED = frozenset(("low_memory", "low_disk"))
_LAST_WORDS = {"job_succeeded": "success", "job_cancelled": "cancelled", "job_failed": "failed"}


def find_failure(attempt: Try, last: bool, told: bool, *, succeeded: bool = False) -> None:
    """Names the failure that ended an attempt (`fatal`, `root`) and marks the containers that were doomed by it.

    `told`: a program's own complaint is no proof of its end, since a service tells of this job or the judge knows
    better. `succeeded`: the job is known to have ended well.
    """
    _attribute(attempt)
    if not (last and (succeeded or word_on(attempt) in ("success", "cancelled"))):
        _find_fatal(attempt, last, told)
    _mark_doomed(attempt)


def blame_judged(attempt: Try, replica: str | None) -> None:
    """Makes the replica that the judge found the root of the attempt's end, or the only one that there is.

    A pod's name goes on behind the name that the judge gives its replica.
    """
    lives = [lives[-1] for lives in attempt.lanes().values()]
    named = [life for life in lives if replica and (life.replica == replica or life.replica.startswith(f"{replica}-"))]
    attempt.root = (named or lives)[0] if 1 in (len(named), len(lives)) else None


def word_on(attempt: Try) -> str | None:
    """The service's last word on the job in an attempt: success, cancelled or failed."""
    words = [s for s in attempt.signals if s.event in _LAST_WORDS]
    return _LAST_WORDS[words[-1].event] if words else None


def failed_at(attempt: Try) -> int | None:
    """When the attempt failed for good; None where it did not."""
    if attempt.root is not None:
        return attempt.root.finish
    return attempt.fatal.moment if attempt.fatal is not None else None


def is_of_other_trial(life: Life, attempt: Try) -> bool:
    """Whether a life is of a trial that did not end the attempt: what befell another one is nothing to it."""
    return life.trial is not None and (attempt.root is None or life.trial != attempt.root.trial)


def blame(life: Life) -> tuple[bool, bool, int, str]:
    """Orders failed lives: one that failed by itself before one that was told to end, one with a cause of its own
    before one that only complains of a peer, then by time."""
    told = life.stop is not None and life.exit_code in STOP_CODES
    return (told, life.cascades > 0 and life.roots == 0, life.finish, life.replica)


def _attribute(attempt: Try) -> None:
    """Gives exit codes that the service names to the lives that they are about; its number is the one that counts."""
    lanes: dict[tuple[str | None, int | None], list[Life]] = {}
    for life in sorted(attempt.lives, key=lambda life: life.begin):
        lanes.setdefault((life.replica, life.trial), []).append(life)
    for signal in attempt.signals:
        lives = lanes.get((signal.replica, trial_of(signal.finding)))
        if signal.event not in ("replica_failed", "replica_out_of_memory") or lives is None:
            continue
        place = life_meant(signal, lives)
        if place is None:
            continue
        meant = lives.pop(place)  # a life ends once
        attempt.meant[id(signal)] = meant
        if signal.number is not None:
            meant.exit_code, meant.code_stated, meant.named_by_service = signal.number, True, True
        meant.signal = signal.values.get("signal") or meant.signal
        if signal.event == "replica_out_of_memory":
            meant.reason, meant.memory = "oom", True


def _find_fatal(attempt: Try, last: bool, told: bool) -> None:
    words = [s for s in attempt.signals if s.event in VERDICTS]
    if words and not gone_on_after(words[-1], attempt.lives):
        attempt.fatal = words[-1]
        attempt.root = _root_of(attempt, [s for s in words if words[-1].moment - s.moment < FRESH])
        if attempt.root is not None or attempt.fatal.event in _POOLED:
            return
    elif any(s.event in ("stockout", "internal_error") for s in attempt.signals):
        return
    over = not last or word_on(attempt) is not None or any(s.event == "teardown" for s in attempt.signals)
    attempt.root = min(_failed_last(attempt, over, told), key=blame, default=None)


def _failed_last(attempt: Try, over: bool, told: bool) -> list[Life]:
    """Lives that failed and were not survived: a replica's last one, or the one before a container soon shut down."""
    torn_down = min((s.moment for s in attempt.signals if s.event == "teardown"), default=None)
    found = []
    for lives in attempt.lanes().values():
        life = lives[-1]
        cut_short = life.exit_code != 0 and life.last - life.begin < AFTER_VERDICT
        if over and cut_short and not (life.failed or life.broke_off) and len(lives) > 1:
            life = lives[-2]
        failed = life.failed or life.broke_off or life.told in TOLD or (not told and life.complained and not life.done)
        if failed and not (torn_down is not None and _was_told(life, torn_down)):
            found.append(life)
    return found


def _was_told(life: Life, torn_down: int) -> bool:
    """Whether a container ended because the service tore the job down."""
    return life.exit_code in STOP_CODES and (life.stop is not None or life.finish > torn_down - SKEW)


def _root_of(attempt: Try, words: Sequence[Signal]) -> Life | None:
    named = []
    # Of several words on one replica the last counts: it was started again after the others.
    for signal in {(s.event in _POOLED, s.replica): s for s in words}.values():
        if signal.event in _POOLED:
            pools = [pool.strip() for pool in signal.values.get("pool", "").split(",")]
            members = [life for life in attempt.lives if pool_of(life.replica) in pools]
            if len({life.replica for life in members}) == 1:
                named.append(members[-1])
        elif id(signal) in attempt.meant:
            named.append(attempt.meant[id(signal)])
    return min(named, key=blame, default=None)


def _mark_doomed(attempt: Try) -> None:
    """Marks containers that were started again though the attempt had already failed for good."""
    moment = failed_at(attempt)
    if moment is None:
        return
    for lives in attempt.lanes().values():
        if is_of_other_trial(lives[0], attempt):
            continue
        for before, life in pairwise(lives):
            fell = before.finish >= moment - SKEW and life.begin > moment - SKEW
            life.doomed = before is attempt.root or before.doomed or fell
