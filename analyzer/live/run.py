"""A live diagnosis from its first request to its report."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from analyzer.entries import Options, sift
from analyzer.formats import read_source
from analyzer.live.connection import connect
from analyzer.live.endpoints import endpoints
from analyzer.live.fetch import Fetch
from analyzer.live.pace import Clock, SystemClock
from analyzer.live.progress import Progress
from analyzer.live.spool import Spool, spooled
from analyzer.live.target import Target
from analyzer.model import Note, Report
from analyzer.pipeline import report_on
from analyzer.rulebook import Matcher


def diagnose_live(
    target: Target,
    rulebook: Matcher,
    options: Options,
    progress: Progress,
    *,
    save: Path | None = None,
    clock: Clock | None = None,
    chance: random.Random | None = None,
) -> Report:
    """Fetches a job's log and description and diagnoses it. `save` keeps what was fetched, for `--logs`.

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
        return report_of(spool, fetch.wanted, rulebook, options, fetch.notes)


def source_name(target: Target) -> str:
    """What a live log is called where a file would have its path."""
    return f"Cloud Logging ({target.project})"


def report_of(
    spool: Spool, wanted: Sequence[str], rulebook: Matcher, options: Options, notes: Sequence[Note]
) -> Report:
    """The report on the job that was fetched: the first of these ids that has a story, else the only story there is.

    A pod's name leads to its controller's story, and a Batch job's name to that of its uid.
    """
    read = [*notes]
    partials = sift(read_source(spool.source(), read))
    report = report_on(partials, rulebook, msgspec.structs.replace(options, job_id=wanted[0]), read)
    others = [*wanted[1:], *(report.jobs_found if len(report.jobs_found) == 1 else ())]
    for job in others:
        if report.diagnoses:
            break
        report = report_on(partials, rulebook, msgspec.structs.replace(options, job_id=job), read)
    return report
