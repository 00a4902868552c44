"""The charts of a fleet report as inline SVG. Bars stretch with the page; letters and lines keep their size."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from markupsafe import Markup

from analyzer.model.fleet import JobRow
from analyzer.report.fleet_axis import Axis, row_time
from analyzer.report.language import OUTCOME_NAMES, Language

_HEIGHT = 132
_SPARK = 24
_MOST_TICKS = 6
_STACK = ("failed", "cancelled", "unknown", "running", "succeeded")  # from the ground up: what matters has a base line


def outcome_bars(axis: Axis, rows: Iterable[JobRow], words: Language) -> Markup:
    """A bar a stretch of time, each a stack of outcomes; a title on each tells its numbers."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if (time := row_time(row)) is not None:
            counts[axis.slot(time)][row.outcome] += 1
    most = max((sum(counter.values()) for counter in counts.values()), default=1)
    bars = [_stack(axis, slot, counts[slot], most, words) for slot in sorted(counts)]
    lines = [_level(most, level) for level in _levels(most)]
    labels = [
        Markup('<text x="0" y="{}">{}</text>').format(_y(most, level) - 3, words.number(level))
        for level in _levels(most)
    ]
    return Markup(
        '<svg class="bars" width="100%" height="{}" role="img" aria-label="{}">{}'
        '<svg viewBox="0 0 {} {}" preserveAspectRatio="none" width="100%" height="{}">{}</svg>{}</svg>'
    ).format(
        _HEIGHT + 14, words.say("Jobs over time by outcome"), Markup("").join(lines), axis.number * 10, _HEIGHT + 14,
        _HEIGHT + 14, Markup("").join(bars), Markup("").join(labels),
    )  # fmt: skip


def _stack(axis: Axis, slot: int, counter: Counter[str], most: int, words: Language) -> Markup:
    parts, top = [], _HEIGHT + 14.0
    for outcome in _STACK:
        if number := counter[outcome]:
            height = _HEIGHT * number / most
            top -= height
            parts.append(
                Markup('<path class="{}" d="M{} {:.1f}h8v{:.1f}h-8z"/>').format(outcome, slot * 10 + 1, top, height)
            )
    told = ", ".join(
        f"{words.number(counter[name])} {words.say(OUTCOME_NAMES[name])}" for name in _STACK if counter[name]
    )
    return Markup("<g><title>{}</title>{}</g>").format(f"{axis.told(slot)}: {told}", Markup("").join(parts))


def _levels(most: int) -> list[int]:
    step = next(size for size in _round_numbers() if most / size <= 3)
    return list(range(step, most + 1, step))


def _round_numbers() -> Iterable[int]:
    size = 1
    while True:
        yield from (size, 2 * size, 5 * size)
        size *= 10


def _y(most: int, level: int) -> int:
    return round(_HEIGHT + 14 - _HEIGHT * level / most)


def _level(most: int, level: int) -> Markup:
    return Markup('<line class="grid" x2="100%" y1="{0}" y2="{0}"/>').format(_y(most, level))


def axis_drawing(axis: Axis) -> Markup:
    """The labels under the bars, a few of them, each at its bar's begin; every second gives way on a small screen."""
    step = -(-axis.number // _MOST_TICKS)
    labels, day = [], ""
    for number, slot in enumerate(range(0, axis.number, step)):
        place = 100 * slot / axis.number
        if place > 88 and slot:
            break
        told = axis.told(slot)
        shown = (
            told[11:] if told[:10] == day and len(told) > 10 and number % 2 else told[5:] if len(told) > 10 else told
        )
        day = told[:10]
        labels.append(
            Markup('<text{} x="{:.2f}%" y="12">{}</text>').format(
                Markup(' class="second"') if number % 2 else "", place, shown
            )
        )
    return Markup('<svg class="axis" width="100%" height="16" aria-hidden="true">{}</svg>').format(
        Markup("").join(labels)
    )


def spark(axis: Axis, rows: Iterable[JobRow], most: int, words: Language) -> Markup:
    """A row of small bars, the highest one standing for `most` jobs."""
    counts = Counter(axis.slot(time) for row in rows if (time := row_time(row)) is not None)
    shape = "".join(
        f"M{slot * 10 + 1} {_SPARK}v-{max(_SPARK * number / most, 2):.1f}h8v{max(_SPARK * number / most, 2):.1f}z"
        for slot, number in sorted(counts.items())
    )
    peak = max(counts.items(), key=lambda item: (item[1], -item[0]), default=None)
    told = (
        words.say("at most {number} at {time}", number=words.number(peak[1]), time=axis.told(peak[0])) if peak else ""
    )
    return Markup(
        '<svg class="spark" viewBox="0 0 {} {}" preserveAspectRatio="none" width="100%" height="{}" role="img" '
        'aria-label="{}"><title>{}</title><path d="{}"/></svg>'
    ).format(axis.number * 10, _SPARK, _SPARK, told or "–", told, shape)


def share_bar(failed: int, jobs: int, most: int) -> Markup:
    """A bar as long as the jobs are many, the failed ones of them in colour."""
    return Markup(
        '<svg class="share" width="100%" height="8" aria-hidden="true"><rect class="rest" width="{:.2f}%" '
        'height="8" rx="2"/>'
        '<rect class="failed" width="{:.2f}%" height="8" rx="2"/></svg>'
    ).format(100 * jobs / most, 100 * failed / most)
