"""Times of entries as plain numbers, also for logs that state none: there the order of lines stands in for a clock."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.model import SECOND, Entry, Instant, Origin

LINE = 60 * SECOND
"""How far apart lines of a log without times are taken to be, so that no slack of seconds joins two of them."""


class Clock:
    """Moments of a story's entries in nanoseconds, by their place in the story.

    `real` is False where hardly any entry states a time; moments are then places in the log and never shown.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        # A description states few times and none for most of its parts, so that the lines beside it decide.
        lines = [entry for entry in entries if entry.origin is not Origin.STATUS] or entries
        timed = sum(entry.time is not None for entry in lines)
        self.real = timed * 2 > len(lines)
        self.moments = _stated(entries) if self.real else [place * LINE for place in range(len(entries))]

    def shown(self, moment: int | None) -> Instant | None:
        """A moment as it may be shown; None where the log states no times."""
        return Instant(moment) if moment is not None and self.real else None


def _stated(entries: Sequence[Entry]) -> list[int]:
    known = next((int(entry.time) for entry in entries if entry.time is not None), 0)
    moments = []
    for entry in entries:
        known = int(entry.time) if entry.time is not None else known
        moments.append(known)
    return moments
