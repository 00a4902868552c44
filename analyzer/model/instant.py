"""Moments in time, to the nanosecond that Cloud Logging keeps."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

SECOND = 1_000_000_000
_FIRST, _LAST = -9_214_560_000 * SECOND, 9_214_646_400 * SECOND - 1
"""The years 1678 to 2261: their nanoseconds fit 64 bits, as tables and scans hold them, with some room."""
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1

_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?\s?(Z|z|UTC|GMT|[+-]\d\d:?\d\d)?", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Instant(int):
    """Nanoseconds since 1970-01-01T00:00:00Z; prints and serialises as RFC 3339 in UTC."""

    __slots__ = ()

    @classmethod
    def within(cls, nanoseconds: int) -> Instant | None:
        """The instant of so many nanoseconds since 1970; None outside the years 1678 to 2261, which no clock shows.

        Such times stand for none (`0001-01-01T00:00:00Z`), or were made up.
        """
        return cls(nanoseconds) if _FIRST <= nanoseconds <= _LAST else None

    @classmethod
    def parse(cls, text: object) -> Instant | None:
        """The instant that an RFC 3339 text (or `YYYY-MM-DD HH:MM:SS[.f] [+hhmm]`) names; None if it names none.

        A text without a zone is taken as UTC. Digits beyond the ninth are cut off. Times that no clock shows are none.
        """
        found = _RFC3339.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            return None
        year, month, day, hour, minute, second, fraction, zone = found.groups()
        try:
            moment = datetime(int(year), int(month), int(day), int(hour), int(minute), min(int(second), 59), tzinfo=UTC)
        except ValueError:
            return None
        leap = SECOND if second == "60" else 0
        whole = int(moment.timestamp()) - _offset_seconds(zone)
        return cls.within(whole * SECOND + leap + int((fraction or "0").ljust(9, "0")))

    @classmethod
    def of(cls, moment: datetime) -> Instant:
        """The instant of a datetime that knows its zone (a naive one is taken as UTC)."""
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        delta = aware - _EPOCH
        return cls((delta.days * 86_400 + delta.seconds) * SECOND + delta.microseconds * 1000)

    def datetime(self, zone: timezone = UTC) -> datetime:
        """The datetime of this instant; nanoseconds below a microsecond are dropped."""
        return (_EPOCH + timedelta(microseconds=self // 1000)).astimezone(zone)

    def plus(self, seconds: float) -> Instant:
        """The instant so many seconds later; the first or the last of 64 bits, where it would be beyond."""
        return Instant(min(max(self + int(seconds * SECOND), _LEAST), _MOST))

    def since(self, earlier: Instant) -> float:
        """Seconds from an earlier instant to this one."""
        return (int(self) - int(earlier)) / SECOND

    def __str__(self) -> str:
        whole, fraction = divmod(int(self), SECOND)
        text = (_EPOCH + timedelta(seconds=whole)).isoformat()[:19]
        digits = f".{fraction:09d}".rstrip("0") if fraction else ""
        return f"{text}{digits}Z"

    __repr__ = __str__


def _offset_seconds(zone: str | None) -> int:
    if not zone or zone[0] not in "+-":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    return (1 if zone[0] == "+" else -1) * (hours * 3600 + minutes * 60)
