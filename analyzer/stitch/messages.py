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

Place = tuple[Origin, str, str]
Patterns = tuple[re.Pattern[str], ...]


def stitch(entries: Sequence[Entry]) -> list[Message]:
    """The messages of one job's entries (given in total order), in the order of their first entries.

    Streams are kept apart by who speaks: origin, replica (source where there is none), rank, launcher's speaker name,
    container, attempt. Every entry is in exactly one message, or is the source of several that each hold an excerpt.
    """
    labels = _labels(entries)
    slots: Slots = []
    streams: dict[object, Stream] = {}
    for entry in entries:
        place = _place(entry)
        lines = _lines(entry.text, labels.get(place, ()))
        rank = lines[0].rank if lines[0].rank is not None else entry.rank
        if entry.fields.get("kind"):
            slots.append(_alone(entry, lines, rank))
            continue
        key = (place, rank, lines[0].speaker, entry.attempt, entry.fields.get("container"))
        stream = streams.get(key)
        if stream is None:
            stream = streams[key] = Stream(slots)
        stream.feed(entry, [line.text for line in lines], rank)
    for stream in streams.values():
        stream.close()
    return _flat(slots)


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


def _place(entry: Entry) -> Place:
    """Where an entry was said, without the process: origin and replica, or what stands for an unknown replica."""
    return entry.origin, entry.replica or entry.source, entry.node or "" if entry.replica is None else ""


def _labels(entries: Sequence[Entry]) -> dict[Place, Patterns]:
    """The doubtful prefixes that the lines of each place agree on."""
    learned: dict[Place, Labels] = {}
    for entry in entries:
        text = entry.text
        first = text[:1]
        if not first or entry.fields.get("kind"):
            continue
        place = _place(entry)
        labels = learned.get(place)
        if labels is None:
            labels = learned[place] = Labels()
        if "\n" in text:
            for line in text.split("\n", _LINES_LEARNED_FROM_ENTRY)[:_LINES_LEARNED_FROM_ENTRY]:
                labels.see(line)
        else:
            labels.see(text)
    return {place: patterns for place, labels in learned.items() if (patterns := labels.patterns())}


def _lines(text: str, labels: Patterns) -> list[Prefixed]:
    seen = visible(text)
    return [cleaned_line(seen, labels)] if "\n" not in seen else cleaned_lines(seen, labels)


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
