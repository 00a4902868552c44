"""`diagnose exit-code` and `diagnose memory`: what is known without any log."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from analyzer.cli.boundary import write_output
from analyzer.cli.jobs import check_lang
from analyzer.cli.options import Debug, Lang, Output
from analyzer.errors import UsageError

FactFormat = Annotated[str, typer.Option("--format", "-f", help="text or json.")]


def exit_code(
    code: Annotated[str, typer.Argument(help="An exit code (137, -9, 50001) or a signal (SIGKILL).", metavar="CODE")],
    machine_type: Annotated[
        str | None, typer.Option("--machine-type", help="The machine it ran on, for memory figures.")
    ] = None,
    platform: Annotated[
        str, typer.Option("--platform", help="vertex, ai_platform, gke, batch or slurm: what it does about the code.")
    ] = "",
    format: FactFormat = "text",
    output: Output = None,
    lang: Lang = "en",
    debug: Debug = False,
) -> None:
    """Explain an exit code or signal."""
    _check(format, lang)
    from analyzer.facts.present import exit_text, exit_view

    view = exit_view(code, machine_type, platform, lang)
    write_output(_json(view) if format == "json" else exit_text(view, lang), output)


def memory(
    machine_type: Annotated[str, typer.Argument(help="A machine type or a legacy scale tier.", metavar="MACHINE_TYPE")],
    peak: Annotated[
        str | None, typer.Option("--peak", help="A peak to hold, e.g. 13GiB: shows the smallest types that do.")
    ] = None,
    format: FactFormat = "text",
    output: Output = None,
    lang: Lang = "en",
    debug: Debug = False,
) -> None:
    """Show what a machine type leaves for training, and which types hold a peak."""
    _check(format, lang)
    from analyzer.facts.present import memory_text, memory_view

    view = memory_view(machine_type, peak=peak, lang=lang)
    write_output(_json(view) if format == "json" else memory_text(view, lang), output)


def _json(view: dict[str, Any]) -> str:
    import json

    return json.dumps(view, indent=1, ensure_ascii=False)


def _check(format: str, lang: str) -> None:
    check_lang(lang)
    if format not in ("text", "json"):
        raise UsageError(f"--format {format!r} is not known", advice="use text or json")
