"""Leaves out what no diagnosis needs: the long middle of chatter and progress lines, of which only the count is kept.

Each stream of lines (one job, speaker, machine) is kept whole around everything that tells something: a word of the
rules, of tracebacks or of alarm, a line of a kind that is rare in the stream or that began it, a counter that falls
back, a long silence. Of its beginning and end it keeps `EDGE` lines, and of every ten minutes the first. What was left
out is counted on the next line that was kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import islice

from msgspec.structs import replace

from analyzer.facts.log_losses import ENTRY_LIMIT
from analyzer.model import SECOND, Entry, Instant, JobKey, Origin
from analyzer.stitch.shapes import is_indented

NEAR = 40
"""So many lines before and after a telling line are kept; it is the farthest that a later step looks (messages)."""
EDGE = 12
"""So many are kept at the ends of a stream, and around what tells only by its place: that a line comes again, that a
counter falls back, that another speaker has a word. A silence is judged by so many lines on either side (judge)."""
RARE = 3
"""So many lines of each kind are kept wherever they stand."""
OPENING = 6
OPENING_TIME = 120 * SECOND
"""With so many lines, within so long (ns), the output of a container opens. Of each kind `RARE` lines are kept that
come later: what comes then, too, tells of no start."""
OPENING_REPEATS = 14
"""Kinds of lines that a stream begins with tell of a restart when they come again, unless they come all the time: of
those that any stream of the job begins with so many are kept, more than a job is started again, with what is near where
it is the stream's own begin."""
KINDS = 512
FIRST_ALIKE = 8
CLOSE = 8
MOST_ALIKE = 300
"""Of telling lines that look alike the first few are kept with all that is near, so many in all with `CLOSE` lines
before and after (what a report shows around a line), further ones as chatter is."""
MOST_FALLS = 20
SILENCE = 1200 * SECOND
"""A stream that says nothing for so long (ns) is kept whole around that, so that a hole in a log shows where it is."""
MOST_OUT_OF_ORDER = 50_000
"""So many lines are kept of streams whose lines do not come in the order of time, where none can be judged by those
beside it; beyond that memory matters more."""
MOST_WAITING = 32 << 20
"""So much text (characters) waits in all streams for something telling; only lines beyond any log reach it."""
_CHECKED = 16
_NEVER = "never"
_DIGITS = b"0123456789"
_NUMBERS = bytes(sign if sign in b"0123456789." else 0x20 for sign in range(256))
"""Turns bytes into words of digits and points."""
_LONGEST_NUMBER = 15
_OUTPUT = frozenset((Origin.REPLICA, Origin.TEXT, Origin.NODE))

Make = Callable[[], Entry]
StreamKey = tuple[JobKey | None, object]
"""The job that a stream is of, and what tells it from the job's other streams."""


class _Kind:
    """How often lines that are alike but for their digits came, and where their counter stood."""

    __slots__ = ("block", "count", "falls", "floor", "late", "told")

    def __init__(self) -> None:
        self.count = self.told = self.falls = 0
        self.late = 0  # once the stream's begin was over
        self.floor: tuple[int, ...] = ()
        self.block: tuple[int, ...] = ()

    def falls_back(self, head: bytes) -> bool:
        """Whether the whole numbers that the line begins with are lower than in all of the last lines of its kind."""
        words = (word for word in head.translate(_NUMBERS).split() if len(word) <= _LONGEST_NUMBER and b"." not in word)
        now = tuple(map(int, islice(words, 2)))
        lowest = self.block if self.block < self.floor else self.floor
        if self.count % _CHECKED == 1:
            self.floor, self.block = self.block, now
        elif now < self.block:
            self.block = now
        if not now or now >= lowest or self.falls >= MOST_FALLS:
            return False
        self.floor = self.block = now
        self.falls += 1
        return True


class _Stream:
    """One stream of lines while it is read: what waits to be kept or left out, and what was left out so far."""

    __slots__ = (
        "after", "begun", "down", "kinds", "last", "of_job", "openings", "seen", "skipped", "spoke", "tens", "up",
        "waiting",
    )  # fmt: skip

    def __init__(self, stamp: str, of_job: set[bytes]) -> None:
        self.of_job = of_job  # kinds that a stream of its job begins with
        begin = Instant.parse(stamp)
        self.begun = str(Instant(begin + OPENING_TIME))[:19] if begin is not None else ""  # when its begin is over
        self.waiting: deque[tuple[Make, str, int]] = deque()
        self.after = self.seen = self.up = self.down = 0
        self.kinds: dict[bytes, _Kind] = {}
        self.openings: set[bytes] = set()
        self.skipped: dict[str, int] = {}
        self.tens: set[str] = set()
        self.last = ""
        self.spoke = False  # since other speakers of its job told something

    def leave_out(self) -> int:
        """Leaves out the line that has waited longest, and counts it; gives its length."""
        _, severity, size = self.waiting.popleft()
        self.skipped[severity] = self.skipped.get(severity, 0) + 1
        return size

    @property
    def is_disordered(self) -> bool:
        """Whether its lines do not come in the order of time, so that neighbours say nothing."""
        return min(self.up, self.down) * 8 > self.up + self.down

    def follows(self, stamp: str) -> str:
        """Notes the time of the next line; gives that of the one before if ten minutes of the clock have begun."""
        last, self.last = self.last, stamp
        ten_seconds = stamp[:18]
        if last[:18] != ten_seconds:
            if last[:18] < ten_seconds:
                self.up += 1
            else:
                self.down += 1
        return "" if last[:15] == stamp[:15] else last or _NEVER


class Thinner:
    """Takes the lines of one part of the input in its order and hands out those that are kept."""

    def __init__(self, keep: Callable[[Entry], None]) -> None:
        self._keep = keep
        self._streams: dict[StreamKey, _Stream] = {}
        self._out_of_order = self._size = 0  # lines, and characters that wait
        self._spoke: dict[JobKey | None, list[_Stream]] = {}
        self._openings: dict[JobKey | None, set[bytes]] = {}

    def around(self, job: JobKey | None) -> None:
        """Keeps what all streams of a job say about now: another speaker, such as the service, tells something.

        A stream that said nothing since the last time has nothing to be kept and goes on as it would.
        """
        for stream in self._spoke.pop(job, ()):
            self._release(stream, EDGE)
            stream.after = max(stream.after, EDGE)
            stream.spoke = False

    def add(self, key: StreamKey, make: Make, text: str, stamp: str, severity: str, *, tells: bool) -> None:
        """Takes the next line of the stream `key`; `make` gives its entry, if it is to be kept."""
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams[key] = _Stream(stamp, self._openings.setdefault(key[0], set()))
        if not stream.spoke:
            stream.spoke = True
            self._spoke.setdefault(key[0], []).append(stream)
        stream.seen += 1
        new_time = stream.follows(stamp) if stamp else ""
        disordered = stream.is_disordered
        near = self._reach(stream, text, stamp, tells or (not disordered and _was_silent(new_time, stamp)))
        if near:
            self._release(stream, near)
            self._give(stream, make())
            stream.after = max(stream.after - 1, near)
        elif stream.after > 0:
            stream.after -= 1
            self._give(stream, make())
        elif stream.seen <= EDGE or (self._is_kept_out_of_order(stream, stamp) if disordered else new_time):
            self._give(stream, make())
        else:
            waiting = stream.waiting
            waiting.append((make, severity, len(text)))
            self._size += len(text)
            while len(waiting) > NEAR or (waiting and self._size > MOST_WAITING):
                self._size -= stream.leave_out()

    def _is_kept_out_of_order(self, stream: _Stream, stamp: str) -> bool:
        """Whether a line is kept whose neighbours are not those of its time: at first all, then one of ten minutes."""
        if self._out_of_order >= MOST_OUT_OF_ORDER and stamp[:15] in stream.tens:
            return False
        self._out_of_order += 1
        stream.tens.add(stamp[:15])
        return True

    def finish(self) -> None:
        """Keeps the ends of all streams."""
        for stream in self._streams.values():
            self._release(stream, EDGE)
        self._streams.clear()
        self._spoke.clear()
        self._openings.clear()

    def _reach(self, stream: _Stream, text: str, stamp: str, tells: bool) -> int:
        """How many lines are kept before and after a line; one that is merely rare is kept by raising `after`."""
        head = text[:80].encode("utf-8", "surrogatepass")
        name = head[:60].translate(None, _DIGITS)
        kind = stream.kinds.get(name)
        if kind is None:
            if len(stream.kinds) >= KINDS:
                name = b""
            kind = stream.kinds.setdefault(name, _Kind())
        kind.count += 1
        if stream.seen <= OPENING:
            stream.openings.add(name)
            stream.of_job.add(name)
        if tells or is_indented(text):
            kind.told += 1
            return NEAR if kind.told <= FIRST_ALIKE else CLOSE if kind.told <= MOST_ALIKE else 0
        if len(text) >= ENTRY_LIMIT // 4 and kind.count <= RARE:
            return NEAR
        if stream.seen > OPENING and name in stream.openings and kind.count <= OPENING_REPEATS:
            return EDGE
        late = kind.late < RARE and stamp[:19] >= stream.begun
        kind.late += late
        if name and (late or kind.count <= (OPENING_REPEATS if name in stream.of_job else RARE)):
            stream.after += 1
            return 0
        return EDGE if kind.falls_back(head) else 0

    def _release(self, stream: _Stream, near: int) -> None:
        while len(stream.waiting) > near:
            self._size -= stream.leave_out()
        for make, _, size in stream.waiting:
            self._size -= size
            self._give(stream, make())
        stream.waiting.clear()

    def _give(self, stream: _Stream, entry: Entry) -> None:
        if stream.skipped:
            entry = replace(entry, skipped=tuple(sorted(stream.skipped.items())))
            stream.skipped = {}
        self._keep(entry)


def _was_silent(before: str, now: str) -> bool:
    """Whether a long silence lies between two times, in whichever order they come."""
    if not before or before is _NEVER:
        return False
    earlier, later = Instant.parse(before), Instant.parse(now)
    return earlier is not None and later is not None and abs(later - earlier) >= SILENCE


def is_chatter(entry: Entry) -> bool:
    """Whether an entry is an output line, of which there may be millions; words of services and facts are all kept."""
    return entry.origin in _OUTPUT and not entry.fields.get("kind") and "split_uid" not in entry.fields


def stream_of(entry: Entry) -> StreamKey:
    """What keeps the streams of entries apart."""
    container = entry.fields.get("container") if entry.fields else None
    return entry.job, (entry.origin, entry.replica, entry.rank, entry.node, entry.attempt, container, entry.source)
