"""One job's story for the terminal: labelled rows, from the gravest to the smallest print."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from analyzer.model.diagnosis import Diagnosis
from analyzer.model.timeline import Run
from analyzer.report.chart import Chart, chart_of, run_rows
from analyzer.report.language import (
    CATEGORY_NAMES,
    OUTCOME_NAMES,
    PLATFORM_NAMES,
    RETRY_NAMES,
    RUN_NAMES,
    Language,
    clock,
)
from analyzer.report.neutral import clipped, shown, shown_line
from analyzer.report.proof import gist_of, other_causes, proof_of, source_of, steps_of, whereabouts
from analyzer.report.text_lanes import text_lanes

OUTCOME_STYLES = {"failed": "red", "succeeded": "green", "cancelled": "yellow", "running": "blue", "unknown": "yellow"}
OUTCOME_SIGNS = {"failed": "✕", "succeeded": "✓", "cancelled": "■", "running": "▸", "unknown": "?"}
_LABEL_WIDTH = 11
_ROOM_FOR_LABELS = 56  # below so many cells, labels stand above what they name

Row = tuple[str, RenderableType]


def one_job(diagnosis: Diagnosis, words: Language, width: int) -> Group:
    """The job's headline, its summary, and everything else that is known, in rows."""
    summary = Text(shown_line(diagnosis.summary, 600), style="bold")
    body = width - _LABEL_WIDTH - 1 if width >= _ROOM_FOR_LABELS else width - 2
    rows = list(_rows(diagnosis, words, body))
    if width < _ROOM_FOR_LABELS:
        stacked: list[RenderableType] = []
        for label, content in rows:
            stacked += [Text(label, style="dim")] if label else []
            stacked.append(Padding(content, (0, 0, 0, 2)))
        return Group(_headline(diagnosis, words), summary, Text(""), *stacked)
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=_LABEL_WIDTH, style="dim", no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    for label, content in rows:
        grid.add_row(label, content)
    return Group(_headline(diagnosis, words), summary, Text(""), grid)


def _headline(diagnosis: Diagnosis, words: Language) -> Text:
    outcome = f"{OUTCOME_SIGNS.get(diagnosis.outcome, '?')} {words.say(OUTCOME_NAMES[diagnosis.outcome])}"
    text = Text(outcome, style=f"bold {OUTCOME_STYLES.get(diagnosis.outcome, '')}")
    if diagnosis.outcome not in ("succeeded", "running"):
        text.append(f" · {words.say(CATEGORY_NAMES[diagnosis.category])}", style="not bold default")
        text.append(f" ({shown_line(diagnosis.category + '.' + diagnosis.cause, 80)})", style="not bold dim default")
    job = diagnosis.job
    platform = words.say(PLATFORM_NAMES.get(job.platform, job.platform))
    names = " · ".join(
        shown_line(name, 80) for name in (job.id, job.display_name, platform, job.project, job.region) if name
    )
    return text.append(f"\n{names}", style="not bold dim default")


def _rows(diagnosis: Diagnosis, words: Language, body: int) -> Iterator[Row]:
    say = words.say
    if diagnosis.root_cause is not None and diagnosis.root_cause.evidence:
        yield say("Proof"), _proof(diagnosis, words, body)
    if diagnosis.remediation:
        yield say("Do now"), _remedy(diagnosis, words, body)
    if diagnosis.retry.advice:
        yield say("Retry"), _after(Text(say(RETRY_NAMES[diagnosis.retry.advice])), diagnosis.retry.why)
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
    proof, root = proof_of(diagnosis), diagnosis.root_cause
    assert proof is not None
    assert root is not None
    lines = [Text(shown_line(proof.line, 400), style="bold")]
    if not proof.whole:
        text, _ = clipped(shown(proof.evidence.text), lines=6, characters=600)
        lines += [Text(line.replace("\t", "    ").rstrip(), style="dim") for line in text.rstrip("\n").split("\n")]
    gists = dict.fromkeys(tuple(gist_of(other, root.values)) for other in root.evidence[1:3])  # each once
    lines += [Text(shown_line(line, 160)) for gist in gists for line in gist]
    bar = Text("▌ ", style="red")
    where = [*whereabouts(diagnosis, words)]
    where.append(source_of(proof.evidence))
    place = Text(" · ".join(shown_line(part, 120) for part in where if part), style="dim")
    return Group(*(_hanging(line, bar, bar, body) for line in lines), place)


def _hanging(text: Text, first: Text, following: Text, width: int) -> Text:
    """The text wrapped to the width, each line behind its own prefix."""
    lines = text.wrap(Console(width=width, file=io.StringIO()), max(width - first.cell_len, 8), overflow="fold")
    joined = Text()
    for number, line in enumerate(lines):
        line.rstrip()
        joined.append_text(Text("\n") if number else Text())
        joined.append_text(following if number else first).append_text(line)
    return joined


def _remedy(diagnosis: Diagnosis, words: Language, body: int) -> RenderableType:
    remedy = diagnosis.remediation[0]
    steps = [
        _hanging(Text(shown_line(step, 300)), Text(f"{number}. "), Text("   "), body)
        for number, step in enumerate(steps_of(remedy)[:4], 1)
    ]
    commands = [_command(command, body) for command in remedy.commands[:2]]
    more = len(diagnosis.remediation) - 1
    told = words.count("… {number} more thing to try", "… {number} more things to try", more)
    rest = [Text(told, style="dim")] if more else []
    return Group(Text(shown_line(remedy.title, 600), style="bold"), *steps, *commands, *rest)


def _command(command: str, body: int) -> Text:
    return _hanging(Text(shown_line(command, 600), style="cyan"), Text("$ ", style="dim"), Text("  "), body)


def _after(head: Text, rest: str) -> Text:
    if rest:
        head.append(" – " + shown_line(rest, 400), style="not bold")
    return head


def _timeline_rows(diagnosis: Diagnosis, words: Language, body: int) -> Iterator[Row]:
    timeline = diagnosis.timeline
    if (chart := chart_of(diagnosis)) is not None:
        facts = Text(_timeline_facts(diagnosis, chart, words))
        yield words.say("Timeline"), Group(facts, *text_lanes(chart, words, body))
    elif rows := run_rows(timeline):
        told = [
            f"{row.replica}: {words.say(RUN_NAMES.get(row.run.reason, row.run.reason))}{_exit(row.run, words)}"
            for row in rows
        ]
        yield words.say("Timeline"), Text("\n".join(shown_line(line, 200) for line in told[:4]))
    if timeline.restarts_total:
        yield words.say("Restarts"), Text(_restarts(diagnosis, words))
    if timeline.remarks:
        yield "", Text("\n".join(shown_line(remark, 300) for remark in timeline.remarks[:3]))


def _timeline_facts(diagnosis: Diagnosis, chart: Chart, words: Language) -> str:
    timeline = diagnosis.timeline
    facts = [f"{words.span(chart.start, chart.end)} ({words.seconds(chart.seconds)})"]
    if len(timeline.attempts) > 1:
        facts.append(words.count("{number} attempt", "{number} attempts", len(timeline.attempts)))
    if timeline.lost_seconds and timeline.lost_seconds >= 1:
        facts.append(words.say("{time} of work lost", time=words.seconds(timeline.lost_seconds)))
    return ", ".join(facts)


def _exit(run: Run, words: Language) -> str:
    if run.exit_code is None:
        return f", {run.signal}" if run.signal else ""
    code = words.say("exit code {code}", code=run.exit_code)
    return f", {code}" + (f" ({run.signal})" if run.signal else "")


def _restarts(diagnosis: Diagnosis, words: Language) -> str:
    timeline = diagnosis.timeline
    kinds = ", ".join(f"{number} {name}" for name, number in words.restart_kinds(timeline.restarts))
    budgets = timeline.budgets.worker_restarts.items()
    limits = [f"{shown_line(name, 40)} {shown_line(used, 12)}" for name, used in budgets if not used.startswith("0/")]
    if timeline.budgets.job_retries:
        limits.append(words.say("job retries {used}", used=shown_line(timeline.budgets.job_retries, 12)))
    more = f" · +{len(limits) - 4}" if len(limits) > 4 else ""
    text = f"{timeline.restarts_total}" + (f" ({kinds})" if kinds else "")
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
    fitting = ", ".join(shown_line(name, 40) for name in memory.suggestions[:5])
    tail = f"\n{words.say('would fit')}: {fitting}" if fitting else ""
    return Text(head + ", ".join(parts) + tail) if parts or tail else None


def _judgement_rows(diagnosis: Diagnosis, words: Language, body: int) -> Iterator[Row]:
    if diagnosis.symptoms:
        first, more = diagnosis.symptoms[0], len(diagnosis.symptoms) - 1
        told = ": ".join(filter(None, [first.replica, first.evidence.text[:2000]]))
        text = f"{clock(first.time)} {told}".strip()
        rest = "\n" + words.count("… and {number} more symptom", "… and {number} more symptoms", more) if more else ""
        yield words.say("Follows"), Text(shown_line(text, max(body, 60)) + rest)
    if causes := other_causes(diagnosis)[:3]:
        names = []
        for item, others in causes:
            places = item.replica or ""
            places += f" +{len(others)}" if others else ""
            names.append(f"{item.category}.{item.cause}" + (f" ({places})" if places else ""))
        yield words.say("Considered"), Text(shown_line(", ".join(names), 300))
