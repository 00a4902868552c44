"""Ways in which an export distorts a job's log."""

from __future__ import annotations

import random
from collections.abc import Iterable

from jobs import BEGIN

from analyzer.model import SECOND, Entry, Instant


def newest_first(entries: Iterable[Entry], seed: int) -> list[Entry]:
    """As a console and most exports order them."""
    return list(reversed(list(entries)))


def shuffled(entries: Iterable[Entry], seed: int) -> list[Entry]:
    """In no order at all."""
    mixed = list(entries)
    random.Random(seed).shuffle(mixed)
    return mixed


def doubled(entries: Iterable[Entry], seed: int) -> list[Entry]:
    """As overlapping sinks deliver them."""
    return [copy for entry in entries for copy in (entry, entry)]


def split(entries: Iterable[Entry], seed: int) -> list[Entry]:
    """Over several files, read one after another."""
    files = [list(entries)[part::3] for part in range(3)]
    return [
        changed(entry, source=f"export-{part}", line=line)
        for part, file in enumerate(reversed(files))
        for line, entry in enumerate(file, 1)
    ]


def skewed(entries: Iterable[Entry], seed: int, seconds: float = 5.0) -> list[Entry]:
    """With the clock of every replica up to so many seconds off."""
    chosen = random.Random(seed)
    offsets: dict[str | None, int] = {"service": 0}
    moved = []
    for entry in entries:
        offset = offsets.setdefault(entry.replica, int(chosen.uniform(-seconds, seconds) * SECOND))
        moved.append(changed(entry, time=Instant((entry.time or 0) + offset)))
    return moved


def thinned(entries: Iterable[Entry], seed: int, share: float = 0.02) -> tuple[list[Entry], list[Entry]]:
    """Without a share of the entries; what was kept and what was lost."""
    chosen = random.Random(seed)
    kept, lost = [], []
    for entry in entries:
        (lost if chosen.random() < share else kept).append(entry)
    return kept, lost


def trimmed(entries: Iterable[Entry], seconds: float) -> list[Entry]:
    """Only what was logged from so many seconds after the job's begin."""
    return [entry for entry in entries if entry.time is not None and entry.time >= BEGIN.plus(seconds)]


def cut_short(entries: Iterable[Entry], seconds: float) -> list[Entry]:
    """Only what was logged up to so many seconds after the job's begin."""
    return [entry for entry in entries if entry.time is not None and entry.time < BEGIN.plus(seconds)]


def without(entries: Iterable[Entry], speaker: str) -> list[Entry]:
    """Without anything that one speaker said."""
    return [entry for entry in entries if entry.replica != speaker]


def without_machines(entries: Iterable[Entry]) -> list[Entry]:
    """As `stream-logs` prints them: no line names its machine."""
    return [changed(entry, node=None) for entry in entries]


def changed(entry: Entry, **facts: object) -> Entry:
    """The entry with some facts replaced."""
    fields = {name: getattr(entry, name) for name in Entry.__struct_fields__}
    return Entry(**{**fields, **facts})
