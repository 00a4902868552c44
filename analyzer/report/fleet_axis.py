"""The axis of time that all charts of a fleet report share: equal bars of a round length."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from analyzer.model.fleet import JobRow
from analyzer.model.instant import SECOND, Instant

MOST_BARS = 56
_HOUR, _DAY = 3600, 86_400
_SIZES = (
    60, 300, 900, 1800, _HOUR, 2 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY, 2 * _DAY, 7 * _DAY, 14 * _DAY, 28 * _DAY,
    91 * _DAY, 364 * _DAY,
)  # fmt: skip
_MONDAY = 4 * _DAY  # 1970-01-05 was a Monday: bars of weeks begin on one


class Axis(NamedTuple):
    """`number` bars of `size` seconds each, the first one from `start` (seconds since 1970) on."""

    start: int
    size: int
    number: int

    def slot(self, when: Instant) -> int:
        """The bar that a moment falls into."""
        return min(max((int(when) // SECOND - self.start) // self.size, 0), self.number - 1)

    def begin(self, slot: int) -> Instant:
        """When a bar begins."""
        return Instant((self.start + slot * self.size) * SECOND)

    def told(self, slot: int) -> str:
        """When a bar begins, as precisely as its length asks for, UTC: `2026-03-11` or `2026-03-11 08:00`."""
        text = str(self.begin(slot))
        return text[:10] if self.size >= _DAY else text[:16].replace("T", " ")


def row_time(row: JobRow) -> Instant | None:
    """The moment that a job is counted at: its end, else its start, else its creation."""
    return next((time for time in (row.ended, row.started, row.created) if time is not None), None)


def axis_of(rows: Iterable[JobRow]) -> Axis | None:
    """The axis that holds all rows in at most 56 bars of a round length; None where no row has a time."""
    moments = [int(time) // SECOND for row in rows if (time := row_time(row)) is not None]
    if not moments:
        return None
    first, last = min(moments), max(moments)
    size = next((size for size in _SIZES if (last - first) // size + 2 <= MOST_BARS), (last - first) // MOST_BARS + 1)
    start = first - (first - _MONDAY) % size
    return Axis(start, size, (last - start) // size + 1)
