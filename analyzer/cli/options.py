"""The options that commands share, each with its help; a command's signature names them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analyzer.report import ALL_FORMATS

JobId = Annotated[
    str | None, typer.Argument(help="The job's id; left out, every job of the input.", show_default=False)
]
Logs = Annotated[
    list[str] | None,
    typer.Option("--logs", "-l", help="A file, folder, glob, gs:// address, or - for standard input; repeatable."),
]
JobFile = Annotated[list[str] | None, typer.Option("--job-file", help="A job or pod description (JSON or YAML).")]
Project = Annotated[
    str | None,
    typer.Option("--project", "-p", help="Read the job's live log in this Google Cloud project.", metavar="PROJECT_ID"),
]
Region = Annotated[
    str | None, typer.Option("--region", help="Where the live job runs; found out where it is left out.")
]
Save = Annotated[
    Path | None, typer.Option("--save", help="Keep what was fetched in a file, to read it again with --logs.")
]
Format = Annotated[
    str | None, typer.Option("--format", "-f", help=f"One of {', '.join(ALL_FORMATS)}.", show_default=False)
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to a file; its ending may choose the format.")
]
Lang = Annotated[str, typer.Option("--lang", help="Language of the texts: en or de.")]
Packs = Annotated[list[Path] | None, typer.Option("--rules", help="A folder of further rules; repeatable.")]
ExitCode = Annotated[
    list[str] | None,
    typer.Option("--exit-code", help="An exit code that you know: [REPLICA=]CODE.", metavar="[REPLICA=]CODE"),
]
FailOn = Annotated[
    str | None, typer.Option("--fail-on", help="Exit with 1 if a job ended in one of these categories.")
]
Baseline = Annotated[
    str | None, typer.Option("--baseline", help="A good run to compare with: a job of the input, or a path.")
]
Explain = Annotated[bool, typer.Option("--explain", help="Show how the verdict was reached.")]
NoRedact = Annotated[bool, typer.Option("--no-redact", help="Leave secrets in the quoted lines.")]
Redact = Annotated[
    str,
    typer.Option("--redact", help="secrets, or strict: also e-mail and IP addresses, project and bucket names."),
]
Open = Annotated[bool, typer.Option("--open", help="Open the HTML report in the browser.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes on the input and no progress.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show a traceback on an internal error.")]
