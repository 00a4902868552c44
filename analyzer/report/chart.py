"""What a timeline chart shows, before it is drawn: lanes with blocks, bands of attempts, markers and ticks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from analyzer.model.diagnosis import Diagnosis
from analyzer.model.instant import SECOND, Instant
from analyzer.model.timeline import Attempt, Run, Timeline, label_of

MOST_LANES = 10  # drawn one by one; the others are drawn by groups of like ones
MOST_GROUPS = 40

WEIGHTS = {  # how much each end of a run matters to the story
    "oom": 9, "error": 9, "crash": 9, "retryable": 8, "preempted": 7, "maintenance": 7, "cascade": 4, "unknown": 2,
    "running": 1, "stopped": 1, "completed": 0,
}  # fmt: skip
_STEPS = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
    1_209_600, 2_592_000,
)  # fmt: skip


class Block(NamedTuple):
    """One run (or, in a group, the runs of like replicas) on the time axis. `row` names it in the table.

    A group is drawn from the start to the end that half of its runs had reached; `spread` are the earliest and latest
    start and the earliest and latest end.
    """

    start: Instant
    end: Instant
    run: Run
    attempt: int
    number: int
    row: str
    spread: tuple[Instant, Instant, Instant, Instant] | None = None


class Marker(NamedTuple):
    """A moment on a lane: `root` (the cause), `checkpoint`, or `event`."""

    time: Instant
    kind: str
    text: str


class Lane(NamedTuple):
    """One replica, or several like ones (`names`)."""

    names: tuple[str, ...]
    blocks: tuple[Block, ...]
    markers: tuple[Marker, ...] = ()


class Band(NamedTuple):
    """One attempt's stretch."""

    number: int
    start: Instant
    end: Instant
    end_reason: str | None


class Chart(NamedTuple):
    """Everything on one time axis. `lanes` the eventful ones, `folded` the rest in groups of like ones."""

    start: Instant
    end: Instant
    bands: tuple[Band, ...]
    lanes: tuple[Lane, ...]
    folded: tuple[Lane, ...]
    ticks: tuple[Instant, ...]

    @property
    def seconds(self) -> float:
        """The length of the axis."""
        return self.end.since(self.start)

    def place(self, when: Instant) -> float:
        """Where a moment stands on the axis, 0 to 1."""
        return min(max(when.since(self.start) / self.seconds, 0.0), 1.0)


class RunRow(NamedTuple):
    """One run with where it belongs."""

    attempt: int
    replica: str  # with its trial's number, where it is of one
    number: int
    run: Run

    @property
    def id(self) -> str:
        """A name for it that is unique in its job and safe in any document."""
        return f"run-{self.number}"


def run_rows(timeline: Timeline) -> list[RunRow]:
    """All runs, by attempt and replica; `number` counts through the job."""
    found: list[RunRow] = []
    for attempt in timeline.attempts:
        for lane in sorted(attempt.replicas, key=lambda item: natural(item.label)):
            for run in lane.runs:
                found.append(RunRow(attempt.number, lane.label, len(found) + 1, run))
    return found


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """A sorting key that puts `worker-9` before `worker-10`."""
    return tuple((int(part[:18]), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]+)", name))


def chart_of(diagnosis: Diagnosis) -> Chart | None:
    """The chart of a job's timeline; None where no attempt and no run has a time."""
    timeline = diagnosis.timeline
    start, end = _span(diagnosis)
    if start is None or end is None:
        return None
    if end <= start:
        end = start.plus(1)
    drawn, folded = _folded(_all_lanes(diagnosis, start, end))
    bands = tuple(
        Band(attempt.number, attempt.start or start, attempt.end or end, attempt.end_reason)
        for attempt in timeline.attempts
    )
    return Chart(start, end, bands, drawn, folded, _ticks(start, end))


def close_up(chart: Chart, diagnosis: Diagnosis) -> Chart | None:
    """The minutes around the root cause, where the whole chart is too coarse to show who died first; else None."""
    root = diagnosis.root_cause
    if root is None or root.time is None or chart.seconds < 240 or not chart.lanes:
        return None
    ends = [block.end for lane in chart.lanes for block in lane.blocks if block.end >= root.time]
    last = min(max(ends, default=root.time), root.time.plus(chart.seconds / 10))
    pad = max(10.0, last.since(root.time) * 0.25)
    start, end = max(chart.start, root.time.plus(-pad)), min(chart.end, last.plus(pad))
    if end.since(start) > chart.seconds / 6:
        return None
    lanes = tuple(filter(None, (_cut(lane, start, end) for lane in chart.lanes)))
    if not lanes:
        return None
    bands = tuple(band for band in chart.bands if band.end > start and band.start < end)
    return Chart(start, end, bands, lanes, (), _ticks(start, end))


def _cut(lane: Lane, start: Instant, end: Instant) -> Lane | None:
    blocks = tuple(block for block in lane.blocks if block.end >= start and block.start <= end)
    markers = tuple(marker for marker in lane.markers if start <= marker.time <= end)
    return Lane(lane.names, blocks, markers) if blocks else None


def _span(diagnosis: Diagnosis) -> tuple[Instant | None, Instant | None]:
    moments: list[Instant] = []
    for attempt in diagnosis.timeline.attempts:
        moments += [moment for moment in (attempt.start, attempt.end) if moment is not None]
        for replica in attempt.replicas:
            for run in replica.runs:
                moments += [moment for moment in (run.start, run.end, run.last_entry) if moment is not None]
    if not moments:
        return None, None
    if diagnosis.root_cause is not None and diagnosis.root_cause.time is not None:
        moments.append(diagnosis.root_cause.time)
    return min(moments), max(moments)


def _all_lanes(diagnosis: Diagnosis, start: Instant, end: Instant) -> list[Lane]:
    blocks: dict[str, list[Block]] = defaultdict(list)
    attempts = {attempt.number: attempt for attempt in diagnosis.timeline.attempts}
    for row in run_rows(diagnosis.timeline):
        first, last = _edges(row.run, attempts[row.attempt], start, end)
        blocks[row.replica].append(Block(first, last, row.run, row.attempt, row.number, row.id))
    markers = _markers(diagnosis)
    lanes = [Lane((name,), tuple(found), tuple(markers.get(name, ()))) for name, found in blocks.items()]
    cause = diagnosis.root_cause
    root = label_of(cause.replica, cause.trial) if cause is not None and cause.replica else None
    return sorted(lanes, key=lambda lane: (lane.names[0] != root, -_eventfulness(lane), natural(lane.names[0])))


def _edges(run: Run, attempt: Attempt, start: Instant, end: Instant) -> tuple[Instant, Instant]:
    first = run.start or attempt.start or start
    last = run.end or (None if run.reason == "running" else run.last_entry or attempt.end) or end
    return first, max(first, last)


def _markers(diagnosis: Diagnosis) -> dict[str, list[Marker]]:
    found: dict[str, list[Marker]] = defaultdict(list)
    for point in diagnosis.timeline.checkpoints:
        if point.time is not None and point.replica is not None:
            found[point.replica].append(Marker(point.time, "checkpoint", "" if point.step is None else str(point.step)))
    root = diagnosis.root_cause
    if root is not None and root.time is not None and root.replica is not None:
        found[label_of(root.replica, root.trial)].append(Marker(root.time, "root", ""))
    return found


def _eventfulness(lane: Lane) -> int:
    worst = max(WEIGHTS.get(block.run.reason, 2) for block in lane.blocks)
    return worst * 100 + min(len(lane.blocks), 99)


def _folded(lanes: list[Lane]) -> tuple[tuple[Lane, ...], tuple[Lane, ...]]:
    if len(lanes) <= MOST_LANES + 4:
        return tuple(lanes), ()
    groups: dict[object, list[Lane]] = defaultdict(list)
    for lane in lanes[MOST_LANES:]:
        groups[tuple((block.attempt, block.run.reason, block.run.exit_code) for block in lane.blocks)].append(lane)
    merged = [_merged(group) for group in groups.values()]
    if len(merged) > MOST_GROUPS:
        merged = [*merged[: MOST_GROUPS - 1], _merged(merged[MOST_GROUPS - 1 :])]
    return tuple(lanes[:MOST_LANES]), tuple(merged)


def _merged(group: list[Lane]) -> Lane:
    names = tuple(name for lane in group for name in lane.names)
    length = min(len(lane.blocks) for lane in group)
    blocks = []
    for position in range(length):
        like = [lane.blocks[position] for lane in group]
        starts, ends = sorted(block.start for block in like), sorted(block.end for block in like)
        half = (len(like) - 1) // 2
        spread = (starts[0], starts[-1], ends[0], ends[-1]) if len(like) > 1 else None
        blocks.append(like[0]._replace(start=starts[half], end=max(ends[half], starts[half]), spread=spread))
    return Lane(names, tuple(blocks))


def _ticks(start: Instant, end: Instant, most: int = 6) -> tuple[Instant, ...]:
    seconds = end.since(start)
    step = next((step for step in _STEPS if seconds / step <= most), _STEPS[-1]) * SECOND
    if seconds / (step / SECOND) > 4 * most:  # a span of years: an axis with its two ends is enough
        return (start, end)
    first = -(-int(start) // step) * step
    return tuple(Instant(moment) for moment in range(first, int(end) + 1, step))


def reasons_in(lanes: Iterable[Lane]) -> Iterator[str]:
    """The reasons that occur in the lanes, in the order of first sight, each once."""
    yield from dict.fromkeys(block.run.reason for lane in lanes for block in lane.blocks)
