"""Times as logs write them: RFC 3339 of Cloud Logging, and the many styles at the head of text lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

from analyzer.expressions import expression
from analyzer.model import SECOND, Instant

_SCALE = [10 ** (9 - digits) for digits in range(10)]
HEAD = 96
"""How far into a line a timestamp may stand (characters)."""

_MONTHS = {
    name: number
    for number, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1
    )
}
_CLOCK = r"(?P<h>\d\d):(?P<mi>\d\d):(?P<s>\d\d)(?:[.,](?P<f>\d{1,9})\d*)?"
_CLOCKED = expression(r"\d:\d\d:\d\d", re.ASCII)
_NUMBERED = expression(r"\W?(?:1[5-9]\d{8}|20\d{6}[-T ]\d{4})", re.ASCII)
_ISO = expression(
    r"(?<![\w/.-])(?P<y>[12]\d{3})(?P<sep>[-/.])(?P<mo>\d\d)(?P=sep)(?P<d>\d\d)[T ,_]\s?" + _CLOCK
    + r"\s?(?P<z>Z|UTC|GMT|[+-]\d\d:?\d\d(?!\d))?",
    re.ASCII,
)  # fmt: skip
_COMPACT = expression(
    r"^\W?(?P<y>20\d\d)(?P<mo>\d\d)(?P<d>\d\d)[-T ](?P<h>\d\d):?(?P<mi>\d\d):?(?P<s>\d\d)(?P<z>Z)?", re.ASCII
)
_GLOG = expression(r"(?:^|[\s\[\]:>])[IWEFDC](?P<y>20\d\d)?(?P<mo>\d{1,2})(?P<d>\d\d) " + _CLOCK, re.ASCII)
_ABSL_EPOCH = expression(r"(?:^|[\s\[\]:>])[IWEFDC]0000 00:00:(?P<e>\d{10})(?:\.(?P<f>\d{1,9}))?", re.ASCII)
_EPOCH = expression(r"^\W?(?P<e>1[5-9]\d{8})(?:\.(?P<f>\d{1,9})\d*)?(?=[\s\],])", re.ASCII)
_MENTIONED_EPOCH = expression(r"\btime=(?P<e>1[5-9]\d{8})(?:\.(?P<f>\d{1,9}))?\b", re.ASCII)
_SYSLOG = expression(r"^\W?(?P<mon>[A-Z][a-z]{2}) {1,2}(?P<d>\d{1,2}) " + _CLOCK, re.ASCII)
_ASCTIME = expression(
    r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?P<mon>[A-Z][a-z]{2}) {1,2}(?P<d>\d{1,2}) " + _CLOCK
    + r"(?: (?P<z>UTC|GMT))? (?P<y>20\d\d)",
    re.ASCII,
)  # fmt: skip
_RFC2822 = expression(
    r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?P<d>\d{1,2}) (?P<mon>[A-Z][a-z]{2}) (?P<y>\d{4}) " + _CLOCK
    + r"(?: (?P<z>[+-]\d{4}|UTC|GMT))?",
    re.ASCII,
)  # fmt: skip
_SLASHED = expression(
    r"^\W?(?P<mo>\d\d)/(?P<d>\d\d)/(?P<y>20\d\d),? " + _CLOCK, re.ASCII
)  # transformers, absl in the US
_SPARK = expression(r"^\W?(?P<yy>\d\d)/(?P<mo>\d\d)/(?P<d>\d\d) " + _CLOCK, re.ASCII)
_DAY_ONLY = expression(
    r"(?:^|[\s)\]])(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) (?P<mo>\d\d)-(?P<d>\d\d) " + _CLOCK, re.ASCII
)
_BRACKETED = expression(r"\[[^\]]*\]|\([^)]*\)|<[^>]*>|\{[^}]*\}")


def rfc3339(text: str) -> Instant | None:
    """The instant of a Cloud Logging timestamp, to the nanosecond; None where the text names none."""
    if text[-1:] == "Z" and text[19:20] == ".":
        whole, fraction = _whole(text[:19]), text[20:-1]
        digits = len(fraction)
        if whole is not None and 0 < digits <= 9 and fraction.isdecimal() and fraction.isascii():
            return Instant.within(whole + int(fraction) * _SCALE[digits])
    return Instant.parse(text)


@lru_cache(maxsize=8192)
def _whole(text: str) -> int | None:
    """The instant of whole seconds, in ns; of a usual time only the day is parsed, and that once."""
    clock = text[11:13] + text[14:16] + text[17:19]
    if text[10] in "Tt " and text[13] == text[16] == ":" and clock.isascii() and clock.isdecimal():
        day, hour, minute, second = _day(text[:10]), int(clock[:2]), int(clock[2:4]), int(clock[4:])
        if day is not None and hour < 24 and minute < 60 and second < 60:
            return day + ((hour * 60 + minute) * 60 + second) * SECOND
    parsed = Instant.parse(text + "Z")
    return None if parsed is None else int(parsed)


@lru_cache(maxsize=512)
def _day(text: str) -> int | None:
    parsed = Instant.parse(text + "T00:00:00Z")
    return None if parsed is None else int(parsed)


def any_instant(value: object) -> Instant | None:
    """The instant of what an export holds for a time: RFC 3339, or (milli-, micro-, nano-)seconds since 1970."""
    if isinstance(value, str):
        parsed = rfc3339(value.strip())
        if parsed is not None:
            return parsed
        try:
            value = int(value) if value.isdecimal() else float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1e8 < value < 1e19:
        return None
    for limit, unit in ((1e11, SECOND), (1e14, 1_000_000), (1e17, 1000)):
        if value < limit:
            return Instant.within(round(value * unit) if isinstance(value, float) else value * unit)
    return Instant.within(int(value))


class LineClock:
    """Finds the time that a text line states at its head.

    Styles without a year take the year of the last full date that the source stated, so that the time lies as near as
    possible to it; where no year is known, such a line states no time. Times without a zone are taken as UTC.
    """

    def __init__(self, head: str = "") -> None:
        self._last: Instant | None = None
        self._style: Callable[[str], Instant | None] = self._iso
        self._styles = (
            self._iso, self._glog, self._absl_epoch, self._syslog, self._asctime, self._slashed, self._day_only,
            self._compact, self._spark, self._epoch,
        )  # fmt: skip
        for line in head.split("\n"):
            if self._last is None:
                self.read(line)
        if self._last is None:
            self._last = _any_date(head)

    def read(self, line: str) -> Instant | None:
        """The time at the head of the line; None where it states none."""
        head = line[:HEAD] if "\r" not in line else line.rpartition("\r")[2][:HEAD]
        if not (":" in head and _CLOCKED.search(head)) and not _NUMBERED.match(head):
            return None
        found = self._style(head)
        if found is None:
            for style in self._styles:
                found = style(head)
                if found is not None:
                    self._style = style
                    break
        if found is not None:
            self._last = found
        return found

    def _iso(self, head: str) -> Instant | None:
        found = _ISO.search(head)
        if found is None or not _is_prefix(head[: found.start()]):
            return None
        return self._instant(found)

    def _glog(self, head: str) -> Instant | None:
        return self._instant(_GLOG.search(head))

    def _syslog(self, head: str) -> Instant | None:
        return self._instant(_SYSLOG.match(head))

    def _asctime(self, head: str) -> Instant | None:
        return self._instant(_ASCTIME.search(head) or _RFC2822.search(head))

    def _slashed(self, head: str) -> Instant | None:
        return self._instant(_SLASHED.match(head))

    def _compact(self, head: str) -> Instant | None:
        return self._instant(_COMPACT.match(head))

    def _spark(self, head: str) -> Instant | None:
        return self._instant(_SPARK.match(head))

    def _day_only(self, head: str) -> Instant | None:
        return self._instant(_DAY_ONLY.search(head))

    def _absl_epoch(self, head: str) -> Instant | None:
        return _epoch(_ABSL_EPOCH.search(head))

    def _epoch(self, head: str) -> Instant | None:
        return _epoch(_EPOCH.match(head))

    def _instant(self, found: re.Match[str] | None) -> Instant | None:
        if found is None:
            return None
        parts = found.groupdict()
        month = _MONTHS.get(parts["mon"], 0) if parts.get("mon") else int(parts["mo"])
        year = 2000 + int(parts["yy"]) if parts.get("yy") else int(parts["y"]) if parts.get("y") else None
        if year is not None:
            return _moment(year, month, parts)
        if self._last is None:
            return None
        last = self._last
        near = last.datetime().year
        guesses = [moment for y in (near - 1, near, near + 1) if (moment := _moment(y, month, parts)) is not None]
        return min(guesses, key=lambda moment: abs(moment - last), default=None)


def described_time(text: str) -> Instant | None:
    """The time as kubectl's descriptions print it (`Wed, 17 Jul 2024 20:39:52 -0700`) or as RFC 3339."""
    found = _RFC2822.search(text)
    if found is None:
        return Instant.parse(text)
    parts = found.groupdict()
    return _moment(int(parts["y"]), _MONTHS.get(parts["mon"], 0), parts)


def _is_prefix(before: str) -> bool:
    """Whether what stands before a time is a log prefix (level, rank, tag) and not a sentence that mentions a time."""
    if before.endswith("CANCELLED AT "):  # how slurmstepd tells the end of a job or step
        return True
    if before[:1].isspace() and before.rstrip().endswith((":", "=")):  # a row of a table that names its time
        return False
    bare = _BRACKETED.sub(" ", before)
    return sum(1 for word in bare.split() if any(map(str.isalnum, word))) <= 2


def _any_date(text: str) -> Instant | None:
    """Some moment that a text mentions anywhere: enough to know the year of times that state none."""
    found = _ISO.search(text)
    if found is not None:
        return _moment(int(found["y"]), int(found["mo"]), found.groupdict())
    return _epoch(_MENTIONED_EPOCH.search(text))


def _moment(year: int, month: int, parts: dict[str, str | None]) -> Instant | None:
    day, hour, minute, second = (int(parts[name] or 0) for name in ("d", "h", "mi", "s"))
    try:
        whole = int(datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC).timestamp())
    except ValueError:
        return None
    if second == 60:
        whole += 1
    zone = parts.get("z")
    if zone and zone[0] in "+-":
        whole -= (1 if zone[0] == "+" else -1) * (int(zone[1:3]) * 3600 + int(zone[-2:]) * 60)
    return Instant.within(whole * SECOND + int((parts.get("f") or "0").ljust(9, "0")))


def _epoch(found: re.Match[str] | None) -> Instant | None:
    if found is None:
        return None
    return Instant(int(found["e"]) * SECOND + int((found["f"] or "0").ljust(9, "0")))
