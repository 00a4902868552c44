"""`diagnose rules`: the rulebook, for readers and authors of rules."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path

from analyzer.cli.boundary import write_output
from analyzer.cli.options import PACKS, option, take
from analyzer.errors import UsageError


def declare_list_rules(parser: ArgumentParser) -> None:
    """The words of `diagnose rules list`."""
    take(parser, PACKS, option("--role", help="Only rules of this role."))


def list_rules(*, rules: list[Path] | None, role: str | None) -> None:
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


def declare_show(parser: ArgumentParser) -> None:
    """The words of `diagnose rules show`."""
    take(parser, option("rule_id", metavar="RULE", help="A rule's id."), PACKS)


def show(*, rule_id: str, rules: list[Path] | None) -> None:
    """Show one rule."""
    from analyzer.resources import data_folder
    from analyzer.rulebook.load import rule_files

    for folder in reversed([data_folder("rules"), *(rules or ())]):
        for path in rule_files(folder):
            if ".".join(path.relative_to(folder).with_suffix("").parts) == rule_id:
                write_output(f"# {path}\n{path.read_text(encoding='utf-8')}", None)
                return
    raise UsageError(f"there is no rule {rule_id!r}", advice="see `diagnose rules list`")


def declare_check(parser: ArgumentParser) -> None:
    """The words of `diagnose rules check`."""
    help = "Files or folders; left out, the bundled rules."
    take(parser, option("paths", metavar="PATH", nargs="*", type=Path, help=help))
    take(parser, option("--cross", action="store_true", help="Also show which rules match other rules' examples."))


def check(*, paths: list[Path], cross: bool) -> int:
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
    return 1 if result.errors else 0


def declare_new(parser: ArgumentParser) -> None:
    """The words of `diagnose rules new`."""
    take(parser, option("rule_id", metavar="RULE", help="Its id, e.g. out_of_memory.gpu.my_library."))
    help = "The folder of your rules; else rules."
    take(parser, option("--rules", dest="folder", type=Path, default=Path("rules"), metavar="FOLDER", help=help))


def new(*, rule_id: str, folder: Path) -> None:
    """Start a new rule."""
    from analyzer.rulebook.skeleton import write_skeleton

    print(f"written: {write_skeleton(rule_id, folder)}")


def declare_export(parser: ArgumentParser) -> None:
    """The words of `diagnose rules export`."""
    take(parser, PACKS)


def export(*, rules: list[Path] | None) -> None:
    """Print all regular expressions."""
    from analyzer.rulebook.cache import load_rulebook
    from analyzer.rulebook.export import line_expressions

    write_output("\n".join(line_expressions(load_rulebook(rules or ()).rules)), None)


def declare_schema(parser: ArgumentParser) -> None:
    """`diagnose rules schema` takes no words."""


def schema() -> None:
    """Print the JSON Schema of a rule file."""
    from analyzer.rulebook.schema import json_schema

    sys.stdout.write(json_schema())
