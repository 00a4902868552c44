"""`diagnose scan`, `merge` and `note`: every job of many exports, in one output folder."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analyzer.cli.options import Debug, FailOn, Lang, NoRedact, Packs, Quiet, Redact
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from analyzer.model.instant import Instant
    from analyzer.scanning import ScanResult, Settings
    from analyzer.scanning.run import Progress

Folder = Annotated[Path, typer.Option("--output", "-o", help="The folder of the results; a scan goes on in its own.")]
Workers = Annotated[int | None, typer.Option("--workers", help="Processes; left out, one a processor.", min=1)]
OnlyProject = Annotated[str | None, typer.Option("--project", help="Write only the jobs of this project.")]
Where = Annotated[
    list[str] | None,
    typer.Option("--where", help="Write only jobs whose row meets FIELD=VALUE (!=, ~REGEX, <, >); repeatable."),
]
OnlyFailed = Annotated[bool, typer.Option("--only-failed", help="Write only jobs that failed.")]
Limit = Annotated[int | None, typer.Option("--limit", help="Write at most so many jobs, failed ones first.", min=1)]
_SHARDS = (("CLOUD_RUN_TASK_INDEX", "CLOUD_RUN_TASK_COUNT"), ("JOB_COMPLETION_INDEX", "JOB_COMPLETION_COUNT"))
_NAMED = 3
"""So many of the objects are named that could not be read."""
_EVERY = 5.0  # seconds between plain lines of progress


def scan(
    paths: Annotated[list[str], typer.Argument(help="Files, folders, globs or gs:// addresses of exports.")],
    output: Folder = Path("report"),
    workers: Workers = None,
    since: Annotated[str | None, typer.Option("--since", help="Only entries from this time on (RFC 3339).")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Only entries before this time.")] = None,
    project: OnlyProject = None,
    where: Where = None,
    only_failed: OnlyFailed = False,
    limit: Limit = None,
    shard: Annotated[
        str | None,
        typer.Option("--shard", help="Read share I (from 0) of N; `diagnose merge` joins them.", metavar="I/N"),
    ] = None,
    engine: Annotated[str, typer.Option("--engine", help="local or spark.")] = "local",
    master: Annotated[str | None, typer.Option("--master", help="Spark's master; else spark-submit's.")] = None,
    lang: Lang = "en",
    rules: Packs = None,
    redact: Redact = "secrets",
    no_redact: NoRedact = False,
    quiet: Quiet = False,
    fail_on: FailOn = None,
    debug: Debug = False,
) -> None:
    """Diagnose every job of the exports."""
    from analyzer.cli.jobs import categories_of, check_lang, redact_asked
    from analyzer.entries import Span
    from analyzer.scanning import Settings
    from analyzer.scanning import scan as run

    check_lang(lang)
    wanted = categories_of(fail_on)
    settings = Settings(
        output=output, workers=workers or os.cpu_count() or 1, engine=engine, master=master,
        span=Span(_time("--since", since), _time("--until", until)), project=project, where=tuple(where or ()),
        only_failed=only_failed, limit=limit, shard=_shard(shard), packs=tuple(map(str, rules or ())), lang=lang,
        redact=not no_redact, strict=redact_asked(redact, no_redact) == "strict",
    )  # fmt: skip
    _show(_with_progress(lambda tell: run(paths, settings, tell), quiet), settings, wanted)


def merge(
    folders: Annotated[list[Path], typer.Argument(help="Output folders of `diagnose scan --shard`.", metavar="DIR...")],
    output: Folder = Path("report"),
    workers: Workers = None,
    project: OnlyProject = None,
    where: Where = None,
    only_failed: OnlyFailed = False,
    limit: Limit = None,
    lang: Lang = "en",
    rules: Packs = None,
    redact: Redact = "secrets",
    no_redact: NoRedact = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Join the scans of shards and diagnose their jobs."""
    from analyzer.cli.jobs import check_lang, redact_asked
    from analyzer.scanning import Settings, merge_scans

    check_lang(lang)
    settings = Settings(
        output=output, workers=workers or os.cpu_count() or 1, project=project, where=tuple(where or ()),
        only_failed=only_failed, limit=limit, packs=tuple(map(str, rules or ())), lang=lang, redact=not no_redact,
        strict=redact_asked(redact, no_redact) == "strict",
    )  # fmt: skip
    _show(_with_progress(lambda tell: merge_scans(folders, settings, tell), quiet), settings, frozenset())


def note(
    job: Annotated[str, typer.Argument(help="The job's id.")],
    text: Annotated[str, typer.Argument(help="How its failure was solved.")],
    output: Folder = Path("report"),
    debug: Debug = False,
) -> None:
    """Remember how a failure was solved; later failures of the same kind show it."""
    from datetime import UTC, datetime

    from analyzer.scanning.database import Database
    from analyzer.scanning.parts import key_of

    database = Database(output, create=False)
    try:
        known = {key.id for kept in database.jobs() if (key := key_of(kept.job)) is not None}
        if job not in known:
            raise UsageError(f"there is no job {job!r} in this scan", where=str(output), advice="see jobs.jsonl")
        database.note(job, text, datetime.now(UTC).isoformat())
    finally:
        database.close()
    typer.echo(f"noted; the next `diagnose scan --output {output}` shows it with every failure of this kind", err=True)


def _time(option: str, text: str | None) -> Instant | None:
    from analyzer.model.instant import Instant

    if text is None:
        return None
    moment = Instant.parse(text if ":" in text else f"{text}T00:00:00Z")
    if moment is None:
        raise UsageError(f"{option} {text!r} is no time", advice="write 2026-03-11 or 2026-03-11T08:00:00Z")
    return moment


def _shard(text: str | None) -> tuple[int, int] | None:
    """The share that the option names, or else the variables of Cloud Run and indexed Kubernetes jobs."""
    if text is None:
        found = next(((os.environ[i], os.environ[n]) for i, n in _SHARDS if i in os.environ and n in os.environ), None)
        if found is None:
            return None
        text = "/".join(found)
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal() and int(number) < int(of)):
        raise UsageError(f"--shard {text!r} is no share", advice="write I/N with I from 0 to N-1")
    return (int(number), int(of)) if int(of) > 1 else None


def _with_progress(run: Callable[[Callable[[Progress], None]], ScanResult], quiet: bool) -> ScanResult:
    if quiet:
        return run(lambda progress: None)
    if sys.stderr.isatty():
        return _on_terminal(run)
    return run(_Lines())


class _Lines:
    """Progress as plain lines, one every few seconds and one a step."""

    def __init__(self) -> None:
        self._begin = self._last = time.monotonic()
        self._step = ""

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.step == self._step and now - self._last < _EVERY:
            return
        self._step, self._last = progress.step, now
        seconds = max(now - self._begin, 0.001)
        typer.echo(f"{progress.step}: {_figures(progress, seconds)}", err=True)


def _figures(progress: Progress, seconds: float) -> str:
    megabytes, total = progress.bytes_read / 1e6, progress.bytes_total / 1e6
    rate = megabytes / seconds
    parts = [f"{megabytes:,.0f} of {total:,.0f} MB", f"{rate:,.1f} MB/s", f"{progress.entries:,} entries"]
    if progress.jobs_total:
        parts.append(f"{progress.jobs_done:,} of {progress.jobs_total:,} jobs, {progress.failed:,} failed")
    elif rate > 0 and total > megabytes:
        parts.append(f"{(total - megabytes) / rate:,.0f} s left")
    return ", ".join(parts)


def _on_terminal(run: Callable[[Callable[[Progress], None]], ScanResult]) -> ScanResult:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}"), TimeRemainingColumn())
    begin = time.monotonic()
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task: Any = bars.add_task("listing", total=None, told="")

        def tell(progress: Progress) -> None:
            done, total = progress.bytes_read, progress.bytes_total
            if progress.jobs_total:
                done, total = progress.jobs_done, progress.jobs_total
            told = _figures(progress, max(time.monotonic() - begin, 0.001))
            bars.update(task, description=progress.step, completed=done, total=total or None, told=told)

        return run(tell)


def _show(result: ScanResult, settings: Settings, wanted: frozenset[str]) -> None:
    _tell_unread(result)
    if settings.shard is not None:
        number, of = settings.shard
        read = f"{result.entries:,} entries of {len(result.objects_read)} objects were read"
        typer.echo(f"share {number} of {of}: {read}")
        typer.echo("join the shares with: diagnose merge DIR... --output DIR")
        return
    typer.echo(_summary(result))
    for name in result.files:
        typer.echo(f"written: {result.output / name}", err=True)
    from analyzer.scanning.outputs import has_parquet

    if not has_parquet():
        typer.echo("jobs.parquet was left out: pip install 'training-job-analyzer[parquet]'", err=True)
    if any(line.row.category in wanted for line in result.lines):
        raise typer.Exit(1)


def _tell_unread(result: ScanResult) -> None:
    """Names input that could not be read to its end, which is more than a remark in a report."""
    unread = [note for note in result.notes if note.kind == "unreadable"]
    for note in unread[:_NAMED]:
        typer.echo(_printable(f"note: {note.source}: {note.text}"), err=True)
    if unread:
        more = f"and {len(unread) - _NAMED:,} more; " if len(unread) > _NAMED else ""
        typer.echo(f"note: {more}the same command reads again what could not be read", err=True)


def _summary(result: ScanResult) -> str:
    """What was found, as a table of causes."""
    lines = [line for line in result.lines if line.row.outcome == "failed"]
    jobs = f"{len(result.lines):,} job{'' if len(result.lines) == 1 else 's'}"
    told = [f"{jobs}, {len(lines):,} failed, {result.new:,} new; {result.entries:,} entries"]
    if lines:
        from analyzer.scanning.outputs import frame_of

        failed = frame_of(lines, ("id", "category", "cause", "lost_seconds", "ended"))
        cause = failed["category"] + "." + failed["cause"]
        table = failed.assign(cause=cause).groupby("cause", sort=True)
        counts = table.agg(
            jobs=("id", "size"), lost=("lost_seconds", "sum"), example=("id", "first"), last=("ended", "max")
        )
        counts["lost"] = (counts["lost"].astype("float64") / 3600).round(1)
        counts = counts.rename(columns={"lost": "lost_hours"})
        counts["last"] = counts["last"].dt.strftime("%Y-%m-%d %H:%M")
        counts = counts.sort_values(["jobs", "lost_hours"], ascending=False, kind="stable").head(20)
        told += ["", _printable(counts.reset_index().to_string(index=False))]
    again = [line for line in result.lines if line.solution]
    told += [
        _printable(f"{line.row.id}: seen {line.seen} times before; solved by: {line.solution}") for line in again[:5]
    ]
    return "\n".join(told)


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() or char == "\n" else " " for char in text)
