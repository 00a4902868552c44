"""`diagnose watch JOB_ID`: follows a live job, tells what happens, and diagnoses it when it ends."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path

from analyzer.cli.jobs import answer_asked, options_of, redact_asked
from analyzer.cli.options import (
    BASELINE,
    EXIT_CODE,
    EXPLAIN,
    FAIL_ON,
    FORMAT,
    LANG,
    NO_REDACT,
    OPEN,
    OUTPUT,
    PACKS,
    PROJECT,
    QUIET,
    REDACT,
    REGION,
    SAVE,
    at_least,
    option,
    take,
)


def declare_watch(parser: ArgumentParser) -> None:
    """The words of `diagnose watch`."""
    help = "Seconds that late entries have to arrive after the job's end."
    grace = option("--grace", type=at_least(0, float), default=15.0, metavar="SECONDS", help=help)
    take(parser, option("job_id", metavar="JOB_ID", help="The job's id, or its full resource name."))
    take(parser, PROJECT, REGION, SAVE, grace, FORMAT, OUTPUT, LANG, PACKS, EXIT_CODE, FAIL_ON, BASELINE, EXPLAIN)
    take(parser, REDACT, NO_REDACT, OPEN, QUIET)


def watch(
    *, job_id: str, project: str | None, region: str | None, save: Path | None, grace: float, format: str | None,
    output: Path | None, lang: str, rules: list[Path] | None, exit_code: list[str] | None, fail_on: str | None,
    baseline: str | None, explain: bool, redact: str, no_redact: bool, open_: bool, quiet: bool,
) -> int:  # fmt: skip
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
        target, load_rulebook(rules or ()), options, progress, lambda line: print(line, file=sys.stderr),
        save=save, rhythm=Rhythm(grace=grace),
    )  # fmt: skip
    return answer.give(report, [source_name(target)], None)
