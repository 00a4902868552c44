"""`diagnose rules`: the rulebook, for readers and authors of rules."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from analyzer.cli.boundary import write_output
from analyzer.cli.options import Debug, Logs, Packs
from analyzer.errors import UsageError

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)

@app.command("list", help="All rules, and how many there are by role and category.")
def list_rules(
    rules: Packs = None,
    role: Annotated[str | None, typer.Option("--role", help="Only rules of this role.")] = None,
    debug: Debug = False,
) -> None:
    """List all rules."""
    from analyzer.rulebook.cache import load_rulebook

    rulebook = load_rulebook(rules or ())
    shown = [rule for rule in rulebook.rules if role is None or rule.role == role]
    lines = [f"{rule.id:52} {rule.role.value:9} {rule.cause or '':40} {rule.title.en}" for rule in shown]
    roles = Counter(rule.role.value for rule in shown)
    categories = Counter(rule.category for rule in shown if rule.role == "root" and rule.category)
    lines += ["", f"{len(shown)} rules, rulebook {rulebook.version}"]
    lines.append("by role: " + ", ".join(f"{name} {count}" for name, count in sorted(roles.items())))
    lines.append("roots by category: " + ", ".join(f"{name} {count}" for name, count in sorted(categories.items())))
    write_output("\n".join(lines), None)


@app.command("show", help="One rule's file, with its examples.")
def show(
    rule_id: Annotated[str, typer.Argument(metavar="RULE")],
    rules: Packs = None,
    debug: Debug = False,
) -> None:
    """Show one rule."""
    from analyzer.resources import data_folder
    from analyzer.rulebook.load import rule_files

    for folder in reversed([data_folder("rules"), *(rules or ())]):
        for path in rule_files(folder):
            if ".".join(path.relative_to(folder).with_suffix("").parts) == rule_id:
                write_output(f"# {path}\n{path.read_text(encoding='utf-8')}", None)
                return
    raise UsageError(f"there is no rule {rule_id!r}", advice="see `diagnose rules list`")


@app.command("check", help="Check rule files: schema, form, own examples; with --cross also against each other.")
def check(
    paths: Annotated[list[Path] | None, typer.Argument(help="Files or folders; left out, the bundled rules.")] = None,
    cross: Annotated[bool, typer.Option("--cross", help="Also show which rules match other rules' examples.")] = False,
    debug: Debug = False,
) -> None:
    """Check rule files."""
    from analyzer.resources import data_folder
    from analyzer.rulebook.check import check as check_paths
    from analyzer.rulebook.check import present

    wanted = paths or [data_folder("rules")]
    for path in wanted:
        if not path.exists():
            raise UsageError("does not exist", where=str(path), advice="name a rule file or a folder of rules")
    result = check_paths(wanted, cross=cross)
    write_output(present(result), None)
    if result.errors:
        raise typer.Exit(1)


@app.command("new", help="Start a new rule: writes a file to fill in.")
def new(
    rule_id: Annotated[str, typer.Argument(help="Its id, e.g. out_of_memory.gpu.my_library.", metavar="RULE")],
    folder: Annotated[Path, typer.Option("--rules", help="The folder of your rules.")] = Path("rules"),
    job: Annotated[
        str | None, typer.Option("--from", help="A job of --logs: the rule is to know its most telling line.")
    ] = None,
    logs: Logs = None,
    debug: Debug = False,
) -> None:
    """Start a new rule."""
    from analyzer.rulebook.skeleton import write_skeleton

    if (job is None) != (not logs):
        raise UsageError("--from and --logs go together", advice="write --from JOB_ID --logs export.json")
    line = _telling_line(job, logs or []) if job is not None else None
    typer.echo(f"written: {write_skeleton(rule_id, folder, line)}")


def _telling_line(job: str, logs: list[str]) -> str:
    """The first line of a job's proof, with secrets masked: a rule's example is made to be shared."""
    from analyzer.api import diagnose

    root = diagnose(logs, job).root_cause
    if root is None or not root.evidence:
        raise UsageError(f"job {job!r} shows no line that would tell a failure", advice="start the rule without --from")
    return next(line for line in root.evidence[0].text.splitlines() if line.strip())


@app.command("export", help="Regular expressions of the rulebook, one a line, for `rg --no-unicode -f`.")
def export(rules: Packs = None, debug: Debug = False) -> None:
    """Print all regular expressions."""
    from analyzer.rulebook.cache import load_rulebook
    from analyzer.rulebook.export import line_expressions

    write_output("\n".join(line_expressions(load_rulebook(rules or ()).rules)), None)


@app.command("schema", help="The JSON Schema of a rule file, for editors.")
def schema(debug: Debug = False) -> None:
    """Print the JSON Schema of a rule file."""
    from analyzer.rulebook.schema import json_schema

    sys.stdout.write(json_schema())
