"""The program `diagnose`: its commands, and the one rule by which a first word that is no command is a job id."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from analyzer import __version__
from analyzer.cli import facts, jobs, mcp, reports, rules, scan, watch
from analyzer.cli.boundary import heed_signals, run


class JobIdFirst(TyperGroup):
    """A group of commands whose first word may also be a job id, which then means the command `job`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts `job` before anything that is neither a command nor an option of the group itself."""
        own = {option for parameter in self.params for option in parameter.opts}
        own |= set(self.get_help_option_names(ctx))
        if args and args[0] not in self.commands and args[0] not in own:
            args = ["job", *(args[1:] if args[0] == "--" else args)]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Shows both ways to call it."""
        formatter.write_usage(ctx.command_path, "JOB_ID --logs PATH [OPTIONS]")
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"diagnose {__version__}")
        raise typer.Exit


_ENVIRONMENT = (
    "Live logs are read with application default credentials. DIAGNOSE_LOGGING_ENDPOINT (host:port, gRPC) and"
    " DIAGNOSE_API_ENDPOINT (base address) name other places of the services; on this machine they are spoken to in"
    " plain text and without credentials."
)

app = typer.Typer(
    cls=JobIdFirst,
    name="diagnose",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
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


app.command("job", help="Diagnose one job, or every job of the input.", epilog=_ENVIRONMENT)(jobs.job)
app.command(
    "watch", help="Follow a live job: tell what happens, diagnose it as soon as it ends.", epilog=_ENVIRONMENT
)(watch.watch)
app.command("scan", help="Diagnose every job of many exports: tables, a page a failed job, an index.")(scan.scan)
app.command("merge", help="Join scans that were made with --shard.")(scan.merge)
app.command("note", help="Remember how a job's failure was solved.")(scan.note)
app.command("report", help="Render a saved diagnosis (JSON) again.")(reports.report)
app.command("bundle", help="Pack a diagnosis for support: report, evidence, timeline, versions; names masked.")(
    reports.bundle
)
app.command(
    "exit-code", help="Explain an exit code or signal.", context_settings={"ignore_unknown_options": True}
)(facts.exit_code)  # so that -9 is a code and no option
app.command("memory", help="What a machine type leaves for training, and which types hold a peak.")(facts.memory)
app.command("mcp", help="Serve the tools for assistants (Model Context Protocol); needs the extra [mcp].")(mcp.mcp)
app.add_typer(rules.app, name="rules", help="The rulebook: list, show, check, start a rule, export.")


def main() -> int:
    """Runs the program; returns its exit status."""
    heed_signals()
    return run(app)
