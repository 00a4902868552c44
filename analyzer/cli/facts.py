"""`diagnose exit-code` and `diagnose memory`: what is known without any log."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from analyzer.cli.boundary import write_output
from analyzer.cli.jobs import check_lang
from analyzer.cli.options import LANG, OUTPUT, option, take
from analyzer.errors import UsageError

_FORMAT = option("--format", "-f", default="text", help="text or json.")


def declare_exit_code(parser: ArgumentParser) -> None:
    """The words of `diagnose exit-code`."""
    help = "An exit code (137, -9, 50001) or a signal (SIGKILL)."
    take(parser, option("code", metavar="CODE", help=help))
    take(parser, option("--machine-type", help="The machine it ran on, for memory figures."))
    help = "vertex, ai_platform, gke, batch or slurm: what it does about the code."
    take(parser, option("--platform", default="", help=help), _FORMAT, OUTPUT, LANG)


def exit_code(
    *, code: str, machine_type: str | None, platform: str, format: str, output: Path | None, lang: str
) -> None:
    """Explain an exit code or signal."""
    _check(format, lang)
    from analyzer.facts.present import exit_text, exit_view

    view = exit_view(code, machine_type, platform, lang)
    write_output(_json(view) if format == "json" else exit_text(view, lang), output)


def declare_memory(parser: ArgumentParser) -> None:
    """The words of `diagnose memory`."""
    take(parser, option("machine_type", metavar="MACHINE_TYPE", help="A machine type or a legacy scale tier."))
    help = "A peak to hold, e.g. 13GiB: shows the smallest types that do."
    take(parser, option("--peak", help=help), _FORMAT, OUTPUT, LANG)


def memory(*, machine_type: str, peak: str | None, format: str, output: Path | None, lang: str) -> None:
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
