"""A live diagnosis from its first request to its report."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from analyzer.entries import Options, Room, absorb, sift_source
from analyzer.live.connection import connect
from analyzer.live.endpoints import endpoints
from analyzer.live.fetch import Fetch
from analyzer.live.pace import Clock, SystemClock
from analyzer.live.progress import Progress, progress_for
from analyzer.live.spool import Spool, spooled
from analyzer.live.target import Target, target_of
from analyzer.model import Note, Report
from analyzer.pipeline import report_on
from analyzer.rulebook import Matcher
from analyzer.rulebook.telling import telling
from analyzer.sources import open_sources


def run_live(
    job: str | None,
    project: str | None,
    region: str | None,
    save: Path | None,
    paths: Sequence[str],
    rulebook: Matcher,
    options: Options,
    quiet: bool,
) -> tuple[Report, str]:
    """The live diagnosis that the words of a call ask for, and what its log is called.

    Raises:
        UsageError: if they name no job, or none that can be.
        RemoteError, NothingToDiagnose: as `diagnose_live`.
    """
    target = target_of(job, project, region)
    progress = progress_for(quiet, f"reading the log of {target.id}")
    report = diagnose_live(target, rulebook, options, progress, save=save, paths=paths)
    return report, source_name(target)


def diagnose_live(
    target: Target,
    rulebook: Matcher,
    options: Options,
    progress: Progress,
    *,
    save: Path | None = None,
    paths: Sequence[str] = (),
    clock: Clock | None = None,
    chance: random.Random | None = None,
) -> Report:
    """Fetches a job's log and description and diagnoses it. `save` keeps what was fetched, for `--logs`; `paths` are
    files that belong to the same job.

    Raises:
        RemoteError: if a service refuses or fails before anything was read.
        NothingToDiagnose: if there is no such job.
    """
    with closing(connect(endpoints())) as connection, spooled(save, source_name(target)) as spool:
        fetch = Fetch(
            connection, target, spool, clock=clock or SystemClock(), progress=progress, chance=chance or random.Random()
        )
        with progress.shown():
            fetch.read()
        fetch.finish()
        return report_of(spool, fetch.wanted, rulebook, options, fetch.notes, paths)


def source_name(target: Target) -> str:
    """What a live log is called where a file would have its path."""
    return f"Cloud Logging ({target.project})"


def report_of(
    spool: Spool,
    wanted: Sequence[str],
    rulebook: Matcher,
    options: Options,
    notes: Sequence[Note],
    paths: Sequence[str] = (),
) -> Report:
    """The report on the job that was fetched: the first of these ids that has a story, else the only story there is.

    A pod's name leads to its controller's story, and a Batch job's name to that of its uid.
    """
    read = [*notes]
    tells, room = telling(rulebook), Room()
    partials = sift_source(spool.source(), read, tells, room)
    for source in open_sources(paths, read):
        absorb(partials, sift_source(source, read, tells, room))
    report = report_on(partials, rulebook, msgspec.structs.replace(options, job_id=wanted[0]), read)
    others = [*wanted[1:], *(report.jobs_found if len(report.jobs_found) == 1 else ())]
    for job in others:
        if report.diagnoses:
            break
        report = report_on(partials, rulebook, msgspec.structs.replace(options, job_id=job), read)
    return report
