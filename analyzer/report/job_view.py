"""What the page of one job needs beside the diagnosis itself: charts, groups and figures in the page's language."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from markupsafe import Markup

from analyzer.model.diagnosis import Alternative, Diagnosis, Evidence, Symptom
from analyzer.model.timeline import Run, TimelineEvent
from analyzer.report.chart import Chart, Lane, RunRow, chart_of, close_up, natural, reasons_in, run_rows
from analyzer.report.lanes import LaneDrawing, attempt_name, lane_name, short_name
from analyzer.report.language import (
    CATEGORY_NAMES,
    OUTCOME_NAMES,
    PLATFORM_NAMES,
    RETRY_NAMES,
    RUN_NAMES,
    RUN_SIGNS,
    Language,
    clock,
)
from analyzer.report.memory_bar import MemoryBar
from analyzer.report.proof import Proof, other_causes, proof_of, whereabouts

_MOST_PIPS = 12
_MOST_EVENTS = 200


class LaneRow(NamedTuple):
    """A lane's name before it, its whole name, and its drawing."""

    name: str
    whole: str
    drawing: Markup
    is_root: bool


class Drawing(NamedTuple):
    """A chart ready for the page."""

    axis: Markup
    attempts: Markup | None
    events: Markup | None
    lanes: list[LaneRow]
    folded: list[LaneRow]
    folded_replicas: int


class SymptomGroup(NamedTuple):
    """Symptoms that one rule found: the first of them, and on which replicas."""

    rule: str
    first: Symptom
    replicas: list[str]
    number: int


class Budget(NamedTuple):
    """Restarts used against a limit; `pips` says for each unit of the limit whether it is used."""

    name: str
    used: str
    pips: list[bool]
    is_full: bool


class ContextLine(NamedTuple):
    """A line around the proof."""

    evidence: Evidence
    is_proof: bool
    clock: str


class JobView:
    """One job on the page. `prefix` makes its anchors unique; `alone` when it has the page to itself."""

    def __init__(self, diagnosis: Diagnosis, words: Language, prefix: str, *, alone: bool) -> None:
        self.diagnosis, self.words, self.prefix, self.alone = diagnosis, words, prefix, alone
        self.chart = chart_of(diagnosis)

    @property
    def outcome(self) -> str:
        """The outcome in words."""
        return self.words.say(OUTCOME_NAMES[self.diagnosis.outcome])

    @property
    def category(self) -> str:
        """The category in words; empty where there is nothing to blame."""
        if self.diagnosis.outcome in ("succeeded", "running"):
            return ""
        return self.words.say(CATEGORY_NAMES[self.diagnosis.category])

    def category_name(self, category: str) -> str:
        """A category in words."""
        return self.words.say(CATEGORY_NAMES.get(category, category))

    @property
    def sources(self) -> list[str]:
        """The inputs that the shown evidence stands in."""
        root = self.diagnosis.root_cause
        shown = [*(root.evidence if root is not None else []), *(item.evidence for item in self.diagnosis.symptoms)]
        return sorted({item.source for item in shown if item.source})

    @property
    def platform(self) -> str:
        """The platform in words."""
        return self.words.say(PLATFORM_NAMES.get(self.diagnosis.job.platform, self.diagnosis.job.platform))

    @property
    def retry(self) -> str:
        """The retry advice in words; empty where there is none."""
        return self.words.say(RETRY_NAMES[self.diagnosis.retry.advice]) if self.diagnosis.retry.advice else ""

    @cached_property
    def proof(self) -> Proof | None:
        """The proving line."""
        return proof_of(self.diagnosis)

    @cached_property
    def rows(self) -> list[RunRow]:
        """All runs."""
        return run_rows(self.diagnosis.timeline)

    @cached_property
    def whole(self) -> Drawing | None:
        """The chart of the whole job."""
        return self._drawn(self.chart) if self.chart is not None else None

    @cached_property
    def close(self) -> Drawing | None:
        """The chart of the minutes around the cause, where that shows more than the whole."""
        near = close_up(self.chart, self.diagnosis) if self.chart is not None else None
        return self._drawn(near) if near is not None else None

    @property
    def legend(self) -> list[tuple[str, str, str]]:
        """Reason, sign and words of each kind of end that the chart shows."""
        if self.chart is None:
            return []
        seen = reasons_in((*self.chart.lanes, *self.chart.folded))
        return [
            (reason, RUN_SIGNS[reason], self.words.say(RUN_NAMES[reason])) for reason in seen if reason in RUN_SIGNS
        ]

    @property
    def marks_the_cause(self) -> bool:
        """Whether the cause is marked on a lane."""
        return self._marks("root")

    @property
    def marks_checkpoints(self) -> bool:
        """Whether a checkpoint is marked on a lane."""
        return self._marks("checkpoint")

    def _marks(self, kind: str) -> bool:
        lanes = (*self.chart.lanes, *self.chart.folded) if self.chart is not None else ()
        return any(marker.kind == kind for lane in lanes for marker in lane.markers)

    @property
    def span(self) -> str:
        """From when to when, in words."""
        if self.chart is None:
            return ""
        return self.words.span(self.chart.start, self.chart.end)

    @property
    def events(self) -> list[TimelineEvent]:
        """The newest events, at most 200."""
        return self.diagnosis.timeline.events[-_MOST_EVENTS:]

    def ended(self, run: Run) -> str:
        """How a run ended, in words."""
        return self.words.say(RUN_NAMES.get(run.reason, run.reason))

    def attempt(self, number: int, end_reason: str | None) -> str:
        """An attempt with how it ended."""
        return attempt_name(number, end_reason, self.words)

    def took(self, run: Run) -> str:
        """How long a run took, in words."""
        return self.words.seconds(run.end.since(run.start)) if run.start is not None and run.end is not None else ""

    @property
    def other_causes(self) -> list[tuple[Alternative, list[str]]]:
        """The alternatives by cause."""
        return other_causes(self.diagnosis)

    @property
    def symptoms(self) -> list[SymptomGroup]:
        """The symptoms by rule, in order of first sight."""
        groups: dict[str, list[Symptom]] = defaultdict(list)
        for symptom in self.diagnosis.symptoms:
            groups[symptom.rule].append(symptom)
        return [
            SymptomGroup(
                rule, found[0], sorted({item.replica for item in found if item.replica}, key=natural), len(found)
            )
            for rule, found in groups.items()
        ]

    @property
    def budgets(self) -> list[Budget]:
        """Restarts against the documented limits: the job's, and each replica's that used any."""
        budgets = self.diagnosis.timeline.budgets
        found = (
            [_budget(self.words.say("retries of the whole job"), budgets.job_retries)] if budgets.job_retries else []
        )
        workers = sorted(budgets.worker_restarts.items(), key=lambda item: (-_used(item[1]), natural(item[0])))
        return found + [_budget(name, used) for name, used in workers if _used(used)][:20]

    @property
    def memory(self) -> MemoryBar | None:
        """The memory figures, drawn; None where there are none."""
        return MemoryBar.of(self.diagnosis.memory, self.words) if self.diagnosis.memory is not None else None

    @property
    def context(self) -> Iterator[ContextLine]:
        """The lines around the proof with the proof among them."""
        root, around = self.diagnosis.root_cause, self.diagnosis.context
        first = root.evidence[:1] if root is not None else []
        for items, is_proof in ((around.before, False), (first, True), (around.after, False)):
            for item in items:
                if not item.text.strip():
                    continue
                yield ContextLine(item, is_proof, clock(item.time, 3))

    @property
    def has_more_evidence(self) -> bool:
        """Whether there is evidence beyond what stands at the head of the page."""
        root, around = self.diagnosis.root_cause, self.diagnosis.context
        if root is None or self.proof is None:
            return False
        at_head = 1 if root.rule else 3
        more = around.before or around.after or root.values or root.evidence[at_head:]
        return bool(more) or not self.proof.whole

    @property
    def whereabouts(self) -> list[str]:
        """Where and when the cause was, part by part."""
        return whereabouts(self.diagnosis, self.words)

    def _drawn(self, chart: Chart) -> Drawing:
        root = self.diagnosis.root_cause
        drawing = LaneDrawing(chart, self.words, self.prefix, root.time if root is not None else None)
        events = [event for event in self.diagnosis.timeline.events if event.time is not None]
        return Drawing(
            axis=drawing.axis(),
            attempts=drawing.attempts() if len(chart.bands) > 1 or not chart.lanes else None,
            events=drawing.events(events) if events else None,
            lanes=[self._row(drawing, lane) for lane in chart.lanes],
            folded=[self._row(drawing, lane) for lane in chart.folded],
            folded_replicas=sum(len(lane.names) for lane in chart.folded),
        )

    def _row(self, drawing: LaneDrawing, lane: Lane) -> LaneRow:
        is_root = any(marker.kind == "root" for marker in lane.markers)
        return LaneRow(short_name(lane, self.words), lane_name(lane, self.words), drawing.lane(lane), is_root)


def _used(text: str) -> int:
    used = text.partition("/")[0]
    return int(used) if used.isascii() and used.isdecimal() else 0


def _budget(name: str, text: str) -> Budget:
    used, limit = _used(text), _used(text.partition("/")[2])
    pips = [number < used for number in range(limit)] if limit <= _MOST_PIPS else []
    return Budget(name, text, pips, bool(limit) and used >= limit)
