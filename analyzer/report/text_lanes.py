"""The timeline drawn with characters: a line a lane, a sign where a run ended."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from analyzer.report.chart import WEIGHTS, Chart, Lane, reasons_in
from analyzer.report.language import RUN_NAMES, RUN_SIGNS, Language, clock
from analyzer.report.neutral import shown_line

MOST_TEXT_LANES = 8
_ROOM_FOR_ENDS = 78  # from so many cells on, a lane is followed by when and how its last run ended
RUN_STYLES = {
    "completed": "green", "error": "bold red", "oom": "bold red", "crash": "bold red", "retryable": "yellow",
    "cascade": "magenta", "maintenance": "cyan", "preempted": "cyan", "stopped": "dim",
    "running": "blue", "unknown": "dim",
}  # fmt: skip


def text_lanes(chart: Chart, language: Language, width: int) -> list[Text]:
    """Axis, lanes and legend, each within `width` cells; lanes beyond the eighth are counted in one line."""
    lanes = chart.lanes[:MOST_TEXT_LANES]
    rest = (*chart.lanes[MOST_TEXT_LANES:], *chart.folded)
    names = [shown_line(lane.names[0], 120) for lane in lanes]
    name_width = min(max([cell_len(name) for name in names] + [8]), max(width // 4, 8))
    labels = [_tail(name, name_width) for name in names]  # names of replicas differ at their ends
    ends = [_end(lane, language) if width >= _ROOM_FOR_ENDS else "" for lane in lanes]
    cells = max(width - name_width - 1 - max([cell_len(end) + 1 for end in ends if end] + [0]), 12)
    several_days = str(chart.start)[:10] != str(chart.end)[:10]
    rows = [_axis(chart, name_width, cells, several_days)]
    if len(chart.bands) > 1 or not lanes:
        rows.append(_attempts(chart, language, name_width, cells))
    for lane, label, end in zip(lanes, labels, ends, strict=True):
        rows.append(_lane(chart, lane, label, name_width, cells).append(f" {end}" if end else "", style="dim"))
    if rest:
        rows.append(_counted(rest, language, name_width, width))
    if lanes:
        rows.append(_legend(lanes, language))
    return rows


def _tail(name: str, width: int) -> str:
    while cell_len(name) > width:
        name = "…" + name.removeprefix("…")[1:]
    return name


def _axis(chart: Chart, name_width: int, cells: int, several_days: bool) -> Text:
    line = [" "] * cells
    free = 0
    for tick in chart.ticks:
        label = (
            f"{str(tick)[5:10]} {clock(tick)[:5]}" if several_days else clock(tick)[: 8 if chart.seconds < 300 else 5]
        )
        left = round(chart.place(tick) * (cells - 1))
        if left >= free and left + len(label) <= cells:
            line[left : left + len(label)] = label
            free = left + len(label) + 2
    return Text(" " * (name_width + 1) + "".join(line).rstrip(), style="dim")


def _attempts(chart: Chart, language: Language, name_width: int, cells: int) -> Text:
    line = [" "] * cells
    for band in chart.bands:
        left, right = round(chart.place(band.start) * (cells - 1)), round(chart.place(band.end) * (cells - 1))
        label = f"{band.number}"
        line[left : right + 1] = ("└" + label + "─" * cells)[: max(right - left, 1)] + "┘"
    label = set_cell_size(shown_line(language.say("attempts")), name_width)
    return Text(f"{label} {''.join(line)[:cells].rstrip()}", style="dim")


def _lane(chart: Chart, lane: Lane, label: str, name_width: int, cells: int) -> Text:
    signs = [" "] * cells
    styles = ["dim"] * cells
    taken: dict[int, int] = {}  # where two ends share a cell, the graver one is shown
    for block in lane.blocks:
        left, right = round(chart.place(block.start) * (cells - 1)), round(chart.place(block.end) * (cells - 1))
        for cell in range(left, right):
            signs[cell] = "╌" if block.run.doomed else "━"
            styles[cell] = RUN_STYLES.get(block.run.reason, "dim").removeprefix("bold ")
    for block in lane.blocks:  # after all lines: the next run begins where the one before it ended
        right, style = round(chart.place(block.end) * (cells - 1)), RUN_STYLES.get(block.run.reason, "dim")
        if right not in taken or WEIGHTS.get(block.run.reason, 2) > taken[right]:
            signs[right], styles[right] = RUN_SIGNS.get(block.run.reason, "?"), style
            taken[right] = WEIGHTS.get(block.run.reason, 2)
    for marker in lane.markers:
        cell = round(chart.place(marker.time) * (cells - 1))
        if marker.kind == "checkpoint" and signs[cell] in " ━╌":
            signs[cell] = "◆"
    is_root = any(marker.kind == "root" for marker in lane.markers)
    text = Text(set_cell_size(label, name_width) + " ", style="bold red" if is_root else "")
    for sign, style in zip(signs, styles, strict=True):
        text.append(sign, style=style)
    return text


def _end(lane: Lane, language: Language) -> str:
    run = lane.blocks[-1].run
    code = "" if run.exit_code is None else language.say("exit {code}", code=run.exit_code)
    return f"{clock(run.end)} {code}".rstrip()


def _counted(rest: tuple[Lane, ...], language: Language, name_width: int, width: int) -> Text:
    counts: dict[str, int] = {}
    for lane in rest:
        reason = lane.blocks[-1].run.reason
        counts[reason] = counts.get(reason, 0) + len(lane.names)
    total = sum(counts.values())
    told = ", ".join(f"{RUN_SIGNS.get(reason, '?')} {language.number(number)}" for reason, number in counts.items())
    line = language.count(
        "… and {number} more replica: {told}", "… and {number} more replicas: {told}", total, told=told
    )
    return Text(shown_line(" " * (name_width + 1) + line, width), style="dim")


def _legend(lanes: tuple[Lane, ...], language: Language) -> Text:
    parts = [
        f"{RUN_SIGNS[reason]} {language.say(RUN_NAMES[reason])}" for reason in reasons_in(lanes) if reason in RUN_SIGNS
    ]
    if any(marker.kind == "checkpoint" for lane in lanes for marker in lane.markers):
        parts.append(f"◆ {language.say('checkpoint')}")
    return Text(" · ".join(parts), style="dim")
