"""The program as a library: `from analyzer import diagnose, load`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.entries import Options
from analyzer.errors import NothingToDiagnose
from analyzer.formats import read_source
from analyzer.model import Diagnosis, Entry, Instant, Note, Report
from analyzer.pipeline import diagnose_entries, diagnose_paths
from analyzer.rulebook.cache import load_rulebook
from analyzer.sources import open_sources

if TYPE_CHECKING:
    import pandas

    from analyzer.scanning import ScanResult

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


def diagnose(
    source: Paths | Iterable[Entry],
    job_id: str | None = None,
    *,
    lang: str = "en",
    rules: Sequence[str | PathLike[str]] = (),
    exit_codes: dict[str | None, int] | None = None,
    redact: bool = True,
) -> Diagnosis:
    """The diagnosis of one job out of files, folders or globs (or out of entries that are already read).

    Without `job_id` it is the first failed job of the input, or the first job where none failed. `rules` are folders
    of further rules, `exit_codes` what the caller knows by replica (None: any replica).

    Raises:
        NothingToDiagnose: if the input holds no such job.
        RuleError: if a rule pack has a mistake.
    """
    return report_on(source, job_id, lang=lang, rules=rules, exit_codes=exit_codes, redact=redact).diagnoses[0]


def report_on(
    source: Paths | Iterable[Entry],
    job_id: str | None = None,
    *,
    lang: str = "en",
    rules: Sequence[str | PathLike[str]] = (),
    exit_codes: dict[str | None, int] | None = None,
    redact: bool = True,
) -> Report:
    """The diagnoses of every job of a source (or of the one that is named), failed first, with notes on the input."""
    options = Options(job_id=job_id, lang=lang, exit_codes=exit_codes or {}, redact=redact)
    rulebook = load_rulebook([Path(fspath(folder)) for folder in rules])
    paths = _paths(source)
    report = diagnose_entries(source, rulebook, options) if paths is None else diagnose_paths(paths, rulebook, options)  # type: ignore[arg-type]
    if not report.diagnoses:
        found = ", ".join(report.jobs_found[:5]) or "none"
        raise NothingToDiagnose(
            f"no job {job_id!r} in the input" if job_id else "no job in the input", advice=f"jobs: {found}"
        )
    return report


def scan(
    paths: Paths,
    output: str | PathLike[str] = "report",
    *,
    workers: int | None = None,
    engine: str = "local",
    since: Instant | None = None,
    until: Instant | None = None,
    project: str | None = None,
    where: Sequence[str] = (),
    only_failed: bool = False,
    limit: int | None = None,
    rules: Sequence[str | PathLike[str]] = (),
    lang: str = "en",
    redact: bool = True,
) -> ScanResult:
    """Diagnoses every job of exports and writes tables and pages into a folder; `.jobs` of the result is a DataFrame.

    A scan into the same folder goes on where it stopped and reads only what is new. `where` are conditions on a row's
    fields such as `category=out_of_memory`. `workers` are processes; left out, one a processor (in a script this needs
    the usual `if __name__ == "__main__"`).

    Raises:
        UsageError: if an option is off.
        NothingToDiagnose: if there is nothing at the paths.
        RenderError: if the results cannot be written.
    """
    from analyzer.entries import Span
    from analyzer.scanning import Settings
    from analyzer.scanning import scan as run

    settings = Settings(
        output=Path(output), workers=workers or os.cpu_count() or 1, engine=engine, span=Span(since, until),
        project=project, where=tuple(where), only_failed=only_failed, limit=limit, lang=lang, redact=redact,
        packs=tuple(fspath(folder) for folder in rules),
    )  # fmt: skip
    return run(_paths(paths) or [], settings)


def load(paths: Paths) -> pandas.DataFrame:
    """All entries of files, folders or globs as a frame, a row an entry, in the order of time."""
    from analyzer.frames import entries_frame

    notes: list[Note] = []
    sources = open_sources(_paths(paths) or [], notes)
    return entries_frame(sorted((e for s in sources for e in read_source(s, notes)), key=lambda entry: entry.order))


def _paths(source: object) -> list[str] | None:
    """The paths that a source names; None if it is entries."""
    if isinstance(source, str | PathLike):
        return [fspath(source)]
    if isinstance(source, Sequence) and all(isinstance(item, str | PathLike) for item in source):
        return [fspath(item) for item in source]
    return None
