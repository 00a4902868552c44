"""`diagnose JOB_ID`: arguments in, a rendered diagnosis out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import typer

from analyzer.cli.boundary import write_file, write_output
from analyzer.cli.options import (
    Baseline,
    Debug,
    ExitCode,
    Explain,
    FailOn,
    Format,
    JobFile,
    JobId,
    Lang,
    Logs,
    NoRedact,
    Open,
    Output,
    Packs,
    Project,
    Quiet,
    Redact,
    Region,
    Save,
)
from analyzer.errors import NothingToDiagnose, UsageError
from analyzer.model import CATEGORIES
from analyzer.report import ALL_FORMATS

if TYPE_CHECKING:
    from analyzer.entries import Options
    from analyzer.model import Report

_BY_ENDING = {
    ".html": "html", ".htm": "html", ".json": "json", ".md": "markdown", ".sarif": "sarif", ".xml": "junit",
    ".pdf": "pdf",
}  # fmt: skip


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """How a report is to be given: its form and language, where to, and what makes the program exit with 1."""

    format: str
    output: Path | None
    lang: str
    explain: bool
    open_: bool
    quiet: bool
    redact: str
    categories: frozenset[str]

    def give(self, report: Report, where: Sequence[str], job_id: str | None) -> None:
        """Prints the notes and the report. Raises NothingToDiagnose if it has no job."""
        if not self.quiet:
            _tell_notes(report)
        if not report.diagnoses:
            raise _nothing(where, job_id, report)
        told = masked(report, self.redact)
        show(told, self.format, self.output, lang=self.lang, explain=self.explain, open_=self.open_)
        if any(diagnosis.category in self.categories for diagnosis in report.diagnoses):
            raise typer.Exit(1)


def job(
    job_id: JobId = None,
    logs: Logs = None,
    job_file: JobFile = None,
    project: Project = None,
    region: Region = None,
    save: Save = None,
    format: Format = None,
    output: Output = None,
    lang: Lang = "en",
    rules: Packs = None,
    exit_code: ExitCode = None,
    fail_on: FailOn = None,
    baseline: Baseline = None,
    explain: Explain = False,
    redact: Redact = "secrets",
    no_redact: NoRedact = False,
    open_: Open = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Diagnose one job, or every job of the input."""
    sources = [*(logs or ()), *(job_file or ())]
    live = project is not None or (not sources and job_id is not None and "projects/" in job_id)
    if not live:
        _check_input(sources, region, save)
    answer = answer_asked(format, output, lang, explain, open_, quiet, fail_on, redact_asked(redact, no_redact))
    options = options_of(job_id, exit_code, lang, no_redact, baseline)

    from analyzer.pipeline import diagnose_paths
    from analyzer.rulebook.cache import load_rulebook

    rulebook = load_rulebook(rules or ())
    if live:
        from analyzer.live.run import run_live

        report, name = run_live(job_id, project, region, save, sources, rulebook, options, quiet)
        answer.give(report, [name], None)
    else:
        answer.give(diagnose_paths(sources, rulebook, options), sources, job_id)


def answer_asked(
    format: str | None, output: Path | None, lang: str, explain: bool, open_: bool, quiet: bool, fail_on: str | None,
    redact: str,
) -> Answer:
    """What the options of a call ask for. Raises UsageError where they are off."""
    check_lang(lang)
    return Answer(
        format=format_of(format, output, open_), output=output, lang=lang, explain=explain, open_=open_, quiet=quiet,
        redact=redact, categories=categories_of(fail_on),
    )  # fmt: skip


def options_of(
    job_id: str | None, exit_code: list[str] | None, lang: str, no_redact: bool, baseline: str | None = None
) -> Options:
    """What a call says beside its input. Raises UsageError where an exit code has no number."""
    from analyzer.entries import Options

    codes = _exit_codes(exit_code)
    return Options(job_id=job_id, exit_codes=codes, lang=lang, redact=not no_redact, baseline=baseline)


def _check_input(sources: Sequence[str], region: str | None, save: Path | None) -> None:
    if not sources:
        advice = "add --logs PATH (a file, folder, glob, or - for standard input), or --project for a job's live log"
        raise UsageError("no input is named", advice=advice)
    if region is not None or save is not None:
        raise UsageError("--region and --save belong to a live log", advice="add --project PROJECT_ID")


def show(
    report: Report, format: str, output: Path | None, *, lang: str, explain: bool = False, open_: bool = False
) -> None:
    """Renders a report, writes it, and opens it in the browser where that is asked for."""
    from analyzer.report import render

    if open_ and output is None:
        output = Path(f"diagnosis-{_file_name(report)}.html")
    color = None if output is None else False
    if format == "pdf":
        _write_pdf(report, lang, output)
    else:
        write_output(render(report, format, lang=lang, explain=explain, color=color), output)
    if output is not None:
        typer.echo(f"written: {output}", err=True)
    if open_ and output is not None:
        typer.launch(output.resolve().as_uri())


def _write_pdf(report: Report, lang: str, output: Path | None) -> None:
    from analyzer.report import render
    from analyzer.report.pdf import render_pdf

    if output is None:
        raise UsageError("a PDF is no text for a terminal", advice="add --output FILE.pdf")
    write_file(render_pdf(render(report, "html", lang=lang)), output)


def format_of(given: str | None, output: Path | None, open_: bool = False) -> str:
    """The format that was asked for by name, by the output's ending, or text."""
    if given is None:
        return "html" if open_ else _BY_ENDING.get(output.suffix.lower(), "text") if output else "text"
    if given not in ALL_FORMATS:
        raise UsageError(f"--format {given!r} is not known", advice=f"use one of {', '.join(ALL_FORMATS)}")
    return given


def redact_asked(redact: str, no_redact: bool) -> str:
    """What --redact and --no-redact ask for together: `secrets`, `strict` or `nothing`."""
    if redact not in ("secrets", "strict"):
        raise UsageError(f"--redact {redact!r} is not known", advice="use secrets or strict")
    if no_redact and redact == "strict":
        raise UsageError("--no-redact and --redact strict contradict each other", advice="leave one out")
    return "nothing" if no_redact else redact


def masked(report: Report, redact: str) -> Report:
    """The report with addresses and names masked, if that is asked for (secrets were masked where it was made)."""
    if redact != "strict":
        return report
    from analyzer.pseudonyms import KEY_VARIABLE, strict_report

    return strict_report(report, os.environ.get(KEY_VARIABLE, "").encode())


def check_lang(lang: str) -> None:
    """Refuses a language that there are no texts in."""
    if lang not in ("en", "de"):
        raise UsageError(f"--lang {lang!r} is not known", advice="use en or de")


def categories_of(text: str | None) -> frozenset[str]:
    """The categories that --fail-on names. Raises UsageError for a word that is none."""
    wanted = frozenset(word.strip() for word in (text or "").split(",") if word.strip())
    unknown = sorted(wanted - set(CATEGORIES))
    if unknown:
        raise UsageError(f"--fail-on {unknown[0]!r} is no category", advice=f"use one of {', '.join(CATEGORIES)}")
    return wanted


def _exit_codes(given: list[str] | None) -> dict[str | None, int]:
    codes: dict[str | None, int] = {}
    for text in given or ():
        replica, _, code = text.rpartition("=")
        if not code.lstrip("-").isdecimal():
            raise UsageError(f"--exit-code {text!r} has no number", advice="write 137 or workerpool0-0=137")
        codes[replica or None] = int(code)
    return codes


def _tell_notes(report: Report) -> None:
    for note in report.notes[:20]:
        place = (
            f"{note.source}:{note.line}: " if note.source and note.line else f"{note.source}: " if note.source else ""
        )
        times = f" ({note.count} times)" if note.count > 1 else ""
        line = f"note: {place}{note.text}{times}"
        typer.echo("".join(char if char.isprintable() else " " for char in line), err=True)
    if len(report.notes) > 20:
        typer.echo(f"note: {len(report.notes) - 20} more notes are in the JSON report", err=True)


def _nothing(sources: Sequence[str], job_id: str | None, report: Report) -> NothingToDiagnose:
    where = ", ".join(sources[:3])
    if job_id is None or not report.jobs_found:
        empty = "it has no entries; check the query or the time that it was exported for"
        advice = "see the notes above for each file" if report.notes else empty
        return NothingToDiagnose("holds no log that could be read", where=where, advice=advice)
    near = get_close_matches(job_id, report.jobs_found, n=3, cutoff=0.3) or report.jobs_found[:3]
    return NothingToDiagnose(
        f"holds no job {job_id!r} ({len(report.jobs_found)} others)",
        where=where,
        advice=f"did you mean {', '.join(near)}?",
    )


def _file_name(report: Report) -> str:
    """A job id as a file name: only letters, digits, dots, dashes and underscores of it, and not too many."""
    kept = "".join(
        char if char.isascii() and (char.isalnum() or char in "-_") else "-" for char in report.diagnoses[0].job.id
    )
    return kept.strip("-")[:80] or "job"
