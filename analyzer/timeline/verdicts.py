"""The service's words on failed replicas, and the lives that they are about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analyzer.model import SECOND
from analyzer.timeline.evidence import Signal
from analyzer.timeline.lives import Life

FRESH = 60 * SECOND
"""The service may take this long to name an exit, so that the container may run again already."""
AFTER_VERDICT = 180 * SECOND
"""A container that still prints so long after the service's word survived it: a job that fails is shut down sooner."""


def life_meant(signal: Signal, lives: Sequence[Life]) -> Life | None:
    """The life of a replica that a word of the service is about: the one that had ended by then.

    A restart in place may be quicker than the word, so a life that had only just begun stands back behind the one
    before it, unless that one's exit is told otherwise.
    """
    begun = [life for life in lives if life.begin <= signal.moment + SECOND]
    if not begun:
        return lives[0] if lives else None
    last = begun[-1]
    if len(begun) < 2 or signal.moment - last.begin > FRESH:
        return last
    before = begun[-2]
    if last.code_stated and last.exit_code == signal.number and last.end is not None and last.end <= signal.moment + SECOND:
        return last
    if before.code_stated and before.exit_code == signal.number and before.end is not None:
        return before if signal.moment - before.end < 2 * FRESH else last
    return last if before.code_stated else before


def gone_on_after(signal: Signal, lives: Iterable[Life], before: int | None = None) -> bool:
    """Whether the replica that a word is about went on printing long after it (within the same attempt)."""
    limit = signal.moment + AFTER_VERDICT
    return any(
        life.replica == signal.replica and life.last > limit and (before is None or life.begin < before) for life in lives
    )
