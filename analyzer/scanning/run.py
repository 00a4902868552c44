"""A scan from start to end: list, read what is new, tell jobs apart, diagnose what changed, write.

Every step leaves its results in the records before the next begins, so that a scan that was killed goes on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from os import PathLike, fspath
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import msgspec

from analyzer import __version__
from analyzer.errors import NothingToDiagnose, RenderError, UsageError
from analyzer.model import Note
from analyzer.model.fleet import JobRow
from analyzer.model.instant import Instant
from analyzer.pseudonyms import KEY_VARIABLE, strict_notes
from analyzer.scanning.database import Database, Kept
from analyzer.scanning.engines import Engine, InProcess, Pool
from analyzer.scanning.groups import Group, groups_of
from analyzer.scanning.objects import Object, listed, units_of
from analyzer.scanning.outputs import Line, check, chosen, frame_of, lines_of, write_outputs
from analyzer.scanning.parts import ANEW
from analyzer.scanning.settings import Settings
from analyzer.scanning.worker import (
    BEGUN,
    REPORTS,
    Diagnosed,
    Sent,
    diagnose_group,
    diagnose_sent,
    is_whole,
    read_unit,
    record_name,
    rulebook,
    write_whole,
)

if TYPE_CHECKING:
    import pandas


class Progress(msgspec.Struct):
    """How far a scan is: bytes to read and read in this run, entries in them, jobs diagnosed, failures."""

    step: str = "listing"
    bytes_total: int = 0
    bytes_read: int = 0
    entries: int = 0
    jobs_total: int = 0
    jobs_done: int = 0
    failed: int = 0


Tell = Callable[[Progress], None]
_BEGUN, _ENDED = "begun", "ended"


class ScanResult(msgspec.Struct, frozen=True):
    """What a scan found. `files` are names of what was written in `output`; `new` counts jobs not seen so before.

    `objects_read` are objects that were read in this run: what had been read before and has not changed was not.
    """

    output: Path
    lines: list[Line]
    files: list[str]
    notes: list[Note]
    new: int
    objects_read: list[str]
    bytes_read: int
    entries: int

    @property
    def jobs(self) -> pandas.DataFrame:
        """A row a job: its facts, verdict, cost, and how often the same failure was seen before."""
        return frame_of(self.lines)

    def _repr_html_(self) -> str:
        return str(self.jobs.to_html(max_rows=50, escape=True))


def scan(paths: Sequence[str | PathLike[str]], settings: Settings, tell: Tell = lambda progress: None) -> ScanResult:
    """Diagnoses every job of exports (files, folders, globs, gs:// addresses) and writes the results.

    Raises:
        UsageError: if the settings are off, or differ from those that the output folder was begun with.
        NothingToDiagnose: if there is nothing at the paths.
        RenderError: if the results cannot be written.
    """
    check(settings)
    progress = Progress()
    tell(progress)
    names = [fspath(path) for path in paths]
    objects = listed(names, settings.shard)
    if not objects and settings.shard is None:
        raise NothingToDiagnose("there is no file to scan", where=", ".join(names[:3]), advice="check the path")
    rules = rulebook(settings.packs).version + ("" if settings.redact else " unmasked")
    database = _opened(settings)
    try:
        with _engine(settings) as engine:
            read = _read(objects, database, engine, settings, rules, progress, tell)
            if settings.shard is not None:
                notes = database.totals()[1]
                return ScanResult(settings.output, [], [], notes, 0, read, progress.bytes_read, progress.entries)
            return _conclude(database, engine, settings, progress, tell, read)
    finally:
        database.close()


def merge_scans(folders: Sequence[Path], settings: Settings, tell: Tell = lambda progress: None) -> ScanResult:
    """Puts the scans of shards together and diagnoses their jobs.

    Raises:
        UsageError: if a folder holds no scan, or they were made with different settings.
    """
    check(settings)
    spans = {_span_of(folder) for folder in folders}
    if len(spans) > 1:
        raise UsageError("the shards were scanned with different --since or --until", advice="scan them all alike")
    database = _opened(settings, next(iter(spans), None))
    try:
        for folder in folders:
            database.adopt(folder)
        with _engine(settings) as engine:
            return _conclude(database, engine, settings, Progress(), tell, [])
    finally:
        database.close()


def _span_of(folder: Path) -> str | None:
    database = Database(folder, create=False, write=False)
    try:
        if database.meta("reading") == _BEGUN:
            raise UsageError(
                "the scan of this shard has not come to its end", where=str(folder),
                advice="run it again, which goes on where it stopped, and then merge",
            )  # fmt: skip
        return database.meta("span")
    finally:
        database.close()


def _opened(settings: Settings, span: str | None = None) -> Database:
    database = Database(settings.output)
    span = span or f"{settings.span.since or ''}/{settings.span.until or ''}"
    known = database.meta("span")
    if known is not None and known != span:
        database.close()
        raise UsageError(
            "was begun with another --since or --until", where=str(settings.output), advice="choose a new --output"
        )
    if known is None:
        database.set_meta("span", span)
    return database


def _engine(settings: Settings) -> Engine:
    if settings.engine == "spark":
        from analyzer.scanning.spark import Spark

        return Spark(settings)
    if settings.engine != "local":
        raise UsageError(f"--engine {settings.engine!r} is not known", advice="use local or spark")
    return Pool(settings.workers) if settings.workers > 1 else InProcess()


def _read(
    objects: Sequence[Object], database: Database, engine: Engine, settings: Settings, rules: str, progress: Progress,
    tell: Tell,
) -> list[str]:  # fmt: skip
    """Reads what is new or has changed; returns the names of those objects."""
    new = [item for item in objects if not database.is_read(item.name, item.stamp, rules)]
    units = database.unread((unit for item in new for unit in units_of(item)), rules)
    progress.step, progress.bytes_total = "reading", sum(unit.size for unit in units)
    tell(progress)
    database.set_meta("reading", _BEGUN)
    database.forget_unread({str(folder) for item in new for folder in PurePath(item.name).parents})
    for done, parts in engine.read(partial(read_unit, settings=settings), units):
        database.record(done.unit, rules, done.entries, done.notes, parts)
        progress.bytes_read += done.unit.size
        progress.entries += done.entries
        tell(progress)
    database.set_meta("reading", _ENDED)
    return sorted({unit.name for unit in units})


def _conclude(
    database: Database, engine: Engine, settings: Settings, progress: Progress, tell: Tell, read: list[str]
) -> ScanResult:
    progress.step = "telling jobs apart"
    tell(progress)
    rules = rulebook(settings.packs).version
    salt = f"{__version__} {rules} {settings.lang} {settings.redact} {settings.strict}"
    groups, notes = groups_of(database, salt)
    number = int(database.meta("scans") or 0) + 1
    seen = {kept.fingerprint for kept in database.jobs() if kept.fingerprint and kept.scan < number}
    _diagnose(groups, database, engine, settings, number, progress, tell)
    progress.step = "writing"
    tell(progress)
    rows = [(_row(kept.row), kept.scan == number) for kept in database.jobs()]
    lines = chosen(lines_of(rows, database.solutions()), settings)
    entries, more = database.totals()
    notes = sorted({*notes, *more})
    notes = strict_notes(notes, os.environ.get(KEY_VARIABLE, "").encode()) if settings.strict else notes
    files = write_outputs(lines, settings, rules, notes, sorted(seen) if number > 1 else None)
    _sweep(settings.output / REPORTS, {row.report for row, _ in rows})
    database.set_meta("scans", str(number))
    if settings.strict:  # the entries still hold what is masked in the results
        database.forget_entries()
    new = sum(line.is_new for line in lines)
    return ScanResult(settings.output, lines, files, notes, new, read, progress.bytes_read, entries)


def _diagnose(
    groups: Sequence[Group], database: Database, engine: Engine, settings: Settings, number: int, progress: Progress,
    tell: Tell,
) -> None:  # fmt: skip
    """Diagnoses the jobs whose inputs have changed, and records them as they come."""
    lost = _lost_pages(database, settings.output)
    known = {job: inputs for job, inputs in database.known_inputs().items() if job not in lost}
    database.forget_except(record_name(group.key, settings) for group in groups)
    todo = [group for group in groups if known.get(record_name(group.key, settings)) != group.inputs]
    progress.step, progress.jobs_total = "diagnosing", len(todo)
    tell(progress)
    if engine.is_remote:
        sent = (Sent(group, [part for name in group.names for part in database.parts(name)]) for group in todo)
        found = engine.run(partial(diagnose_sent, settings=settings, scan=number), sent)
    else:
        found = engine.run(partial(diagnose_group, settings=settings, scan=number), todo)
    for batch in _batches(_with_pages(found, settings.output), 50):
        database.keep(batch)
        progress.jobs_done += len(batch)
        progress.failed += sum(b'"outcome":"failed"' in kept.row for kept in batch)
        tell(progress)


def _lost_pages(database: Database, output: Path) -> set[str]:
    """The jobs whose pages are gone or cut off, so that they are diagnosed again."""
    pages = ((job, _row(row).report) for job, row in database.rows())
    return {job for job, page in pages if page is not None and not is_whole(output / page)}


def _with_pages(found: Iterator[Diagnosed], output: Path) -> Iterator[Kept]:
    """The records; pages that workers have sent are written before their jobs count as diagnosed."""
    for item in found:
        if item.name is not None and item.page is not None:
            write_whole(output / item.name, item.page)
        yield item.kept


def _batches(items: Iterator[Kept], size: int) -> Iterator[list[Kept]]:
    batch: list[Kept] = []
    for item in items:
        batch.append(item)
        if len(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch


def _sweep(folder: Path, wanted: Collection[str | None]) -> None:
    """Removes pages of jobs that have none any more, and what a killed scan had begun to write."""
    for page in folder.glob("*.html"):
        if f"{folder.name}/{page.name}" not in wanted:
            page.unlink(missing_ok=True)
    for begun in (*folder.glob(f"{BEGUN}*"), *folder.parent.glob(f"{BEGUN}*")):
        begun.unlink(missing_ok=True)


def _row(row: bytes) -> JobRow:
    try:
        return msgspec.json.decode(row, type=JobRow, dec_hook=_instant)
    except msgspec.DecodeError as error:
        raise RenderError("the scan's records are damaged", where="scan.sqlite", advice=ANEW) from error


def _instant(kind: type, value: object) -> object:
    return Instant.parse(value) if kind is Instant else value
