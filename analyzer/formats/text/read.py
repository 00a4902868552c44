"""Reads text line by line: in the dialect of the source, with blocks of descriptions between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from analyzer.formats.clock import LineClock
from analyzer.formats.reading import Reading
from analyzer.formats.stream import Lines, text_of
from analyzer.formats.text.blocks import read_block
from analyzer.formats.text.console_blocks import recognize_console_blocks
from analyzer.formats.text.console_copy import recognize_explorer, recognize_list
from analyzer.formats.text.container_output import (
    recognize_cri,
    recognize_hosts,
    recognize_multiplexed,
    recognize_prefixed,
    recognize_stamped,
)
from analyzer.formats.text.dialect import Dialect, Recognizer, Said
from analyzer.formats.text.machine_log import recognize_machine, recognize_slurm_daemon
from analyzer.formats.text.plain import Plain, recognize_plain
from analyzer.formats.text.stream_logs import recognize_stream_logs
from analyzer.model import Entry, Instant

RECOGNIZERS: tuple[Recognizer, ...] = (
    recognize_stream_logs, recognize_explorer, recognize_list, recognize_console_blocks, recognize_cri,
    recognize_prefixed, recognize_slurm_daemon, recognize_machine, recognize_stamped, recognize_multiplexed,
    recognize_hosts, recognize_plain,
)  # fmt: skip
_LOOK = 400


def read_text(lines: Lines, head: str, reading: Reading, after: Entry | None = None) -> Iterator[Entry]:
    """The entries of a text.

    `head` is the beginning of the whole source, by which the dialect is recognised. Lines that state neither time nor
    speaker take them from `after`, the entry that stands before the text.
    """
    sample = [line for line in head.splitlines()[:_LOOK] if line.strip()]
    dialect: Dialect = next(d for known in RECOGNIZERS if (d := known(sample, reading.name)))
    clock = LineClock(head)
    writer = _Writer(reading, clock, _is_newest_first(sample, dialect, LineClock(head)), after)
    for number, raw in lines:
        block = read_block(number, raw, lines, reading, read_text)
        if block is not None:
            yield from writer.placed(block)
            continue
        line = text_of(raw, reading, number)
        if line.strip():
            said = dialect.read(line)
            if said is not None and not said.spoken:
                continue
            yield writer.entry(number, line, None if after is not None and isinstance(dialect, Plain) else said)


class _Writer:
    """Makes entries out of lines, keeping time and speaker from one line to the next."""

    def __init__(self, reading: Reading, clock: LineClock, newest_first: bool, after: Entry | None) -> None:
        self._reading, self._clock, self._newest_first = reading, clock, newest_first
        self._last = Said(text="") if after is None else _said(after)
        self._time = None if after is None else after.time
        self._count = self._since = 0

    def entry(self, number: int, line: str, said: Said | None) -> Entry:
        self._count = max(number, self._count + 1)
        if said is None:  # the rest of a message that the row before began
            said, stated = self._last, self._clock.read(line)
            text = line
            self._since += 1
        else:
            text = said.text
            stated = said.time if said.time is not None else self._clock.read(line)
            self._last, self._since = said, 0
        self._time = stated if stated is not None else self._time
        return Entry(
            text=text,
            time=self._time,
            time_stated=stated is not None,
            severity=said.severity,
            origin=said.origin,
            job=said.job,
            replica=said.replica,
            attempt=said.attempt,
            node=said.node,
            sequence=self._sequence(),
            source=self._reading.name,
            line=number,
            fields=said.fields,
        )

    def placed(self, entries: Sequence[Entry]) -> Iterator[Entry]:
        """Entries of a block, in the order of the source."""
        yield from entries
        self._count = max(self._count, *(entry.sequence for entry in entries))

    def _sequence(self) -> int:
        if not self._newest_first:
            return self._count
        return self._since - ((self._count - self._since) << 20)


def _said(entry: Entry) -> Said:
    """The speaker of an entry, for lines that follow it."""
    return Said(
        text="",
        severity=entry.severity,
        origin=entry.origin,
        job=entry.job,
        replica=entry.replica,
        attempt=entry.attempt,
        node=entry.node,
        fields=entry.fields if "kind" not in entry.fields else {},
    )


def _is_newest_first(sample: Sequence[str], dialect: Dialect, clock: LineClock) -> bool:
    """Whether the stated times run backwards through the head of a text."""
    times: list[Instant] = []
    for line in sample:
        said = dialect.read(line)
        time = None if said is None else said.time or clock.read(line)
        if time is not None:
            times.append(time)
    back = sum(1 for one, two in pairwise(times) if two < one)
    forth = sum(1 for one, two in pairwise(times) if two > one)
    return back >= 3 and back > 4 * forth
