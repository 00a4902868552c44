"""The service's words on failed replicas, and the lives that they are about."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from analyzer.model import SECOND
from analyzer.timeline.evidence import Signal, trial_of
from analyzer.timeline.lives import Life

FRESH = 60 * SECOND
"""The service may take this long to name an exit, so that the container may run again already."""
AFTER_VERDICT = 180 * SECOND
"""A container that still prints so long after the service's word survived it: a job that fails is shut down sooner."""


def life_meant(signal: Signal, lives: Sequence[Life]) -> int | None:
    """Which of a replica's lives, in order of their begin, a word of the service is about: the one that had ended.

    A restart in place may be quicker than the word, so a life that had only just begun stands back behind the one
    before it, unless that one's exit is told otherwise.
    """
    begun = bisect_right(lives, signal.moment + SECOND, key=lambda life: life.begin)
    if not begun:
        return 0 if lives else None
    last = lives[begun - 1]
    if begun < 2 or signal.moment - last.begin > FRESH:
        return begun - 1
    before = lives[begun - 2]
    if last.code_stated and last.end is not None and last.end <= signal.moment + SECOND and _same(last, signal):
        return begun - 1
    return begun - 2 if signal.moment - before.finish < 2 * FRESH or not before.code_stated else begun - 1


def _same(life: Life, signal: Signal) -> bool:
    """Whether a life's exit code is the one that a word names, however each of them counts a death by signal."""
    number, code = signal.number, life.exit_code
    if number is None or code is None:
        return False
    return _canonical(number) == _canonical(code)


def _canonical(code: int) -> int:
    if 128 < code < 160:
        return code - 128
    return 256 - code if 224 < code < 256 else code


def gone_on_after(signal: Signal, lives: Iterable[Life], before: int | None = None) -> bool:
    """Whether the replica that a word is about went on working long after it (within the same attempt)."""
    limit = signal.moment + AFTER_VERDICT
    trial = trial_of(signal.finding)
    own = (life for life in lives if life.replica == signal.replica and trial in (None, life.trial))
    return any(life.healthy > limit for life in own if before is None or life.begin < before)
