"""The program `diagnose`: its commands, and the one rule by which a first word that is no command is a job id.

A start imports the one command that it was called for.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command

from analyzer import __version__
from analyzer.cli.boundary import heed_signals, run
from analyzer.cli.plain import PlainCommand, PlainWords

_PLAIN: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False}
_ENVIRONMENT = (
    "Live logs are read with application default credentials. DIAGNOSE_LOGGING_ENDPOINT (host:port, gRPC) and"
    " DIAGNOSE_API_ENDPOINT (base address) name other places of the services; on this machine they are spoken to in"
    " plain text and without credentials."
)


class Command(NamedTuple):
    """A command's help, and the function or group of commands that does it, as `module:name`."""

    help: str
    place: str
    epilog: str | None = None
    settings: Mapping[str, Any] = {}


COMMANDS: Mapping[str, Command] = {
    "job": Command("Diagnose one job, or every job of the input.", "jobs:job", _ENVIRONMENT),
    "watch": Command(
        "Follow a live job: tell what happens, diagnose it as soon as it ends.", "watch:watch", _ENVIRONMENT
    ),
    "scan": Command("Diagnose every job of many exports: tables, a page a failed job, an index.", "scan:scan"),
    "merge": Command("Join scans that were made with --shard.", "scan:merge"),
    "note": Command("Remember how a job's failure was solved.", "scan:note"),
    "report": Command("Render a saved diagnosis (JSON) again.", "reports:report"),
    "bundle": Command(
        "Pack a diagnosis for support: report, evidence, timeline, versions; names masked.", "reports:bundle"
    ),
    "exit-code": Command(
        "Explain an exit code or signal.", "facts:exit_code", settings={"ignore_unknown_options": True}
    ),  # so that -9 is a code and no option
    "memory": Command("What a machine type leaves for training, and which types hold a peak.", "facts:memory"),
    "mcp": Command("Serve the tools for assistants (Model Context Protocol); needs the extra [mcp].", "mcp:mcp"),
    "rules": Command("The rulebook: list, show, check, start a rule, export.", "rules:app"),
}


def command_of(name: str) -> Any:
    """A command, or a group of commands, ready to be called; imports it."""
    command = COMMANDS[name]
    module, _, attribute = command.place.partition(":")
    found = getattr(import_module(f"analyzer.cli.{module}"), attribute)
    if isinstance(found, typer.Typer):
        return get_command(found)
    single = typer.Typer(**_PLAIN, add_completion=False)
    settings = {"help_option_names": ["-h", "--help"], **command.settings}
    single.command(name, cls=PlainCommand, help=command.help, epilog=command.epilog, context_settings=settings)(found)
    return get_command(single)


class JobIdFirst(PlainWords, TyperGroup):
    """A group of commands whose first word may also be a job id, which then means the command `job`."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands, in the order in which help shows them."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name; None where there is none."""
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.commands[cmd_name] = command_of(cmd_name)
        return self.commands.get(cmd_name)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts `job` before anything that is neither a command nor an option of the group itself."""
        own = {option for parameter in self.params for option in parameter.opts}
        own |= set(self.get_help_option_names(ctx))
        if args and args[0] not in COMMANDS and args[0] not in own:
            args = ["job", *(args[1:] if args[0] == "--" else args)]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Shows both ways to call it."""
        formatter.write_usage(ctx.command_path, "JOB_ID --logs PATH [OPTIONS]")
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...")

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Lists the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.help) for name, command in COMMANDS.items()])


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"diagnose {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=JobIdFirst,
    name="diagnose",
    no_args_is_help=True,
    **_PLAIN,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Says why an ML training job failed, proves it with the line that matters, and rebuilds its"
        " restart timeline.\n\n"
        "  diagnose JOB_ID --logs export.json     one job out of a Cloud Logging export\n\n"
        "  diagnose --logs exports/               every job found there\n\n"
        "  diagnose JOB_ID --project PROJECT_ID   one job out of its live log\n\n"
        "  kubectl logs POD | diagnose --logs -   any log, from standard input\n\n"
        "A job that is called like a command: diagnose job NAME …"
    ),
)


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options of the program as a whole."""


def main() -> int:
    """Runs the program; returns its exit status."""
    gc.set_threshold(100_000)  # values of a diagnosis live to its end and form no cycles: looking for some is in vain
    heed_signals()
    try:
        return run(app)
    finally:
        gc.freeze()  # nothing is left to be found, so that Python's last look at all values before it ends is in vain
