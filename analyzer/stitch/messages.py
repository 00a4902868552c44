"""From the entries of a job to its messages, and from a bare text to one message."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from analyzer.model import Entry, Message, Origin
from analyzer.stitch.begin import trail_after
from analyzer.stitch.clean import cleaned_line, cleaned_lines, visible
from analyzer.stitch.prefixes import Labels, Prefixed, learn
from analyzer.stitch.service import verdicts
from analyzer.stitch.streams import BEGINNINGS, Open, Slots, Stream, finished, follow

_LINES_LEARNED_FROM_ENTRY = 50

Patterns = tuple[re.Pattern[str], ...]


class Place:
    """Where entries were said, without the process: one origin and replica, or what stands for an unknown replica."""

    def __init__(self) -> None:
        self.labels = Labels()
        self.patterns: Patterns = ()
        self.streams: dict[object, Stream] = {}


def stitch(entries: Sequence[Entry]) -> list[Message]:
    """The messages of one job's entries (given in total order), in the order of their first entries.

    Streams are kept apart by who speaks: origin, replica (source where there is none), rank, launcher's speaker name,
    container, attempt. Every entry is in exactly one message, or is the source of several that each hold an excerpt.
    """
    slots: Slots = []
    find = BEGINNINGS.find
    places = _places(entries)
    for entry, place in zip(entries, places, strict=True):
        text = entry.text
        hits = find(text)
        lines = cleaned_lines(visible(text), place.patterns) if hits else [cleaned_line(text, place.patterns)]
        speaker, rank, first = lines[0]
        if rank is None:
            rank = entry.rank
        if entry.fields and entry.fields.get("kind"):
            slots.append(_alone(entry, lines, rank))
            continue
        stream = _stream(place, entry, speaker, rank, slots)
        if not hits and stream.is_idle:
            stream.plain(entry, first, rank)
        else:
            stream.feed(entry, [line.text for line in lines], rank)
    for place in dict.fromkeys(places):
        for stream in place.streams.values():
            stream.close()
    return _flat(slots)


def _stream(place: Place, entry: Entry, speaker: str, rank: int | None, slots: Slots) -> Stream:
    key = (speaker, rank, entry.attempt, entry.fields.get("container") if entry.fields else None)
    stream = place.streams.get(key)
    if stream is None:
        stream = place.streams[key] = Stream(slots)
    return stream


def _places(entries: Sequence[Entry]) -> list[Place]:
    """The place of each entry; a place knows the doubtful prefixes that its lines agree on."""
    places: dict[object, Place] = {}
    found = []
    for entry in entries:
        replica, text = entry.replica, entry.text
        key = (entry.origin._value_, entry.source, entry.node) if replica is None else (entry.origin._value_, replica)
        place = places.get(key)
        if place is None:
            place = places[key] = Place()
        found.append(place)
        if "\n" not in text:
            place.labels.see(text)
        elif not entry.fields.get("kind"):
            for line in text.split("\n", _LINES_LEARNED_FROM_ENTRY)[:_LINES_LEARNED_FROM_ENTRY]:
                place.labels.see(line)
    for place in places.values():
        place.patterns = place.labels.patterns()
    return found


def message_of(text: str, origin: Origin = Origin.TEXT, fields: Mapping[str, Any] | None = None) -> Message:
    """One message out of a bare text; its lines are one message."""
    entry = Entry(text=text, origin=origin, fields=dict(fields or {}))
    seen = visible(text)
    labels = learn(seen.split("\n")).patterns() if "\n" in seen else ()
    lines = cleaned_lines(seen, labels)
    rank = next((line.rank for line in lines if line.rank is not None), None)
    made = _alone(entry, lines, rank)
    if isinstance(made, list):
        whole = _open(entry, lines, rank)
        whole.entries = [replace(entry, origin=Origin.TEXT)]
        told = finished(whole)
        assert isinstance(told, Message)
        return replace(told, entries=(entry,), about=verdicts(text)[0].about)
    return made


def _open(entry: Entry, lines: Sequence[Prefixed], rank: int | None) -> Open:
    first = lines[0].text
    made = Open(0, rank, BEGINNINGS.shape(first, BEGINNINGS.find(first)) or trail_after(first))
    made.add(entry, [line.text for line in lines])
    follow(made, made.lines[1:])
    return made


def _alone(entry: Entry, lines: Sequence[Prefixed], rank: int | None) -> Message | list[Message]:
    """The message of an entry that belongs to no stream, such as an event or a description."""
    return finished(_open(entry, lines, rank))


def _flat(slots: Slots) -> list[Message]:
    messages: list[Message] = []
    for slot in slots:
        if isinstance(slot, list):
            messages += slot
        elif slot is not None:
            messages.append(slot)
    return messages
