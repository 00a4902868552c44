"""`diagnose report` and `diagnose bundle`: a saved diagnosis in another form, or packed for others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.cli.boundary import write_file
from analyzer.cli.jobs import check_lang, format_of, masked, options_of, redact_asked, show
from analyzer.cli.options import Debug, Explain, Format, Lang, Logs, Open, Output, Packs, Redact
from analyzer.errors import NothingToDiagnose

if TYPE_CHECKING:
    from analyzer.model import Report

Saved = Annotated[Path, typer.Argument(help="A file that --format json wrote.", metavar="DIAGNOSIS.json")]


def report(
    saved: Saved,
    format: Format = None,
    output: Output = None,
    lang: Lang = "en",
    rules: Packs = None,
    explain: Explain = False,
    redact: Redact = "secrets",
    open_: Open = False,
    debug: Debug = False,
) -> None:
    """Render a saved diagnosis (JSON) again."""
    check_lang(lang)
    asked = redact_asked(redact, False)
    form = format_of(format, output, open_)
    told = _in_language(_load(saved), lang, rules)
    show(masked(told, asked), form, output, lang=lang, explain=explain, open_=open_)


def bundle(
    job: Annotated[str, typer.Argument(help="A saved diagnosis (JSON), or a job's id with --logs.", metavar="JOB")],
    logs: Logs = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The packet.")] = Path("packet.zip"),
    lang: Lang = "en",
    rules: Packs = None,
    redact: Redact = "strict",
    debug: Debug = False,
) -> None:
    """Pack a diagnosis for support: report, evidence, timeline and versions in one zip, secrets and names masked."""
    check_lang(lang)
    asked = redact_asked(redact, False)
    from analyzer.report.bundle import packet

    told = _diagnosed(job, logs, lang, rules) if logs else _in_language(_load(Path(job)), lang, rules)
    write_file(packet(masked(told, asked), lang, asked), output)
    typer.echo(f"written: {output}; look into it before you send it", err=True)


def _diagnosed(job: str, logs: list[str], lang: str, rules: list[Path] | None) -> Report:
    from analyzer.pipeline import diagnose_paths
    from analyzer.rulebook.cache import load_rulebook

    made = diagnose_paths(logs, load_rulebook(rules or ()), options_of(job, None, lang, False))
    if not made.diagnoses:
        advice = f"jobs: {', '.join(made.jobs_found[:5]) or 'none'}"
        raise NothingToDiagnose(f"holds no job {job!r}", where=", ".join(logs[:3]), advice=advice)
    return made


def _load(saved: Path) -> Report:
    from analyzer.report.json_report import load_report

    try:
        data = saved.read_bytes()
    except OSError as error:
        advice = "name a file that `diagnose … --format json` wrote"
        raise NothingToDiagnose(f"cannot be read ({error.strerror})", where=str(saved), advice=advice) from error
    return load_report(data, str(saved))


def _in_language(saved: Report, lang: str, rules: list[Path] | None) -> Report:
    """The report told in a language; the rulebook is loaded only where it was told in another."""
    from msgspec.structs import replace

    from analyzer.judge.retell import language_of, retold

    if all(language_of(diagnosis) == lang for diagnosis in saved.diagnoses):
        return saved
    from analyzer.rulebook.cache import load_rulebook

    rulebook = load_rulebook(rules or ())
    return replace(saved, diagnoses=[retold(diagnosis, lang, rulebook) for diagnosis in saved.diagnoses])
