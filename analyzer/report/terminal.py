"""The terminal's form: the same story in about forty lines, in the width and colours that the terminal has."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from analyzer.model.diagnosis import Diagnosis, Point, Report
from analyzer.model.timeline import Run
from analyzer.report.chart import chart_of, run_rows
from analyzer.report.language import (
    CATEGORY_NAMES,
    OUTCOME_NAMES,
    PLATFORM_NAMES,
    RETRY_NAMES,
    RUN_NAMES,
    Language,
    clock,
    language,
)
from analyzer.report.neutral import clipped, shown, shown_line
from analyzer.report.order import in_order
from analyzer.report.proof import proof_of
from analyzer.report.text_lanes import text_lanes

_LABEL_WIDTH = 11
_OUTCOME_STYLES = {"failed": "red", "succeeded": "green", "cancelled": "yellow", "running": "blue", "unknown": "yellow"}
_OUTCOME_SIGNS = {"failed": "✕", "succeeded": "✓", "cancelled": "■", "running": "▸", "unknown": "?"}


def render_text(
    report: Report, width: int | None = None, color: bool | None = None, *, lang: str = "en", explain: bool = False
) -> str:
    """The report for a terminal: one job in full, several as a table with the failed ones first.

    `width` in cells (default: the terminal's, at most 120); `color`: True, False, or None for what standard output and
    `NO_COLOR` say. `explain` adds how the verdict was reached.
    """
    words = language(lang)
    console = _console(width, color)
    diagnoses = in_order(report.diagnoses)
    if len(diagnoses) == 1:
        console.print(_one_job(diagnoses[0], words, console.width, explain))
    elif diagnoses:
        console.print(_jobs_table(diagnoses, words))
        if explain:
            console.print(Group(*(_explanation(diagnosis, words) for diagnosis in diagnoses)))
    for note in report.notes[:5]:
        where = (
            f"{note.source}:{note.line}: " if note.source and note.line else f"{note.source}: " if note.source else ""
        )
        console.print(Text(shown_line(f"{words.say('note')}: {where}{note.text}", 400), style="dim"))
    if len(report.notes) > 5:
        console.print(
            Text(
                words.count("… and {number} more note", "… and {number} more notes", len(report.notes) - 5), style="dim"
            )
        )
    return _without_trailing_blanks(console)


def _console(width: int | None, color: bool | None) -> Console:
    wanted = width if width is not None else min(shutil.get_terminal_size((100, 40)).columns, 120)
    coloured = color if color is not None else not os.environ.get("NO_COLOR") and sys.stdout.isatty()
    return Console(
        file=io.StringIO(), width=max(wanted, 40), force_terminal=coloured, color_system="standard" if coloured else None,
        no_color=not coloured, highlight=False, markup=False, emoji=False, legacy_windows=False,
    )  # fmt: skip


def _without_trailing_blanks(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().rstrip().split("\n")) + "\n"


def _one_job(diagnosis: Diagnosis, words: Language, width: int, explain: bool) -> Group:
    parts: list[RenderableType] = [
        _headline(diagnosis, words),
        Text(shown_line(diagnosis.summary, 600), style="bold"),
        Text(""),
    ]
    rows = list(_rows(diagnosis, words, width))  # label and body, from the gravest to the smallest print
    if width < 56:
        for label, body in rows:
            parts += [Text(label, style="dim"), Padding(body, (0, 0, 0, 2))]
    else:
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(width=_LABEL_WIDTH, style="dim", no_wrap=True)
        grid.add_column(ratio=1, overflow="fold")
        for label, body in rows:
            grid.add_row(label, body)
        parts.append(grid)
    if explain:
        parts += [Text(""), _explanation(diagnosis, words)]
    return Group(*parts)


def _headline(diagnosis: Diagnosis, words: Language) -> Text:
    style = _OUTCOME_STYLES.get(diagnosis.outcome, "")
    text = Text()
    text.append(
        f"{_OUTCOME_SIGNS.get(diagnosis.outcome, '?')} {words.say(OUTCOME_NAMES[diagnosis.outcome])}",
        style=f"bold {style}",
    )
    if diagnosis.category != "success" and diagnosis.outcome != "running":
        text.append(f" · {words.say(CATEGORY_NAMES[diagnosis.category])}")
        text.append(f" ({shown_line(diagnosis.category + '.' + diagnosis.cause, 80)})", style="dim")
    job = diagnosis.job
    names = [
        job.id,
        job.display_name,
        words.say(PLATFORM_NAMES.get(job.platform, job.platform)),
        job.project,
        job.region,
    ]
    text.append("\n" + " · ".join(shown_line(name, 80) for name in names if name), style="dim")
    return text


def _rows(diagnosis: Diagnosis, words: Language, width: int) -> Iterable[tuple[str, RenderableType]]:
    say = words.say
    body = max(width - _LABEL_WIDTH - 1, 36) if width >= 56 else width - 2
    if diagnosis.root_cause is not None and diagnosis.root_cause.evidence:
        yield say("Proof"), _proof(diagnosis, words, body)
    if diagnosis.remediation:
        yield say("Do now"), _remedy(diagnosis, words, body)
    if diagnosis.retry.advice:
        advice = Text(say(RETRY_NAMES[diagnosis.retry.advice]))
        yield say("Retry"), _after(advice, diagnosis.retry.why)
    sure = Text(words.share(diagnosis.confidence), style="bold")
    yield say("Confidence"), _after(sure, "; ".join(diagnosis.confidence_reasons[:3]))
    yield from _timeline_rows(diagnosis, words, body)
    if (memory := _memory(diagnosis, words)) is not None:
        yield say("Memory"), memory
    yield from _judgement_rows(diagnosis, words, body)
    for label, gap in zip([say("Missing"), "", ""], diagnosis.gaps[:3], strict=False):
        text = Text(shown_line(gap.text, 300))
        yield label, Group(text, _command(gap.command, body)) if gap.command else text


def _proof(diagnosis: Diagnosis, words: Language, body: int) -> RenderableType:
    proof = proof_of(diagnosis)
    root = diagnosis.root_cause
    assert proof is not None and root is not None
    lines = [Text(shown_line(proof.line, 500), style="bold")]
    if not proof.whole:
        text, _ = clipped(proof.evidence.text, lines=7, characters=900)
        lines += [Text(_cell_text(line), style="dim") for line in text.rstrip("\n").split("\n")]
    lines += [Text(shown_line(other.text, 240)) for other in root.evidence[1:3]]
    barred = [_hanging(line, Text("▌ ", style="red"), Text("▌ ", style="red"), body) for line in lines]
    return Group(*barred, Text(_whereabouts(diagnosis, words), style="dim"))


def _cell_text(line: str) -> str:
    return shown(line).replace("\t", "    ").rstrip()


def _hanging(text: Text, first: Text, following: Text, width: int) -> Text:
    """The text wrapped to the width, each line behind its own prefix."""
    lines = text.wrap(Console(width=width, file=io.StringIO()), max(width - first.cell_len, 8), overflow="fold")
    joined = Text()
    for number, line in enumerate(lines):
        line.rstrip()
        joined.append_text(Text("\n") if number else Text()).append_text(following if number else first).append_text(
            line
        )
    return joined


def _whereabouts(diagnosis: Diagnosis, words: Language) -> str:
    root = diagnosis.root_cause
    assert root is not None
    first = root.evidence[0]
    parts = [root.replica, words.say("rank {rank}", rank=root.rank) if root.rank is not None else None]
    if root.attempt is not None and len(diagnosis.timeline.attempts) > 1:
        parts.append(
            words.say("attempt {number} of {total}", number=root.attempt, total=len(diagnosis.timeline.attempts))
        )
    parts.append(words.moment(root.time or first.time) if root.time or first.time else None)
    if root.exit_code is not None:
        parts.append(words.say("exit code {code}", code=root.exit_code) + (f" ({root.signal})" if root.signal else ""))
    if first.source:
        parts.append(f"{first.source}:{first.line}" if first.line else first.source)
    return shown_line(" · ".join(part for part in parts if part), 300)


def _remedy(diagnosis: Diagnosis, words: Language, body: int) -> RenderableType:
    remedy = diagnosis.remediation[0]
    lines = [Text(shown_line(remedy.title, 300), style="bold")]
    for number, step in enumerate(remedy.steps[:4], 1):
        lines.append(_hanging(Text(shown_line(step, 300)), Text(f"{number}. "), Text("   "), body))
    for command in remedy.commands[:2]:
        lines.append(_command(command, body))
    more = len(diagnosis.remediation) - 1
    if more:
        lines.append(
            Text(words.count("… {number} more thing to try", "… {number} more things to try", more), style="dim")
        )
    return Group(*lines)


def _command(command: str, body: int) -> Text:
    return _hanging(Text(shown_line(command, 600), style="cyan"), Text("$ ", style="dim"), Text("  "), body)


def _after(head: Text, rest: str) -> Text:
    if rest:
        head.append(" – " + shown_line(rest, 400), style="not bold")
    return head


def _timeline_rows(diagnosis: Diagnosis, words: Language, body: int) -> Iterable[tuple[str, RenderableType]]:
    timeline = diagnosis.timeline
    chart = chart_of(diagnosis)
    if chart is not None:
        same_day = str(chart.start)[:10] == str(chart.end)[:10]
        until = f"{clock(chart.end)} UTC" if same_day else words.moment(chart.end)
        facts = [f"{words.moment(chart.start).removesuffix(' UTC')} – {until} ({words.seconds(chart.seconds)})"]
        if len(timeline.attempts) > 1:
            facts.append(words.count("{number} attempt", "{number} attempts", len(timeline.attempts)))
        if timeline.lost_seconds:
            facts.append(words.say("{time} of work lost", time=words.seconds(timeline.lost_seconds)))
        yield words.say("Timeline"), Group(Text(", ".join(facts)), *text_lanes(chart, words, body))
    elif rows := run_rows(timeline):
        told = [
            f"{row.replica}: {words.say(RUN_NAMES.get(row.run.reason, row.run.reason))}{_exit(row.run, words)}"
            for row in rows[:4]
        ]
        yield words.say("Timeline"), Text("\n".join(shown_line(line, 200) for line in told))
    if timeline.restarts_total:
        yield words.say("Restarts"), Text(_restarts(diagnosis, words))
    if timeline.remarks:
        yield "", Text("\n".join(shown_line(remark, 300) for remark in timeline.remarks[:3]))


def _exit(run: Run, words: Language) -> str:
    if run.exit_code is None:
        return f", {run.signal}" if run.signal else ""
    code = words.say("exit code {code}", code=run.exit_code)
    return f", {code}" + (f" ({run.signal})" if run.signal else "")


def _restarts(diagnosis: Diagnosis, words: Language) -> str:
    timeline, kinds = diagnosis.timeline, diagnosis.timeline.restarts
    told = [
        words.say("{number} in place", number=kinds.in_place) if kinds.in_place else "",
        words.say("{number} on another machine", number=kinds.moved) if kinds.moved else "",
        words.say("{number} after the end was sealed", number=kinds.doomed) if kinds.doomed else "",
        words.say("{number} of the whole job", number=kinds.job_retries) if kinds.job_retries else "",
    ]
    parts = ", ".join(part for part in told if part)
    limits = [
        f"{shown_line(name, 40)} {used}"
        for name, used in timeline.budgets.worker_restarts.items()
        if not used.startswith("0/")
    ]
    if timeline.budgets.job_retries:
        limits.append(words.say("job retries {used}", used=timeline.budgets.job_retries))
    more = f" · +{len(limits) - 4}" if len(limits) > 4 else ""
    text = f"{timeline.restarts_total}" + (f" ({parts})" if parts else "")
    return text + (f"; {words.say('limits')}: " + " · ".join(limits[:4]) + more if limits else "")


def _memory(diagnosis: Diagnosis, words: Language) -> Text | None:
    memory = diagnosis.memory
    if memory is None:
        return None
    figures = [
        (words.say("capacity"), memory.capacity_gib), (words.say("usable by the job"), memory.allocatable_gib),
        (words.say("limit"), memory.limit_gib), (words.say("peak seen"), memory.observed_peak_gib),
        (words.say("accelerator memory"), memory.accelerator_memory_gib),
    ]  # fmt: skip
    parts = [f"{name} {words.gib(value)}" for name, value in figures if value is not None]
    head = f"{shown_line(memory.machine_type, 40)}: " if memory.machine_type else ""
    fits = (
        f"\n{words.say('would fit')}: {', '.join(shown_line(name, 40) for name in memory.suggestions[:5])}"
        if memory.suggestions
        else ""
    )
    return Text(head + ", ".join(parts) + fits) if parts or fits else None


def _judgement_rows(diagnosis: Diagnosis, words: Language, body: int) -> Iterable[tuple[str, RenderableType]]:
    if diagnosis.symptoms:
        first = diagnosis.symptoms[0]
        more = len(diagnosis.symptoms) - 1
        text = f"{clock(first.time)} {first.replica or ''}: {first.evidence.text}".strip(": ")
        rest = "\n" + words.count("… and {number} more symptom", "… and {number} more symptoms", more) if more else ""
        yield words.say("Follows"), Text(shown_line(text, max(body, 60)) + rest)
    if diagnosis.alternatives:
        names = [
            f"{item.category}.{item.cause}" + (f" ({item.replica})" if item.replica else "")
            for item in diagnosis.alternatives[:3]
        ]
        yield words.say("Considered"), Text(shown_line(", ".join(names), 300))


def _explanation(diagnosis: Diagnosis, words: Language) -> Tree:
    tree = Tree(Text(words.say("How it was decided"), style="bold"), guide_style="dim")
    for step in diagnosis.explanation:
        tree.add(Text(shown_line(step, 400)))
    chosen = tree.add(
        Text(shown_line(f"{words.say('Chosen')}: {diagnosis.category}.{diagnosis.cause}", 200), style="bold")
    )
    _add_points(chosen, diagnosis.points)
    for item in diagnosis.alternatives:
        place = f" · {item.replica}" if item.replica else ""
        head = f"{words.say('Not chosen')}: {item.category}.{item.cause}{place} ({words.number(item.score, 1)})"
        _add_points(tree.add(Text(shown_line(head, 200))), item.points)
    for ruled_out in diagnosis.ruled_out:
        name = words.say(CATEGORY_NAMES.get(ruled_out.category, ruled_out.category))
        tree.add(Text(shown_line(f"{words.say('Ruled out')}: {name} – {ruled_out.why}", 400), style="dim"))
    return tree


def _add_points(branch: Tree, points: list[Point]) -> None:
    for point in points:
        branch.add(
            Text(f"{point.points:+.0f}  {shown_line(point.reason, 300)}", style="green" if point.points > 0 else "red")
        )


def _jobs_table(diagnoses: list[Diagnosis], words: Language) -> RenderableType:
    failed = sum(diagnosis.outcome == "failed" for diagnosis in diagnoses)
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="dim", padding=(0, 2, 0, 0), expand=True)
    table.add_column("", width=1)
    table.add_column(words.say("Job"), max_width=28, overflow="fold")
    table.add_column(words.say("Cause"), max_width=32, overflow="fold")
    table.add_column(words.say("Why"), ratio=1, overflow="fold")
    for diagnosis in diagnoses:
        style = _OUTCOME_STYLES.get(diagnosis.outcome, "")
        cause = "" if diagnosis.outcome in ("succeeded", "running") else f"{diagnosis.category}.{diagnosis.cause}"
        table.add_row(
            Text(_OUTCOME_SIGNS.get(diagnosis.outcome, "?"), style=f"bold {style}"), Text(shown_line(diagnosis.job.id, 80)),
            Text(shown_line(cause, 60), style=style if diagnosis.outcome == "failed" else "dim"), Text(shown_line(diagnosis.summary, 160)),
        )  # fmt: skip
    head = (
        words.count("{number} job", "{number} jobs", len(diagnoses))
        + ", "
        + words.count("{number} failed", "{number} failed", failed)
    )
    return Group(Text(head, style="bold"), table)
