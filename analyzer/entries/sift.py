"""Turns a stream of entries into small values, one a job, that can be computed from any part of a log and merged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from analyzer.model import Entry, Instant, JobKey

Identity = tuple[object, ...]


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


def _identity(entry: Entry) -> Identity:
    if entry.insert_id:
        return (entry.insert_id, entry.time, entry.replica, entry.node, entry.sequence)
    return (entry.source, entry.line, entry.sequence, entry.time, entry.text)


def sift(entries: Iterable[Entry]) -> Partials:
    """Groups entries by the job that they name; None for those that name none."""
    partials: Partials = {}
    for entry in entries:
        partials.setdefault(entry.job, Partial()).add(entry)
    return partials


def absorb(into: Partials, part: Mapping[JobKey | None, Partial]) -> None:
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
    """How many entries there are of each severity, by name."""
    counts: dict[str, int] = {}
    for entry in entries:
        counts[entry.severity] = counts.get(entry.severity, 0) + 1
    yield from sorted(counts.items())
