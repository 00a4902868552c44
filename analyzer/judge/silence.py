"""Holes in a log: times at which the whole job says nothing although it went on.

A silence alone is no hole: programs compile, evaluate, load data or hang. It is one where the training's own counter
shows that lines are missing: many more steps were made than lie between two lines elsewhere. Without a counter it takes
more: a log that is steady for hours before and after, one silence that no other comes near, and nothing that began
anew at its end.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from analyzer.entries import Story
from analyzer.model import SECOND, Entry, Instant, Origin, Timeline
from analyzer.rulebook import Finding
from analyzer.timeline.evidence import number_in

COUNTED = 1800 * SECOND
"""A silence over which a counter went on is looked at from this length on (ns)."""
UNCOUNTED = 3600 * SECOND
"""The same for a log without counters."""
_BIN = 600 * SECOND  # of every ten minutes a line is kept of each stream, so that these say how steady a log is
_AROUND = 6  # so many of them before and after a silence must have lines
_STEADY = 0.9
_LONGER = 4
"""A hole of a log without counters is so many times longer than any other silence."""
_JUMP = 3
"""So many times the usual distance between two lines a counter advances over a hole."""
_NEAR = 12
"""Counter lines on each side of a silence that show the usual distance."""
MOST = 3
_LOG = frozenset((Origin.REPLICA, Origin.TEXT, Origin.SERVICE, Origin.CLUSTER, Origin.NODE))


class Hole(msgspec.Struct, frozen=True):
    """From the last line before to the first line after; `counted`: the counter's values there, where one shows it."""

    start: Instant
    end: Instant
    counted: tuple[int, int] | None = None


def holes_in(story: Story, findings: Sequence[Finding], timeline: Timeline) -> list[Hole]:
    """The holes of a job's log, the longest first."""
    moments = sorted(_moments(story.entries))
    silences = [(one, two) for one, two in pairwise(moments) if two - one >= COUNTED]
    silences.sort(key=lambda silence: silence[0] - silence[1])
    counters = _counters(findings) if silences else []
    found = []
    for start, end in silences:
        shown = [jump for counter in counters if (jump := _jump(counter, start, end)) is not None]
        if any(jump.torn for jump in shown):
            values = next((jump.before, jump.after) for jump in shown if jump.torn)
            found.append(Hole(Instant(start), Instant(end), values))
        elif not shown and (start, end) == silences[0] and _stands_alone(moments, silences, timeline):
            found.append(Hole(Instant(start), Instant(end)))
        if len(found) == MOST:
            break
    return found


def _moments(entries: Iterable[Entry]) -> Iterable[int]:
    return (int(e.time) for e in entries if e.time is not None and e.time_stated and e.origin in _LOG and not _told(e))


def _told(entry: Entry) -> bool:
    """Whether it is an object's statement, whose time is not that of a line."""
    return bool(entry.fields.get("kind")) and entry.fields.get("kind") != "event"


class _Jump(msgspec.Struct, frozen=True):
    before: int
    after: int
    torn: bool


_Counter = tuple[list[int], list[int]]
"""Moments and values of one replica's counter as one rule reads it, in order of time."""


def _counters(findings: Sequence[Finding]) -> list[_Counter]:
    found: dict[tuple[str | None, str, str], _Counter] = {}
    for finding in findings:
        if finding.event != "step" or finding.time is None or not finding.message.first.time_stated:
            continue
        for name in ("step", "epoch"):
            value = number_in(finding.values, name)
            if value is not None:
                moments, values = found.setdefault((finding.replica, finding.rule.id, name), ([], []))
                moments.append(int(finding.time))
                values.append(value)
    return list(found.values())


def _jump(counter: _Counter, start: int, end: int) -> _Jump | None:
    """What a counter did over a silence; None where it has too few values on either side to say."""
    moments, values = counter
    left, right = bisect_right(moments, start), bisect_left(moments, end)
    before, after = values[max(0, left - _NEAR) : left], values[right : right + _NEAR]
    if not before or not after or len(before) + len(after) < 4:
        return None
    strides = [two - one for one, two in (*pairwise(before), *pairwise(after)) if two > one]
    if not strides:
        return None
    from statistics import median

    jump = after[0] - before[-1]
    return _Jump(before[-1], after[0], jump >= _JUMP * max(1, median(strides)))


def _stands_alone(moments: Sequence[int], silences: Sequence[tuple[int, int]], timeline: Timeline) -> bool:
    """Whether the longest silence interrupts a log that is otherwise steady, and no start explains it."""
    start, end = silences[0]
    if end - start < UNCOUNTED or (len(silences) > 1 and (silences[1][1] - silences[1][0]) * _LONGER > end - start):
        return False
    before = {moment // _BIN for moment in moments if moment <= start}
    after = {moment // _BIN for moment in moments if moment >= end}
    if min(len(before), len(after)) < _AROUND:
        return False
    spans = (max(before) - min(before) + 1) + (max(after) - min(after) + 1)
    if len(before) + len(after) < _STEADY * spans:
        return False
    return not any(start < begin <= end + _BIN for begin in _begins(timeline))


def _begins(timeline: Timeline) -> Iterable[int]:
    for attempt in timeline.attempts:
        yield from (int(moment) for moment in (attempt.start, attempt.running_since) if moment is not None)
        yield from (int(run.start) for lane in attempt.replicas for run in lane.runs if run.start is not None)
