"""The timeline drawn as inline SVG: an own small image a lane, all on one axis.

Horizontal places are percentages, so a chart fits any width without a script while its letters keep their size.
Colours come from the page's style sheet by class; every run also carries a letter, so that colour is never alone.
"""

from __future__ import annotations

from markupsafe import Markup

from analyzer.model.instant import Instant
from analyzer.model.timeline import TimelineEvent
from analyzer.report.chart import WEIGHTS, Band, Block, Chart, Lane, Marker
from analyzer.report.language import END_NAMES, RUN_NAMES, RUN_SIGNS, Language, clock
from analyzer.report.neutral import shown_line

_MOST_MARKS = 120  # of one kind on a lane; more could not be told apart
_ROOM_FOR_NAME = 0.12  # of the axis; a shorter attempt shows its number alone
_LANE = Markup('<svg class="lane" width="100%" height="24" role="group" aria-label="{}">{}{}</svg>')
_RUN = Markup(
    '<a class="run {kind}" href="#{row}" aria-label="{told}"><title>{told}</title>'
    '<rect x="{left}%" y="5" width="{width}%" height="14" rx="2"/>'
    '<svg x="{right}%" overflow="visible"><rect class="badge" x="{badge}" y="5" width="14" height="14" rx="2"/>'
    '<text x="{letter}" y="16">{sign}</text></svg></a>'
)
_MARK = Markup('<svg x="{x}%" overflow="visible"><g class="{kind}"><title>{told}</title><path d="{shape}"/></g></svg>')
_SHAPES = {
    "checkpoint": "M0 16l4 4-4 4-4-4z", "root": "M-6 0H6L0 7z", "event": "M-2 5h4v14h-4z", "failure": "M-3 5h6v14h-6z",
}  # fmt: skip
_BAND = Markup('<rect class="band" x="{}%" width="{}%" height="24"/>')
_GRID = Markup('<line class="grid" x1="{0}%" x2="{0}%" y2="24"/>')
_ROOT_LINE = Markup('<line class="rootline" x1="{0}%" x2="{0}%" y2="24"/>')


class LaneDrawing:
    """Draws the rows of one chart. `prefix` keeps the names of several jobs on one page apart."""

    def __init__(self, chart: Chart, language: Language, prefix: str, root: Instant | None) -> None:
        self.chart, self._language, self._prefix = chart, language, prefix
        several_days = str(chart.start)[:10] != str(chart.end)[:10]
        self._date_in_ticks = several_days
        self._backdrop = self._bands_and_grid(root)

    def axis(self) -> Markup:
        """The axis with its ticks; the two outermost labels stay inside the image."""
        labels = []
        for tick in self.chart.ticks:
            place = self.chart.place(tick)
            anchor = "start" if place < 0.06 else "end" if place > 0.94 else "middle"
            labels.append(
                Markup('<text x="{}%" y="12" text-anchor="{}">{}</text>').format(
                    _percent(place), anchor, self._tick(tick)
                )
            )
        return Markup('<svg class="axis" width="100%" height="16" aria-hidden="true">{}</svg>').format(
            Markup("").join(labels)
        )

    def attempts(self) -> Markup:
        """A row that names the attempts and how they ended."""
        return Markup('<svg class="attempts" width="100%" height="20" aria-hidden="true">{}</svg>').format(
            Markup("").join(map(self._attempt, self.chart.bands))
        )

    def lane(self, lane: Lane) -> Markup:
        """One lane: bands of attempts, runs, checkpoints, the cause."""
        runs = [self._run(lane, block) for block in sorted(lane.blocks, key=_grave_last)]
        marks = [self._marker(marker) for marker in lane.markers[-_MOST_MARKS:]]
        return _LANE.format(lane_name(lane, self._language), self._backdrop, Markup("").join(runs + marks))

    def events(self, events: list[TimelineEvent]) -> Markup:
        """A lane of what happened to the job as a whole."""
        marks = [
            self._mark(
                event.time, "failure" if event.kind == "failure" else "event", f"{clock(event.time)} {event.text}"
            )
            for event in events[-_MOST_MARKS:]
            if event.time is not None and self.chart.start <= event.time <= self.chart.end
        ]
        return _LANE.format(self._language.say("events"), self._backdrop, Markup("").join(marks))

    def _bands_and_grid(self, root: Instant | None) -> Markup:
        parts = [
            _BAND.format(
                _percent(self.chart.place(band.start)),
                _percent(self.chart.place(band.end) - self.chart.place(band.start)),
            )
            for band in self.chart.bands
        ]
        parts += [_GRID.format(_percent(self.chart.place(tick))) for tick in self.chart.ticks]
        if root is not None and self.chart.start <= root <= self.chart.end:
            parts.append(_ROOT_LINE.format(_percent(self.chart.place(root))))
        return Markup("").join(parts)

    def _tick(self, tick: Instant) -> str:
        if self._date_in_ticks and clock(tick) == "00:00:00":
            return str(tick)[5:10]
        return clock(tick) if self.chart.seconds < 300 else clock(tick)[:5]

    def _attempt(self, band: Band) -> Markup:
        left, right = self.chart.place(band.start), self.chart.place(band.end)
        roomy = right - left > _ROOM_FOR_NAME
        told = attempt_name(band.number, band.end_reason, self._language) if roomy else str(band.number)
        return Markup(
            '<svg x="{}%" width="{}%" height="20"><rect class="band" width="100%" height="20"/>'
            '<rect class="rule {}" width="100%" height="3" y="17"/><text x="4" y="12">{}</text></svg>'
        ).format(_percent(left), _percent(right - left), "good" if band.end_reason == "success" else "", told)

    def _run(self, lane: Lane, block: Block) -> Markup:
        left, right = self.chart.place(block.start), self.chart.place(block.end)
        kind = block.run.reason if block.run.reason in RUN_SIGNS else "unknown"
        badge = -14 if right > 0.02 else 0  # a badge at the very left must not leave the image
        return _RUN.format(
            kind=f"{kind} doomed" if block.run.doomed else kind, row=f"{self._prefix}{block.row}",
            told=self._told(lane, block), left=_percent(left), right=_percent(right),
            width=_percent(max(right - left, 0.002)),
            badge=badge, letter=badge + 7, sign=RUN_SIGNS[kind],
        )  # fmt: skip

    def _told(self, lane: Lane, block: Block) -> str:
        run, say = block.run, self._language.say
        times = f"{clock(run.start) or '?'} – {clock(run.end) or '?'}"
        if block.spread is not None:
            first, last, early, late = map(clock, block.spread)
            times = f"{first} … {last} – {early} … {late}"
        parts = [lane_name(lane, self._language), times]
        parts.append(say(RUN_NAMES.get(run.reason, run.reason)))
        if run.exit_code is not None:
            parts.append(say("exit code {code}", code=run.exit_code) + (f" ({run.signal})" if run.signal else ""))
        if run.doomed:
            parts.append(say("started after the end was sealed"))
        return ", ".join(shown_line(part, 120) for part in parts)

    def _marker(self, marker: Marker) -> Markup:
        if marker.kind == "root":
            return self._mark(marker.time, "root", f"{clock(marker.time, 3)} {self._language.say('the cause')}")
        told = (
            self._language.say("checkpoint, step {step}", step=marker.text)
            if marker.text
            else self._language.say("checkpoint")
        )
        return self._mark(marker.time, "checkpoint", f"{clock(marker.time)} {told}")

    def _mark(self, when: Instant, kind: str, told: str) -> Markup:
        return _MARK.format(
            x=_percent(self.chart.place(when)), kind=kind, told=shown_line(told, 200), shape=_SHAPES[kind]
        )


def lane_name(lane: Lane, language: Language) -> str:
    """The replica's name; for a group its first and last name and how many they are."""
    if len(lane.names) == 1:
        return shown_line(lane.names[0], 80)
    ends = f"{shown_line(lane.names[0], 40)} … {shown_line(lane.names[-1], 40)}"
    return language.say("{names} ({number} replicas)", names=ends, number=language.number(len(lane.names)))


def short_name(lane: Lane, language: Language) -> str:
    """What stands before a lane: the replica's name; for a group how many they are."""
    if len(lane.names) == 1:
        return lane_name(lane, language)
    return language.count("{number} replica", "{number} replicas", len(lane.names))


def attempt_name(number: int, end_reason: str | None, language: Language) -> str:
    """An attempt with how it ended."""
    name = language.say("Attempt {number}", number=number)
    return f"{name} · {language.say(END_NAMES.get(end_reason, end_reason))}" if end_reason else name


def _percent(share: float) -> str:
    return f"{100 * share:.2f}".rstrip("0").rstrip(".")


def _grave_last(block: Block) -> tuple[int, Instant]:
    return WEIGHTS.get(block.run.reason, 2), block.start
