"""What a unit of work gives: what was kept of each job, in a form to store and send, and what ties it to others."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from analyzer.entries import Partial, Partials, Sifter
from analyzer.entries.sift import Tells
from analyzer.entries.thin import stream_of
from analyzer.entries.ties import Ties, ties_of
from analyzer.entries.ties import joined as join_ties
from analyzer.errors import NothingToDiagnose, RenderError
from analyzer.model import Entry, Instant, JobKey, Note
from analyzer.redact import redact, redact_all
from analyzer.scanning.objects import Unit, range_source
from analyzer.scanning.settings import Settings
from analyzer.sources import open_sources

ANEW = "remove it or choose another --output; the same command then reads everything anew"
"""What to do about damaged records."""
FIRST, LAST = 20_000, 5_000
"""Of one stream of a job so many entries are kept at most: its first and its last."""
MOST = 200_000
"""So many are kept of all streams of a job, each of which has an equal share."""
LEAST_FIRST, LEAST_LAST = 80, 20
"""So many of each stream are kept however many streams there are."""
SPILL = 40_000
"""After so many entries a worker hands out what it has kept so far."""


class Part(msgspec.Struct, frozen=True):
    """What one unit holds of one job. `key` is "" for entries that name no job; `ties` are its `Ties`, packed."""

    key: str
    entries: bytes
    ties: bytes


class Done(msgspec.Struct, frozen=True):
    """A unit that was read: its counts and the notes on it."""

    unit: Unit
    entries: int
    notes: list[Note]


def scan_unit(unit: Unit, tells: Tells, settings: Settings) -> Iterator[Part | Done]:
    """Reads a unit; gives its parts (several of one job where it is large) and, last, its counts."""
    notes: list[Note] = []
    sifter = Sifter(tells, settings.span)
    sources = [range_source(unit)] if unit.end is not None else open_sources([unit.name], notes)
    try:
        for source in sources:
            for _ in sifter.source(source, notes):
                if sifter.kept >= SPILL:
                    yield from _parts(sifter.take(), unit, settings.redact)
    except NothingToDiagnose:
        notes.append(Note("unreadable", "this object went away before it was read", unit.name))
    yield from _parts(sifter.finish(notes), unit, settings.redact)
    placed = [msgspec.structs.replace(n, line=n.line + unit.line - 1) if n.line else n for n in notes]
    placed = redact_all(placed) if settings.redact else placed
    yield Done(unit, sifter.read, placed)


def _parts(partials: Partials, unit: Unit, masked: bool) -> Iterator[Part]:
    """What was kept, to be recorded: secrets are masked before they reach any file or another machine."""
    for key in sorted(partials, key=lambda key: (key is not None, key)):
        entries = list(partials[key].entries.values())
        if masked:
            entries = [_masked(entry) for entry in entries]
        if unit.line > 1:
            entries = [_moved(entry, unit.line - 1) for entry in entries]
        ties = ties_of(key, entries) if key is not None else Ties()
        yield Part(name_of(key), pack(entries), msgspec.msgpack.encode(ties))


def _masked(entry: Entry) -> Entry:
    text = redact(entry.text)
    fields = redact_all(entry.fields) if entry.fields else entry.fields
    if text is entry.text and fields is entry.fields:
        return entry
    return msgspec.structs.replace(entry, text=text, fields=fields)


def _moved(entry: Entry, lines: int) -> Entry:
    """An entry of a range with its place in the whole file."""
    return msgspec.structs.replace(
        entry, line=entry.line + lines, sequence=entry.sequence if entry.insert_id else entry.sequence + lines
    )


def bounded(partial: Partial) -> Partial:
    """The partial with at most the first and the last entries of each stream; the rest is counted.

    First and last are those of the total order, and more streams only lessen what each keeps, so that it does not
    matter how the input was parted.
    """
    if len(partial.entries) <= FIRST + LAST:
        return partial
    streams: dict[object, list[Entry]] = {}
    for entry in partial.in_order():
        streams.setdefault(stream_of(msgspec.structs.replace(entry, source="")), []).append(entry)
    share = MOST // len(streams)
    first = min(FIRST, max(LEAST_FIRST, share * FIRST // (FIRST + LAST)))
    last = min(LAST, max(LEAST_LAST, share * LAST // (FIRST + LAST)))
    kept = Partial(doubled=partial.doubled)
    for entries in streams.values():
        for entry in _ends(entries, first, last):
            kept.add(entry)
    return kept


def _ends(entries: list[Entry], first: int, last: int) -> list[Entry]:
    if len(entries) <= first + last:
        return entries
    counts: dict[str, int] = {}
    for entry in entries[first:-last]:
        for severity, count in ((entry.severity, 1), *entry.skipped):
            counts[severity] = counts.get(severity, 0) + count
    following = entries[-last]
    for severity, count in following.skipped:
        counts[severity] = counts.get(severity, 0) + count
    following = msgspec.structs.replace(following, skipped=tuple(sorted(counts.items())))
    return [*entries[:first], following, *entries[len(entries) - last + 1 :]]


# -- as bytes


def name_of(key: JobKey | None) -> str:
    """A job's key as text; "" for entries that name no job."""
    return "" if key is None else "\x1f".join((key.platform, key.project, key.id))


def key_of(name: str) -> JobKey | None:
    """The key that a text names."""
    return JobKey(*name.split("\x1f", 2)) if name else None


_encoder = msgspec.msgpack.Encoder(enc_hook=int)


def _decoded(kind: type, value: Any) -> Any:
    if kind is Instant:
        return Instant(value)
    raise NotImplementedError(kind)


_decoder = msgspec.msgpack.Decoder(list[Entry], dec_hook=_decoded)
_ties = msgspec.msgpack.Decoder(Ties)


def pack(entries: list[Entry]) -> bytes:
    """Entries as bytes."""
    return zlib.compress(_encoder.encode(entries), 1)


def unpack(data: bytes) -> list[Entry]:
    """The entries that `pack` was given.

    Raises:
        RenderError: if the bytes are damaged.
    """
    try:
        return _decoder.decode(zlib.decompress(data))
    except (zlib.error, msgspec.DecodeError) as error:
        raise _damaged() from error


def unpack_ties(data: bytes) -> Ties:
    """The ties of a part.

    Raises:
        RenderError: if the bytes are damaged.
    """
    try:
        return _ties.decode(data)
    except msgspec.DecodeError as error:
        raise _damaged() from error


def _damaged() -> RenderError:
    return RenderError("the scan's records are damaged", where="scan.sqlite", advice=ANEW)


def joined(parts: Iterable[bytes]) -> Partial:
    """What several parts hold of one job, bounded, also on the way."""
    partial, most = Partial(), 4 * (FIRST + LAST)
    for data in parts:
        for entry in unpack(data):
            partial.add(entry)
        if len(partial.entries) > most:
            partial = bounded(partial)
            most = max(most, 2 * len(partial.entries))  # of many streams each may be within its bounds
    return bounded(partial)


def merged(one: Part, other: Part) -> Part:
    """Two parts of one job as one: associative and commutative, but for the order of bytes."""
    partial = joined((one.entries, other.entries))
    ties = join_ties([unpack_ties(one.ties), unpack_ties(other.ties)])
    return Part(one.key, pack(list(partial.entries.values())), msgspec.msgpack.encode(ties))
