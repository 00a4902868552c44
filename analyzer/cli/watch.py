"""`diagnose watch JOB_ID`: follows a live job, tells what happens, and diagnoses it when it ends."""

from __future__ import annotations

from typing import Annotated

import typer

from analyzer.cli.jobs import answer_asked, options_of, redact_asked
from analyzer.cli.options import (
    Baseline,
    Debug,
    ExitCode,
    Explain,
    FailOn,
    Format,
    Lang,
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


def watch(
    job_id: Annotated[str, typer.Argument(help="The job's id, or its full resource name.", show_default=False)],
    project: Project = None,
    region: Region = None,
    save: Save = None,
    grace: Annotated[
        float, typer.Option("--grace", help="Seconds that late entries have to arrive after the job's end.", min=0)
    ] = 15.0,
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
    """Follow a live job: tell what happens (on standard error), diagnose it as soon as it ends."""
    answer = answer_asked(format, output, lang, explain, open_, quiet, fail_on, redact_asked(redact, no_redact))
    options = options_of(job_id, exit_code, lang, no_redact, baseline)

    from analyzer.live.progress import progress_for
    from analyzer.live.run import source_name
    from analyzer.live.target import target_of
    from analyzer.live.watch import Rhythm
    from analyzer.live.watch import watch as follow
    from analyzer.rulebook.cache import load_rulebook

    target = target_of(job_id, project, region)
    progress = progress_for(quiet, f"reading the log of {target.id}")
    report = follow(
        target, load_rulebook(rules or ()), options, progress, lambda line: typer.echo(line, err=True),
        save=save, rhythm=Rhythm(grace=grace),
    )  # fmt: skip
    answer.give(report, [source_name(target)], None)
