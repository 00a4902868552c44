"""Takes a job's entries apart into streams, one a process as far as it can be told, and joins the lines of each."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from analyzer.model import SECOND, Entry, Instant, Message, Origin
from analyzer.stitch.begin import Beginnings, belongs_to_preamble, trail_after
from analyzer.stitch.block_shape import BlockShape, TrailShape
from analyzer.stitch.chain import parse_exceptions
from analyzer.stitch.clean import visible
from analyzer.stitch.grammar import starts_chain
from analyzer.stitch.service import Verdict, verdicts
from analyzer.stitch.shapes import NO, Shape, begins_message
from analyzer.stitch.traceback import State, TracebackShape

MOST_LINES = 2_000
MOST_CHARACTERS = 256 * 1024
_MOST_OPEN = 16
_MOST_BLANKS = 20
_LONGEST_PAUSE = 60 * SECOND
_ONE_WRITE = 5_000_000  # nanoseconds between lines that one write of a process can have put out
_SPEAKERS_BY_SERVICE = (Origin.SERVICE, Origin.STATUS)

BEGINNINGS = Beginnings()
Slots = list["Message | list[Message] | None"]


class Open:
    """A message under construction; `slot` is its place among the results, which is that of its first entry."""

    __slots__ = ("entries", "idle", "lines", "rank", "shape", "size", "slot", "time")

    def __init__(self, slot: int, rank: int | None, shape: Shape) -> None:
        self.slot, self.rank, self.shape = slot, rank, shape
        self.entries: list[Entry] = []
        self.lines: list[str] = []
        self.size = self.idle = 0
        self.time: Instant | None = None

    def add(self, entry: Entry, lines: Sequence[str]) -> None:
        """Joins an entry."""
        self.entries.append(entry)
        self.lines += lines
        self.size += len(entry.text)
        self.idle = 0
        if entry.time_stated:
            self.time = entry.time

    @property
    def is_full(self) -> bool:
        """Whether it has come to the bounds of one message."""
        return len(self.lines) >= MOST_LINES or self.size >= MOST_CHARACTERS


class Stream:
    """The lines of one speaker, in order."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._open: list[Open] = []
        self._blanks: list[tuple[int, Entry, int | None]] = []  # may yet belong to what is open; each with its place
        self._followers: dict[str, set[str]] = {}  # which line came after which in messages so far
        self._run = 0  # how many lines on end went to one message
        self._last: tuple[int, Entry, str, int | None] | None = None  # the plain line just before, if it was one

    @property
    def is_idle(self) -> bool:
        """Whether nothing is open that a plain line could belong to."""
        return not self._open

    def feed(self, entry: Entry, lines: list[str], rank: int | None) -> None:
        """Takes the next entry; `lines` are its clean lines."""
        first = lines[0]
        if self._open:
            self._expire(entry)
            if not first.strip() and len(lines) == 1 and self._open:
                self._hold(entry, rank)
                return
        self._place(entry, lines, rank, BEGINNINGS.find(first))

    def plain(self, entry: Entry, line: str, rank: int | None) -> None:
        """Takes an entry that is a message by itself."""
        self._last = (len(self._slots), entry, line, rank)
        self._slots.append(Message(text=line, entries=(entry,), rank=rank))

    def _hold(self, entry: Entry, rank: int | None) -> None:
        self._blanks.append((len(self._slots), entry, rank))
        self._slots.append(None)
        if len(self._blanks) > _MOST_BLANKS:
            self._release_blanks()

    def _release_blanks(self) -> None:
        for slot, entry, rank in self._blanks:
            self._slots[slot] = Message(text="", entries=(entry,), rank=rank)
        self._blanks.clear()

    def _place(self, entry: Entry, lines: list[str], rank: int | None, hits: list[int]) -> None:
        target = self._taker(entry, lines[0])
        if target is None or target.idle:  # a preamble right before is nearer than what waits; a hint is not so choosy
            target = self._revive_preamble(entry, lines[0], hits) or target or self._revive_line(entry, lines[0], hits)
        if target is None:
            self._release_blanks()
            target = self._new(entry, lines, rank, hits)
            if target is None:
                self._age(None)
                return
        else:
            for _, blank, _ in self._blanks:
                target.add(blank, [""])
            self._blanks.clear()
            self._serve(target, lines[0])
            target.shape.take(lines[0])
        target.add(entry, lines)
        follow(target, lines[1:])
        self._last = None
        self._age(target)

    def _taker(self, entry: Entry, line: str) -> Open | None:
        """The open message that a line belongs to: the surest, and among equals the one that has waited longest."""
        best, level = None, (NO, False, False)
        latest = self._open[-1] if self._open else None
        for candidate in self._open:
            wanted = candidate.shape.wants(line, bool(self._blanks), candidate.idle > 0)
            known = line in self._followers.get(candidate.lines[-1], ())
            fit = (wanted, known, candidate is latest and self._run > 1)
            if wanted > NO and fit > level:
                best, level = candidate, fit
        return best or self._in_one_write(entry, line)

    def _serve(self, message: Open, line: str) -> None:
        """Notes what followed what, and puts the message at the end of the queue of those that wait."""
        if len(self._followers) < MOST_LINES:
            self._followers.setdefault(message.lines[-1], set()).add(line)
        self._run = self._run + 1 if message is self._open[-1] else 1
        self._open.remove(message)
        self._open.append(message)

    def _in_one_write(self, entry: Entry, line: str) -> Open | None:
        """The exception that was written within the same few milliseconds, for lines of its message such as notes."""
        last = self._open[-1] if self._open else None
        if last is None or last.idle or begins_message(line):
            return None
        if not isinstance(last.shape, TracebackShape) or last.shape.state is not State.MESSAGE:
            return None
        if last.time is None or entry.time is None or not entry.time_stated:
            return None
        has_fine_clock = last.entries[0].time != last.entries[-1].time
        if not (has_fine_clock and 0 <= entry.time - last.time <= _ONE_WRITE):
            return None
        return last if BEGINNINGS.shape(line, BEGINNINGS.find(line)) is None else None

    def _revive_preamble(self, entry: Entry, line: str, hits: list[int]) -> Open | None:
        """The message right before, where a traceback that begins with this line is part of it."""
        if not hits or self._blanks:
            return None
        latest = self._open[-1] if self._open else None
        if latest is not None and isinstance(latest.shape, TrailShape) and not latest.idle:
            if not belongs_to_preamble(line, latest.lines[-1]):
                return None
            latest.shape = TracebackShape(line)
            return latest
        if self._last is None or not belongs_to_preamble(line, self._last[2]):
            return None
        return self._reopen(entry, TracebackShape(line))

    def _revive_line(self, entry: Entry, line: str, hits: list[int]) -> Open | None:
        """The plain line just before, where this line explains it."""
        if not hits or self._blanks or self._last is None or not BEGINNINGS.trails(line, hits):
            return None
        return self._reopen(entry, trail_after(self._last[2]))

    def _reopen(self, entry: Entry, shape: Shape) -> Open | None:
        """The last plain line as the beginning of a longer message; None if it is long past."""
        assert self._last is not None
        slot, before, text, rank = self._last
        if before.time is not None and entry.time is not None and abs(entry.time - before.time) > _LONGEST_PAUSE:
            return None
        revived = Open(slot, rank, shape)
        revived.add(before, [text])
        self._slots[slot] = None
        self._open.append(revived)
        return revived

    def _new(self, entry: Entry, lines: list[str], rank: int | None, hits: list[int]) -> Open | None:
        shape = BEGINNINGS.shape(lines[0], hits)
        if shape is None and len(lines) == 1:
            self.plain(entry, lines[0], rank)
            self._slots[-1] = spoken(Message(text=lines[0], entries=(entry,), rank=rank))
            return None
        self._slots.append(None)
        self._run = 1
        made = Open(len(self._slots) - 1, rank, shape or trail_after(lines[0]))
        self._open.append(made)
        if len(self._open) > _MOST_OPEN:
            self._finish(self._open[0])
        return made

    def _expire(self, entry: Entry) -> None:
        """Ends what cannot go on: the last line is too long ago."""
        time = entry.time if entry.time_stated else None
        for message in tuple(self._open):
            if time is not None and message.time is not None and time - message.time > _LONGEST_PAUSE:
                self._finish(message)
        if not self._open:
            self._release_blanks()

    def _age(self, target: Open | None) -> None:
        """A line has gone to `target`: it may be complete by that, and all others have waited one line more."""
        for message in tuple(self._open):
            if message is not target:
                message.idle += 1
            if message.is_full or message.shape.is_done or message.idle > message.shape.patience:
                self._finish(message)

    def _finish(self, message: Open) -> None:
        self._open.remove(message)
        self._slots[message.slot] = finished(message)

    def close(self) -> None:
        """Ends all that is open."""
        for message in tuple(self._open):
            self._finish(message)
        self._release_blanks()


def follow(message: Open, lines: Sequence[str]) -> None:
    """Moves a message's shape over the further lines of one entry, which are its own whatever they look like."""
    for line in lines:
        hits = BEGINNINGS.find(line)
        shape = message.shape
        if hits and shape.kind == "line" and shape.wants(line, False, False) == NO:
            message.shape = BEGINNINGS.shape(line, hits) or shape
        shape.take(line)


def finished(message: Open) -> Message | list[Message]:
    """The message as a value."""
    text = "\n".join(message.lines).rstrip("\n")
    shape = message.shape
    kind = "line" if isinstance(shape, BlockShape) and shape.is_doubtful else shape.kind
    exceptions = parse_exceptions(text) if kind in ("line", "traceback") or starts_chain(text) else ()
    if kind in ("line", "table") and any(link.frames for link in exceptions):
        kind = "traceback"
    return spoken(
        Message(text=text, entries=tuple(message.entries), kind=kind, rank=message.rank, exceptions=exceptions)
    )


def spoken(message: Message) -> Message | list[Message]:
    """The message, or for several verdicts of the service in one text a message for each."""
    if message.origin not in _SPEAKERS_BY_SERVICE or "replica " not in message.text:
        return message
    found = verdicts(message.text)
    if not found:
        return message
    parts = verdicts(message.first.text) if len(message.entries) == 1 else []
    if len(found) < 2 or len(parts) != len(found):
        return replace(message, about=found[0].about)
    return [_part(message, part) for part in parts]


def _part(whole: Message, verdict: Verdict) -> Message:
    text = visible(verdict.excerpt).rstrip()
    exceptions = parse_exceptions(text)
    kind = "traceback" if any(link.frames for link in exceptions) else "line"
    return replace(whole, text=text, kind=kind, exceptions=exceptions, about=verdict.about, excerpt=verdict.excerpt)
