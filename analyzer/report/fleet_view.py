"""What a fleet report shows, counted out of its rows: rates, causes over time, groups of like failures, shortages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from markupsafe import Markup

from analyzer.model.diagnosis import CATEGORIES, OUTCOMES
from analyzer.model.fleet import Fleet, JobRow
from analyzer.model.instant import Instant
from analyzer.report.fleet_axis import Axis, axis_of, row_time
from analyzer.report.fleet_charts import axis_drawing, outcome_bars, share_bar, spark
from analyzer.report.fleet_rows import (
    by_number,
    by_size,
    failed_first_newest_first,
    grouped,
    label_of,
    lost_gpu_hours,
    lost_hours,
    report_link,
    total,
)
from analyzer.report.language import CATEGORY_NAMES, OUTCOME_NAMES, Language
from analyzer.report.neutral import shown_line

MOST_CAUSES = 12  # of one category
MOST_GROUPS = 40
MOST_VALUES = 8  # of one dimension
MOST_LABELS = 4
_MOST_PLACES = 20


class CauseRow(NamedTuple):
    """A cause (or a whole category) with its failures over time."""

    name: str
    key: str
    jobs: int
    lost_hours: float
    drawing: Markup | None


class CategoryRow(NamedTuple):
    """A category with its causes, the most frequent first; `more` causes are not listed."""

    whole: CauseRow
    causes: list[CauseRow]
    more: int


class Group(NamedTuple):
    """Failures of the same kind: same cause, exception and user frame. `number` names it on the page, from 1."""

    number: int
    first_row: JobRow
    jobs: int
    first: Instant | None
    last: Instant | None
    is_new: bool
    lost_hours: float
    lost_gpu_hours: float
    drawing: Markup | None


class Value(NamedTuple):
    """One value of a dimension with its jobs and how many of them failed."""

    name: str
    jobs: int
    failed: int
    drawing: Markup


class Breakdown(NamedTuple):
    """The jobs by one dimension; `more` values are not listed. `key` is the table's column."""

    title: str
    key: str
    values: list[Value]
    more: int


class Shortages(NamedTuple):
    """Jobs that found no capacity, by region (rows) and accelerator or machine type (columns)."""

    columns: list[str]
    rows: list[tuple[str, list[int]]]
    most: int


class Figure(NamedTuple):
    """One number at the head of the page, its name, and how it is counted."""

    name: str
    value: str
    note: str


class FleetView:
    """A fleet as its page needs it. Counting is linear in the rows and does not depend on their order."""

    def __init__(self, fleet: Fleet, words: Language) -> None:
        self.fleet, self.words = fleet, words
        self.rows = sorted(fleet.rows, key=failed_first_newest_first)
        self.failed = [row for row in self.rows if row.outcome == "failed"]
        self.axis: Axis | None = axis_of(self.rows)
        self.outcomes = Counter(row.outcome for row in self.rows)

    @property
    def span(self) -> str:
        """From when to when the jobs ended, in words."""
        moments = [time for row in self.rows if (time := row_time(row)) is not None]
        return self.words.span(min(moments), max(moments)) if moments else ""

    @property
    def figures(self) -> list[Figure]:
        """The rates and sums at the head of the page."""
        words, say = self.words, self.words.say
        settled = self.outcomes["succeeded"] + self.outcomes["failed"]
        restarted = sum(row.restarts_total > 0 for row in self.rows)
        taken = sum(row.preemptions > 0 for row in self.rows)
        restarts = words.number(sum(row.restarts_total for row in self.rows))
        ended = words.number(settled)
        return [
            Figure(
                say("succeeded"), self._share(self.outcomes["succeeded"], settled),
                say("{number} of {total} that ended", number=words.number(self.outcomes["succeeded"]), total=ended),
            ),
            Figure(
                say("restarted"), self._share(restarted, len(self.rows)),
                say("{number} restarts in all", number=restarts),
            ),
            Figure(
                say("preempted"), self._share(taken, len(self.rows)), self._jobs(taken)
            ),
            self._time(say("work lost"), sum(map(lost_hours, self.rows)), sum(map(lost_gpu_hours, self.rows))),
            self._time(
                say("time run"), total(r.replica_hours for r in self.rows), total(r.gpu_hours for r in self.rows)
            ),
        ]  # fmt: skip

    def _jobs(self, number: int) -> str:
        return self.words.count("{number} job", "{number} jobs", number)

    def _time(self, name: str, replica_hours: float, gpu_hours: float) -> Figure:
        say = self.words.say
        note = say("of replicas")
        if gpu_hours >= 0.05:
            note = say("of replicas; {gpu} GPU-hours", gpu=self.hours(gpu_hours))
        return Figure(name, f"{self.hours(replica_hours)} h", note)

    def hours(self, value: float) -> str:
        """A number of hours: `0.4`, `12.5`, `1,240`."""
        return self.words.number(value, 0 if value >= 100 else 1)

    def _share(self, part: int, whole: int) -> str:
        return self.words.share(part / whole) if whole else "–"

    @property
    def outcome_counts(self) -> list[tuple[str, str, int]]:
        """Outcome, its name and how many jobs had it, for each that occurs."""
        return [
            (name, self.words.say(OUTCOME_NAMES[name]), self.outcomes[name]) for name in OUTCOMES if self.outcomes[name]
        ]

    @property
    def headings(self) -> list[tuple[str, str, bool]]:
        """The columns of the table of all jobs: key to sort by, name, and whether it holds numbers."""
        say = self.words.say
        return [
            ("outcome", say("Outcome"), False), ("name", say("Job"), False), ("cause", say("Cause"), False),
            ("summary", say("Why"), False), ("ended", say("Ended (UTC)"), False), ("project", say("Project"), False),
            ("region", say("Region"), False), ("machine_type", say("Machine"), False),
            ("restarts", say("Restarts"), True), ("lost", say("Hours lost"), True),
        ]  # fmt: skip

    @property
    def files(self) -> list[str]:
        """The addresses of the data files beside the page that are safe to link to."""
        return [link for link in map(report_link, self.fleet.files) if link]

    @cached_property
    def over_time(self) -> Markup | None:
        """All jobs over time by outcome; None where no job has a time."""
        return outcome_bars(self.axis, self.rows, self.words) if self.axis is not None else None

    @property
    def axis_labels(self) -> Markup:
        """The axis of every chart of the page."""
        return axis_drawing(self.axis) if self.axis is not None else Markup()

    @property
    def bar_width(self) -> str:
        """How long one bar of a chart is, in words."""
        return self.words.seconds(self.axis.size) if self.axis is not None else ""

    @property
    def time_table(self) -> list[tuple[str, list[int]]]:
        """The chart of outcomes as rows: begin of the bar, and a number an outcome that occurs."""
        if self.axis is None:
            return []
        counts: dict[int, Counter[str]] = defaultdict(Counter)
        for row in self.rows:
            if (time := row_time(row)) is not None:
                counts[self.axis.slot(time)][row.outcome] += 1
        named = [name for name, _, _ in self.outcome_counts]
        return [
            (self.axis.told(slot), [counts[slot][name] for name in named]) for slot in range(self.axis.number)
            if counts[slot]
        ]  # fmt: skip

    @cached_property
    def categories(self) -> list[CategoryRow]:
        """Failures by category, and by cause within it, each over time; all on one scale a level."""
        by_category = grouped(self.failed, lambda row: row.category)
        most = max((self._highest(rows) for rows in by_category.values()), default=1)
        found = []
        for category, rows in by_size(by_category):
            by_cause = by_size(grouped(rows, lambda row: row.cause))
            highest = max(self._highest(rows) for _, rows in by_cause)
            causes = [self._cause(name, f"{category}.{name}", rows, highest) for name, rows in by_cause[:MOST_CAUSES]]
            name = self.words.say(CATEGORY_NAMES[category]) if category in CATEGORIES else category
            found.append(CategoryRow(self._cause(name, category, rows, most), causes, len(by_cause) - len(causes)))
        return found

    def _cause(self, name: str, key: str, rows: Sequence[JobRow], most: int) -> CauseRow:
        drawing = spark(self.axis, rows, most, self.words) if self.axis is not None else None
        return CauseRow(name, key, len(rows), sum(map(lost_hours, rows)), drawing)

    def _highest(self, rows: Iterable[JobRow]) -> int:
        if self.axis is None:
            return 1
        slots = Counter(self.axis.slot(time) for row in rows if (time := row_time(row)) is not None)
        return max(slots.values(), default=1)

    @cached_property
    def group_numbers(self) -> dict[str, int]:
        """The number of each group on the page by its fingerprint: the costliest kinds of failure first."""
        by_print = grouped((row for row in self.failed if row.fingerprint), lambda row: row.fingerprint or "")
        ranked = sorted(by_print, key=lambda name: (-len(by_print[name]), -sum(map(lost_hours, by_print[name])), name))
        return {name: number for number, name in enumerate(ranked, 1)}

    @cached_property
    def groups(self) -> list[Group]:
        """The groups that are listed, at most 40."""
        by_print = grouped((row for row in self.failed if row.fingerprint), lambda row: row.fingerprint or "")
        known = None if self.fleet.known is None else frozenset(self.fleet.known)
        return [
            self._group(number, name, by_print[name], known is not None and name not in known)
            for name, number in self.group_numbers.items()
            if number <= MOST_GROUPS
        ]

    @property
    def new_groups(self) -> int | None:
        """How many kinds of failure an earlier scan had not seen; None where there was no earlier scan."""
        if self.fleet.known is None:
            return None
        return len(self.group_numbers.keys() - set(self.fleet.known))

    def _group(self, number: int, name: str, rows: list[JobRow], is_new: bool) -> Group:
        moments = sorted(time for row in rows if (time := row_time(row)) is not None)
        return Group(
            number=number, first_row=rows[0], jobs=len(rows), first=moments[0] if moments else None,
            last=moments[-1] if moments else None, is_new=is_new, lost_hours=sum(map(lost_hours, rows)),
            lost_gpu_hours=sum(map(lost_gpu_hours, rows)),
            drawing=spark(self.axis, rows, self._highest(rows), self.words) if self.axis is not None else None,
        )  # fmt: skip

    @cached_property
    def breakdowns(self) -> list[Breakdown]:
        """The jobs by project, region, machine type, accelerator, image and the commonest labels, where they differ."""
        say = self.words.say
        named: list[tuple[str, str, Callable[[JobRow], str]]] = [
            (say("Project"), "project", lambda row: row.project or ""),
            (say("Region"), "region", lambda row: row.region or ""),
            (say("Machine type"), "machine_type", lambda row: row.machine_type or ""),
            (say("Accelerator"), "accelerator", lambda row: row.accelerator or ""),
            (say("Image"), "image", lambda row: row.image or ""),
        ]
        keys = Counter(key for row in self.rows for key in row.labels)
        for key, _ in sorted(keys.items(), key=lambda item: (-item[1], item[0]))[:MOST_LABELS]:
            title = say("Label {name}", name=shown_line(key, 40))
            named.append((title, "label", lambda row, key=key: label_of(row, key)))  # type: ignore[misc]
        found = [self._breakdown(title, key, of) for title, key, of in named]
        return [breakdown for breakdown in found if len(breakdown.values) > 1]

    def _breakdown(self, title: str, key: str, of: Callable[[JobRow], str]) -> Breakdown:
        by_value = grouped((row for row in self.rows if of(row)), of)
        failures = {name: sum(row.outcome == "failed" for row in rows) for name, rows in by_value.items()}
        ranked = sorted(by_value, key=lambda name: (-failures[name], -len(by_value[name]), name))
        most = max(map(len, by_value.values()), default=1)
        values = [
            Value(name, len(by_value[name]), failures[name], share_bar(failures[name], len(by_value[name]), most))
            for name in ranked[:MOST_VALUES]
        ]
        return Breakdown(title, key, values, len(ranked) - len(values))

    @cached_property
    def shortages(self) -> Shortages | None:
        """Where and for what capacity ran out; None where it never did."""
        short = [row for row in self.failed if row.category == "stockout" and (row.region or row.accelerator)]
        if not short:
            return None
        what = Counter((row.region or "–", row.accelerator or row.machine_type or "–") for row in short)
        regions = by_number(region for region, _ in what.elements())[:_MOST_PLACES]
        columns = by_number(name for _, name in what.elements())[:_MOST_PLACES]
        rows = [(region, [what[region, name] for name in columns]) for region in regions]
        return Shortages(columns, rows, max(what.values()))
