"""`diagnose mcp`: the tools for assistants, over standard input and output."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from analyzer.cli.jobs import redact_asked
from analyzer.cli.options import Debug, Redact
from analyzer.errors import UsageError


def mcp(
    root: Annotated[
        list[Path] | None,
        typer.Option("--root", help="A folder below which files may be read; repeatable. Left out, this folder."),
    ] = None,
    redact: Redact = "secrets",
    debug: Debug = False,
) -> None:
    """Serve the tools for assistants (Model Context Protocol) on standard input and output."""
    asked = redact_asked(redact, False)
    for folder in root or ():
        if not folder.is_dir():
            raise UsageError("is no folder", where=str(folder), advice="name a folder with --root")
    try:
        from analyzer.assistant import Tools, server_of
    except ModuleNotFoundError as error:
        if (error.name or "").split(".", 1)[0] != "mcp":
            raise
        advice = "pip install 'training-job-analyzer[mcp]'"
        raise UsageError("the package for assistants is not installed", advice=advice) from error
    from analyzer.pseudonyms import KEY_VARIABLE

    key = os.environ.get(KEY_VARIABLE, "").encode()
    server_of(Tools(root or [Path.cwd()], strict=asked == "strict", key=key)).run("stdio")
