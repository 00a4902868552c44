"""Turns a stream of entries into small values, one a job, that can be computed from any part of a log and merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial as partial_of
from typing import TypeVar

import msgspec

from analyzer.entries.room import Room
from analyzer.entries.thin import StreamKey, Thinner, is_chatter, stream_of
from analyzer.formats import Lines, read_parts
from analyzer.model import Entry, Instant, JobKey, Note
from analyzer.sources import Source

Identity = tuple[object, ...]
Tells = Callable[[Sequence[str]], set[int]]
"""Finds the texts that tell something, by number."""
_BATCH = 256
_BATCH_SIZE = 1 << 20
"""Characters of text that are looked through at once: that takes several times their memory."""
_USUAL = 1 << 11  # characters of an entry that is not long


class Partial(msgspec.Struct):
    """What was kept of one job out of some part of the input.

    `entries` by identity: an entry that came twice (same insertId and time) is kept once. `doubled` counts the rest.
    """

    entries: dict[Identity, Entry] = {}
    doubled: int = 0

    def add(self, entry: Entry) -> None:
        """Keeps an entry; of two with the same identity the one that stands first in (source, line) order."""
        identity = _identity(entry)
        known = self.entries.get(identity)
        if known is None:
            self.entries[identity] = entry
            return
        self.doubled += 1
        if (entry.source, entry.line, entry.text) < (known.source, known.line, known.text):
            self.entries[identity] = entry

    def in_order(self) -> tuple[Entry, ...]:
        """The entries in their total order."""
        return tuple(sorted(self.entries.values(), key=lambda entry: entry.order))


Partials = dict[JobKey | None, Partial]
Name = TypeVar("Name", JobKey, JobKey | None)


def _identity(entry: Entry) -> Identity:
    if entry.insert_id:
        return (entry.insert_id, entry.time, entry.replica, entry.node, entry.sequence)
    return (entry.source, entry.line, entry.sequence, entry.time, entry.text)


def sift(entries: Iterable[Entry], tells: Tells | None = None) -> Partials:
    """Groups entries by the job that they name; None for those that name none.

    With `tells`, which finds the texts that tell something, what no diagnosis needs is left out and counted.
    """
    if tells is not None:
        sifter = Sifter(tells)
        for entry in entries:
            sifter.entry(entry)
        return sifter.finish([])
    partials: Partials = {}
    for entry in entries:
        partials.setdefault(entry.job, Partial()).add(entry)
    return partials


def sift_source(source: Source, notes: list[Note], tells: Tells, room: Room | None = None) -> Partials:
    """What a diagnosis can need of a source; `room` is that of all sources whose partials are held together."""
    sifter = Sifter(tells, room=room)
    for _ in sifter.source(source, notes):
        pass
    return sifter.finish(notes)


class Span(msgspec.Struct, frozen=True):
    """The time that entries are wanted from: from `since` up to and without `until`; None is open."""

    since: Instant | None = None
    until: Instant | None = None

    def holds(self, time: Instant | None) -> bool:
        """Whether a moment lies in it; entries without a time always do."""
        if time is None:
            return True
        return (self.since is None or time >= self.since) and (self.until is None or time < self.until)


class _Held:
    """An entry that is there already, as the thinner asks for it."""

    __slots__ = ("_entry",)

    def __init__(self, entry: Entry) -> None:
        self._entry = entry

    def __call__(self) -> Entry:
        return self._entry


class Sifter:
    """Sifts one part of the input as it is read."""

    def __init__(self, tells: Tells, span: Span | None = None, room: Room | None = None) -> None:
        self._tells = tells
        self._room = Room() if room is None else room
        self._span = span if span is not None and span != Span() else None
        self._partials: Partials = {}
        self._thinner = Thinner(self._keep)
        self._batch: list[Entry] = []
        self._size = 0
        self._streams: dict[int, tuple[object, StreamKey | None]] = {}
        self.read = 0
        self.kept = 0  # entries; a long one counts for several

    def source(self, source: Source, notes: list[Note]) -> Iterator[int]:
        """Takes all of a source; gives the number of entries read so far after each block."""
        for part in read_parts(source, notes):
            if isinstance(part, Lines):
                self._drain()
                self._lines(part, source.name)
                yield self.read
            else:
                self.entry(part)
        self._drain()

    def entry(self, entry: Entry) -> None:
        """Takes one entry."""
        self._batch.append(entry)
        self._size += len(entry.text)
        if len(self._batch) >= _BATCH or self._size >= _BATCH_SIZE:
            self._drain()

    def take(self) -> Partials:
        """What was kept since the last call, where it must not all be held at once."""
        self._room.renew()
        return self._handed_out()

    def finish(self, notes: list[Note]) -> Partials:
        """The rest of what is kept, once all is read; adds what is to be said of it."""
        self._drain()
        self._thinner.finish()
        self._streams.clear()
        notes.extend(self._room.notes())
        return self._handed_out()

    def _handed_out(self) -> Partials:
        """What was kept, which is held here no longer."""
        partials, self._partials, self.kept = self._partials, {}, 0
        return partials

    def _keep(self, entry: Entry) -> None:
        entry = self._room.fitted(entry)
        partial = self._partials.get(entry.job)
        if partial is None:
            partial = self._partials[entry.job] = Partial()
        partial.add(entry)
        self.kept += 1 + len(entry.text) // _USUAL

    def _drain(self) -> None:
        batch, self._batch, self._size = self._batch, [], 0
        if self._span is not None:
            batch = [entry for entry in batch if self._span.holds(entry.time)]
        if not batch:
            return
        self.read += len(batch)
        telling = self._tells([entry.text for entry in batch])
        for number, entry in enumerate(batch):
            if is_chatter(entry):
                stamp = str(entry.time) if entry.time is not None else ""
                self._thinner.add(
                    stream_of(entry), _Held(entry), entry.text, stamp, entry.severity, tells=number in telling
                )
            else:
                self._keep(entry)
                if number in telling and entry.job is not None:
                    self._thinner.around(entry.job)

    def _lines(self, block: Lines, source: str) -> None:
        lines, entry_of = block.lines, block.converter.entry_of
        if self._span is not None:
            lines = [line for line in lines if self._span.holds(entry_of(line).time)]
        self.read += len(lines)
        telling = self._tells([line.text for line in lines])
        streams, add = self._streams, self._thinner.add
        for number, line in enumerate(lines):
            identity = line.identity
            known = streams.get(id(identity))
            if known is None:  # the identity is held, so that its number is not given to another
                entry = entry_of(line)
                known = streams[id(identity)] = (identity, stream_of(entry) if is_chatter(entry) else None)
            if known[1] is None:
                self._keep(entry_of(line))
                if number in telling and identity.job is not None:
                    self._thinner.around(identity.job)
            else:
                add(known[1], partial_of(entry_of, line), line.text, line.stamp, line.severity, tells=number in telling)


def absorb(into: dict[Name, Partial], part: Mapping[Name, Partial]) -> None:
    """Adds a part of the input to what was kept so far."""
    for key, partial in part.items():
        target = into.setdefault(key, Partial())
        target.doubled += partial.doubled
        for entry in partial.entries.values():
            target.add(entry)


def merge(one: Mapping[JobKey | None, Partial], other: Mapping[JobKey | None, Partial]) -> Partials:
    """The partials of two parts of the input together: associative and commutative."""
    merged: Partials = {}
    absorb(merged, one)
    absorb(merged, other)
    return merged


def time_span(entries: Iterable[Entry]) -> tuple[Instant | None, Instant | None]:
    """The first and the last stated time."""
    times = [entry.time for entry in entries if entry.time is not None and entry.time_stated]
    return (min(times), max(times)) if times else (None, None)


def severities(entries: Iterable[Entry]) -> Iterator[tuple[str, int]]:
    """How many entries there are of each severity, by name; lines that were left out are counted."""
    counts: dict[str, int] = {}
    for entry in entries:
        counts[entry.severity] = counts.get(entry.severity, 0) + 1
        for severity, count in entry.skipped:
            counts[severity] = counts.get(severity, 0) + count
    yield from sorted(counts.items())


def entries_in(entries: Iterable[Entry]) -> int:
    """How many entries there are, those counted that were left out."""
    return sum(1 + sum(count for _, count in entry.skipped) for entry in entries)
