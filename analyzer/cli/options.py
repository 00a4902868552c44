"""The options that commands share, each with its help, and how a command names those that it takes."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from analyzer.report import ALL_FORMATS


class Option(NamedTuple):
    """An option or a positional word, as `ArgumentParser.add_argument` takes it."""

    names: tuple[str, ...]
    settings: dict[str, Any]


def option(*names: str, **settings: Any) -> Option:
    """An option with its names and the settings of `add_argument`."""
    return Option(names, settings)


def take(parser: ArgumentParser, *options: Option) -> None:
    """Adds options to a command's parser."""
    for names, settings in options:
        parser.add_argument(*names, **settings)


def at_least(least: int, kind: type[int] | type[float] = int) -> Callable[[str], float]:
    """A type of option: numbers from `least` on."""

    def number(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            raise ArgumentTypeError(f"{text!r} is no number") from None
        if value < least:
            raise ArgumentTypeError(f"{text} is less than {least}")
        return value

    return number


JOB_ID = option("job_id", metavar="JOB_ID", nargs="?", help="The job's id; left out, every job of the input.")
LOGS = option(
    "--logs", "-l", action="append", metavar="PATH",
    help="A file, folder, glob, gs:// address, or - for standard input; repeatable.",
)  # fmt: skip
JOB_FILE = option("--job-file", action="append", metavar="FILE", help="A job or pod description (JSON or YAML).")
PROJECT = option(
    "--project", "-p", metavar="PROJECT_ID", help="Read the job's live log in this Google Cloud project."
)
REGION = option("--region", help="Where the live job runs; found out where it is left out.")
SAVE = option(
    "--save", type=Path, metavar="FILE", help="Keep what was fetched in a file, to read it again with --logs."
)
FORMAT = option(
    "--format", "-f", help=f"One of {', '.join(ALL_FORMATS)}."
)
OUTPUT = option(
    "--output", "-o", type=Path, metavar="FILE", help="Write to a file; its ending may choose the format."
)
LANG = option("--lang", default="en", help="Language of the texts: en or de.")
PACKS = option(
    "--rules", action="append", type=Path, metavar="FOLDER", help="A folder of further rules; repeatable."
)
EXIT_CODE = option(
    "--exit-code", action="append", metavar="[REPLICA=]CODE", help="An exit code that you know: [REPLICA=]CODE."
)
FAIL_ON = option(
    "--fail-on", metavar="CATEGORY,…", help="Exit with 1 if a job ended in one of these categories."
)
BASELINE = option(
    "--baseline", metavar="JOB_OR_PATH", help="A good run to compare with: a job of the input, or a path."
)
EXPLAIN = option("--explain", action="store_true", help="Show how the verdict was reached.")
NO_REDACT = option("--no-redact", action="store_true", help="Leave secrets in the quoted lines.")
REDACT = option(
    "--redact", default="secrets",
    help="secrets, or strict: also e-mail and IP addresses, project and bucket names.",
)  # fmt: skip
OPEN = option("--open", dest="open_", action="store_true", help="Open the HTML report in the browser.")
QUIET = option("--quiet", "-q", action="store_true", help="Print no notes on the input and no progress.")
DEBUG = option("--debug", action="store_true", help="Show a traceback on an internal error.")
