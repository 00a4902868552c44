"""Checks rule files as `diagnose rules check` does: schema, form, own examples, and what they match of the others'.

Usage: python -m analyzer.rulebook.check [--cross] [FILE_OR_FOLDER …]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from analyzer.errors import RuleError
from analyzer.resources import data_folder
from analyzer.rulebook.examples import CrossMatch, Problem, cross_matches, run_examples
from analyzer.rulebook.lint import lint
from analyzer.rulebook.load import load_file, rule_files
from analyzer.rulebook.match import Matcher
from analyzer.rulebook.schema import Rule


class CheckResult(msgspec.Struct, frozen=True):
    """What a check found. `broken` are files that could not be read as rules, each with its located error."""

    rules: list[Rule]
    problems: list[Problem]
    broken: list[str]
    crosses: list[CrossMatch]

    @property
    def errors(self) -> int:
        """How many mistakes there are."""
        return len(self.broken) + sum(problem.level == "error" for problem in self.problems)


def check(paths: Sequence[Path], *, cross: bool = False) -> CheckResult:
    """Checks the rules below some files and folders; the examples run beside all bundled rules only with `cross`."""
    rules, broken = _load(paths)
    matcher = Matcher(rules)
    problems = [p for rule in matcher.rules for p in (*lint(rule), *run_examples(rule, matcher))]
    problems += [Problem(rule_id, "error", "two files give this id") for rule_id in _doubled(rules)]
    crosses = cross_matches(matcher.rules, matcher) if cross else []
    return CheckResult(list(matcher.rules), sorted(problems), broken, crosses)


def _load(paths: Sequence[Path]) -> tuple[list[Rule], list[str]]:
    rules, broken = [], []
    for path in paths:
        files = rule_files(path) if path.is_dir() else [path]
        root = _pack_root(path)
        for file in (f.resolve() if root == data_folder("rules") else f for f in files):
            try:
                rules.append(load_file(file, root))
            except RuleError as error:
                broken.append(str(error))
    return rules, broken


def _pack_root(path: Path) -> Path | None:
    """The folder that ids are counted from: the bundled one for paths inside it, else the folder that was named."""
    bundled = data_folder("rules")
    resolved = path.resolve()
    if resolved == bundled or bundled in resolved.parents:
        return bundled
    return path if path.is_dir() else None


def _doubled(rules: Sequence[Rule]) -> list[str]:
    ids = [rule.id for rule in rules]
    return sorted({rule_id for rule_id in ids if ids.count(rule_id) > 1})


def present(result: CheckResult) -> str:
    """The result as text, one line a problem."""
    lines = [f"error  {text}" for text in result.broken]
    lines += [f"{p.level:6} {p.rule}: {p.text}" for p in result.problems]
    lines += [f"cross  {c.rule} matches the example of {c.other}: {c.text}" for c in result.crosses]
    advice = sum(problem.level == "advice" for problem in result.problems)
    lines.append(f"{len(result.rules)} rules, {result.errors} errors, {advice} pieces of advice")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """The command; exit status 1 if there are errors."""
    paths = [Path(argument) for argument in arguments if not argument.startswith("-")] or [data_folder("rules")]
    result = check(paths, cross="--cross" in arguments)
    print(present(result))
    return 1 if result.errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
