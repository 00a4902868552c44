"""The program `diagnose`: its commands, and the one rule by which a first word that is no command is a job id.

A start imports the one command that it was called for.
"""

from __future__ import annotations

import gc
import os
import sys
from argparse import ArgumentParser, HelpFormatter, RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from analyzer import __version__
from analyzer.cli.boundary import run
from analyzer.errors import UsageError

_ENVIRONMENT = (
    "Live logs are read with application default credentials. DIAGNOSE_LOGGING_ENDPOINT (host:port, gRPC) and"
    " DIAGNOSE_API_ENDPOINT (base address) name other places of the services; on this machine they are spoken to in"
    " plain text and without credentials."
)
_DESCRIPTION = """\
Says why an ML training job failed, proves it with the line that matters, and
rebuilds its restart timeline.

  diagnose JOB_ID --logs export.json     one job out of a Cloud Logging export
  diagnose --logs exports/               every job found there
  diagnose JOB_ID --project PROJECT_ID   one job out of its live log
  kubectl logs POD | diagnose --logs -   any log, from standard input

A job that is called like a command: diagnose job NAME …"""


class Command(NamedTuple):
    """A command: its help, and the function that does it as `module:name`, whose arguments `declare_NAME` declares."""

    help: str
    place: str
    epilog: str = ""


class Group(NamedTuple):
    """Commands below a word."""

    help: str
    commands: Mapping[str, Command]


COMMANDS: Mapping[str, Command | Group] = {
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
    "exit-code": Command("Explain an exit code or signal.", "facts:exit_code"),
    "memory": Command("What a machine type leaves for training, and which types hold a peak.", "facts:memory"),
    "mcp": Command("Serve the tools for assistants (Model Context Protocol); needs the extra [mcp].", "mcp:mcp"),
    "rules": Group("The rulebook: list, show, check, start a rule, export.", {
        "list": Command("All rules, and how many there are by role and category.", "rules:list_rules"),
        "show": Command("One rule's file, with its examples.", "rules:show"),
        "check": Command("Check rule files: schema, form, own examples; --cross: against each other.", "rules:check"),
        "new": Command("Start a new rule: writes a file to fill in.", "rules:new"),
        "export": Command("Regular expressions of the rulebook, one a line, for `rg --no-unicode -f`.", "rules:export"),
        "schema": Command("The JSON Schema of a rule file, for editors.", "rules:schema"),
    }),
}  # fmt: skip


class _Parser(ArgumentParser):
    """A parser whose complaints are errors of the program."""

    def error(self, message: str) -> NoReturn:
        """Refuses a call's words."""
        raise UsageError(message, advice=f"see `{self.prog} --help`")


def command_parser(name: str, command: Command) -> ArgumentParser:
    """The parser of a command's own words; imports the command."""
    parser = _Parser(
        f"diagnose {name}", description=command.help, epilog=command.epilog, formatter_class=_layout, allow_abbrev=False
    )
    _declare(parser, command)
    return parser


def _declare(parser: ArgumentParser, command: Command) -> None:
    from analyzer.cli.options import DEBUG, take

    module, _, function = command.place.partition(":")
    getattr(import_module(f"analyzer.cli.{module}"), f"declare_{function}")(parser)
    take(parser, DEBUG)


def _layout(prog: str) -> HelpFormatter:
    return HelpFormatter(prog, width=_columns())


def _group_layout(prog: str) -> HelpFormatter:
    return RawDescriptionHelpFormatter(prog, max_help_position=16, width=_columns())


def _columns() -> int:
    """The terminal's width less a margin. The formatter's own way to it imports three compressors."""
    try:
        return int(os.environ.get("COLUMNS") or os.get_terminal_size().columns) - 2
    except (OSError, ValueError):
        return 78


def _group_parser(name: str, text: str, commands: Mapping[str, Command | Group]) -> tuple[ArgumentParser, Any]:
    """The parser of the words before a command's own, which shows what commands there are."""
    usage = None if " " in name else "diagnose JOB_ID --logs PATH [OPTIONS]\n       diagnose COMMAND [ARGS]..."
    parser = _Parser(name, usage=usage, description=text, formatter_class=_group_layout, allow_abbrev=False)
    below = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for word, command in commands.items():
        below.add_parser(word, help=command.help)
    return parser, below


def call(words: Sequence[str]) -> int:
    """Does what the words of a call ask for; the exit status.

    Raises:
        DiagnoseError: if it cannot be done.
        SystemExit: after help or the version was printed.
    """
    first, rest = (words[0], words[1:]) if words else ("", ())
    if first in ("-h", "--help", "--version", ""):
        return _about(first)
    if first not in COMMANDS:
        first, rest = "job", rest if first == "--" else words
    command = COMMANDS[first]
    if isinstance(command, Group):
        below = command.commands
        if not rest or rest[0] not in below:
            parser, _ = _group_parser(f"diagnose {first}", command.help, below)
            if not rest:
                parser.print_help()
                return UsageError.exit_status
            parser.parse_args(rest[:1])  # which shows its help or refuses the word
        first, command, rest = f"{first} {rest[0]}", below[rest[0]], rest[1:]
    return _do(first, command, rest)


def _do(name: str, command: Command, words: Sequence[str]) -> int:
    given = vars(command_parser(name, command).parse_intermixed_args(words))
    del given["debug"]  # the process's border looks at it
    module, _, function = command.place.partition(":")
    does: Callable[..., int | None] = getattr(import_module(f"analyzer.cli.{module}"), function)
    return does(**given) or 0


def _about(word: str) -> int:
    if word == "--version":
        print(f"diagnose {__version__}")
        return 0
    parser, _ = _group_parser("diagnose", _DESCRIPTION, COMMANDS)
    parser.add_argument("--version", action="store_true", help="Print the version.")
    parser.print_help()
    return 0 if word else UsageError.exit_status


def _complete() -> None:
    """Answers a shell that asks how a call may go on (extra `completion`)."""
    try:
        from argcomplete import autocomplete
    except ImportError:
        return
    words = os.environ.get("COMP_LINE", "").split()[1:]
    if words and words[0].startswith("-"):  # only the command `job` may begin with an option
        autocomplete(command_parser("job", COMMANDS["job"]))  # type: ignore[arg-type]
    parser, below = _group_parser("diagnose", _DESCRIPTION, COMMANDS)
    for name, command in COMMANDS.items():
        if isinstance(command, Command):
            _declare(below.choices[name], command)
            continue
        deeper = below.choices[name].add_subparsers()
        for word, inner in command.commands.items():
            _declare(deeper.add_parser(word), inner)
    autocomplete(parser)


def main() -> int:
    """Runs the program; returns its exit status."""
    gc.set_threshold(100_000)  # values of a diagnosis live to its end and form no cycles: looking for some is in vain
    if "_ARGCOMPLETE" in os.environ:
        _complete()
    return run(lambda: call(sys.argv[1:]))
