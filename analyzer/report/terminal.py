"""The terminal's form: the same story in about forty lines, in the width and colours that the terminal has."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from analyzer.model.diagnosis import Diagnosis, Report
from analyzer.model.entry import Note
from analyzer.model.order import in_order
from analyzer.report.language import Language, language
from analyzer.report.neutral import shown_line
from analyzer.report.terminal_explain import explanation
from analyzer.report.terminal_job import OUTCOME_SIGNS, OUTCOME_STYLES, one_job

_NARROWEST, _WIDEST = 40, 120
_MOST_NOTES = 5


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
        console.print(one_job(diagnoses[0], words, console.width))
    elif diagnoses:
        console.print(_jobs_table(diagnoses, words))
    if explain:
        for diagnosis in diagnoses:
            console.print(Text(""), explanation(diagnosis, words))
    for line in _notes(report.notes, words):
        console.print(line)
    return _without_trailing_blanks(console)


def _console(width: int | None, color: bool | None) -> Console:
    wanted = width if width is not None else min(shutil.get_terminal_size((100, 40)).columns, _WIDEST)
    coloured = color if color is not None else not os.environ.get("NO_COLOR") and sys.stdout.isatty()
    return Console(
        file=io.StringIO(), width=max(wanted, _NARROWEST), force_terminal=coloured, no_color=not coloured,
        color_system="standard" if coloured else None, highlight=False, markup=False, emoji=False, legacy_windows=False,
    )  # fmt: skip


def _without_trailing_blanks(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().rstrip().split("\n")) + "\n"


def _notes(notes: list[Note], words: Language) -> Iterator[Text]:
    for note in notes[:_MOST_NOTES]:
        where = "" if not note.source else f"{note.source}:{note.line}: " if note.line else f"{note.source}: "
        yield Text(shown_line(f"{words.say('note')}: {where}{note.text}", 400), style="dim")
    if more := len(notes[_MOST_NOTES:]):
        yield Text(words.count("… and {number} more note", "… and {number} more notes", more), style="dim")


def _jobs_table(diagnoses: list[Diagnosis], words: Language) -> RenderableType:
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="dim", padding=(0, 2, 0, 0), expand=True)
    table.add_column("", width=1)
    table.add_column(words.say("Job"), max_width=28, overflow="fold")
    table.add_column(words.say("Cause"), max_width=32, overflow="fold")
    table.add_column(words.say("Why"), ratio=1, overflow="fold")
    for diagnosis in diagnoses:
        style = OUTCOME_STYLES.get(diagnosis.outcome, "")
        cause = "" if diagnosis.outcome in ("succeeded", "running") else f"{diagnosis.category}.{diagnosis.cause}"
        table.add_row(
            Text(OUTCOME_SIGNS.get(diagnosis.outcome, "?"), style=f"bold {style}"),
            Text(shown_line(diagnosis.job.id, 80)),
            Text(shown_line(cause, 60), style=style if diagnosis.outcome == "failed" else "dim"),
            Text(shown_line(diagnosis.summary, 160)),
        )
    failed = sum(diagnosis.outcome == "failed" for diagnosis in diagnoses)
    total = words.count("{number} job", "{number} jobs", len(diagnoses))
    head = f"{total}, {words.count('{number} failed', '{number} failed', failed)}"
    return Group(Text(head, style="bold"), table)
