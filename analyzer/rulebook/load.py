"""Reads rule files into rules and says of every mistake where it is and how to mend it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

from analyzer.errors import RuleError
from analyzer.model import CATEGORIES, RETRY_ADVICE
from analyzer.resources import data_folder
from analyzer.rulebook.schema import EVENTS, Condition, Role, Rule

_KINDS = ("any", "all", "not_", "regex", "exception", "fields", "finding", "absent", "sequence")
_BESIDE = {"message": "exception", "within": "sequence"}


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


_UNREADABLE = (yaml.YAMLError, ValueError, AttributeError, KeyError, RecursionError)
"""What PyYAML raises: all but the first for values that their own tag or form does not fit (`!!bool x`, 2024-13-45)."""


def load_folder(folder: Path) -> list[Rule]:
    """All rules of a folder, ordered by id.

    Raises:
        RuleError: for the first file with a mistake, as file:line with advice.
    """
    return [load_file(path, folder) for path in rule_files(folder)]


def rule_files(folder: Path) -> list[Path]:
    """The rule files of a folder (`tables/` holds facts, not rules)."""
    found = (p for p in folder.rglob("*.yaml") if "tables" not in p.relative_to(folder).parts)
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def load_file(path: Path, folder: Path | None = None) -> Rule:
    """One rule. With a folder, the id must be the path below it."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RuleError(f"cannot be read ({error})", where=str(path), advice="rules are UTF-8 text files") from error
    rule = parse_rule(text, str(path))
    if folder is not None:
        expected = ".".join(path.relative_to(folder).with_suffix("").parts)
        if rule.id != expected:
            line = _line_of(text, ["id"])
            raise RuleError(f"id is {rule.id!r}", where=f"{path}:{line}", advice=f"it must be the path: {expected!r}")
    return rule


def parse_rule(text: str, where: str) -> Rule:
    """A rule out of YAML text; `where` names the file in errors."""
    try:
        _refuse_aliases(text, where)
        value = yaml.load(text, Loader=_LOADER)
    except _UNREADABLE as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or str(error)
        raise RuleError(
            f"is no valid YAML: {problem}", where=f"{where}:{line}", advice="check quotes and indents"
        ) from error
    try:
        rule = msgspec.convert(value, Rule)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        line = _line_of(text, _path(path.rstrip("`")))
        raise RuleError(message, where=f"{where}:{line}", advice="see `diagnose rules schema` for the keys") from error
    _check(rule, text, where)
    return _with_groups(rule, text, where)


def _with_groups(rule: Rule, text: str, where: str) -> Rule:
    """The rule with each `@name` among what it explains replaced by the list of that name (`tables/groups.yaml`)."""
    if not any(name.startswith("@") for name in rule.explains):
        return rule
    explained: list[str] = []
    for name in rule.explains:
        if name.startswith("@") and name[1:] not in _groups():
            advice = f"use one of {', '.join('@' + known for known in sorted(_groups()))}"
            place = f"{where}:{_line_of(text, ['explains'])}"
            raise RuleError(f"group {name!r} is not known", where=place, advice=advice)
        explained += _groups()[name[1:]] if name.startswith("@") else [name]
    return msgspec.structs.replace(rule, explains=explained)


@lru_cache(maxsize=1)
def _groups() -> dict[str, list[str]]:
    text = (data_folder("rules") / "tables" / "groups.yaml").read_text(encoding="utf-8")
    return msgspec.convert(yaml.load(text, Loader=_LOADER), dict[str, list[str]])


def _refuse_aliases(text: str, where: str) -> None:
    """A rule needs no aliases, and they are how a small file becomes a huge one."""
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise RuleError(
                f"uses an alias (*{event.anchor})", where=f"{where}:{line}", advice="aliases are refused: repeat it"
            )


def _check(rule: Rule, text: str, where: str) -> None:
    def refuse(path: list[str], what: str, advice: str) -> None:
        raise RuleError(what, where=f"{where}:{_line_of(text, path)}", advice=advice)

    if rule.cause is not None and rule.category not in CATEGORIES:
        refuse(["cause"], f"cause {rule.cause!r} is in no category", f"start it with one of {', '.join(CATEGORIES)}")
    if rule.cause is not None and "." not in rule.cause:
        refuse(["cause"], f"cause {rule.cause!r} has no second part", "write category.cause")
    if rule.role is Role.ROOT and rule.cause is None:
        refuse(["role"], "a rule of role root has no cause", "add `cause: category.cause`")
    if rule.event is not None and rule.event not in EVENTS:
        refuse(["event"], f"event {rule.event!r} is not known", f"use one of {', '.join(EVENTS)}")
    if rule.retry is not None and rule.retry not in RETRY_ADVICE:
        refuse(["retry"], f"retry {rule.retry!r} is not known", f"use one of {', '.join(RETRY_ADVICE)}")
    if not 0 <= rule.weight <= 100:
        refuse(["weight"], f"weight {rule.weight} is out of range", "use 0 to 100")
    if rule.scope not in ("message", "job"):
        refuse(["scope"], f"scope {rule.scope!r} is not known", "use message or job")
    _check_condition(rule.when, rule.scope, ["when"], refuse)


def _check_condition(condition: Condition, scope: str, path: list[str], refuse: Any) -> None:
    given = [kind for kind in _KINDS if getattr(condition, kind) is not None]
    if len(given) != 1:
        what = (
            "says nothing" if not given else f"says several things at once ({', '.join(g.rstrip('_') for g in given)})"
        )
        refuse(path, f"a condition {what}", "give each its own node under all: or any:")
    kind = given[0]
    for key, partner in _BESIDE.items():
        if getattr(condition, key) is not None and kind != partner:
            refuse([*path, key], f"`{key}` stands without `{partner}`", f"put it beside `{partner}`")
    if kind in ("finding", "absent", "sequence") and scope != "job":
        refuse(path, f"`{kind}` looks at the job's findings", "add `scope: job`")
    if kind in ("regex", "exception", "fields") and scope == "job":
        refuse(path, f"`{kind}` looks at one message", "put it into a rule of its own and name that by `finding:`")
    for key, pattern in (("regex", condition.regex), ("message", condition.message)):
        if pattern is not None and (problem := pattern_problem(pattern)):
            refuse(
                [*path, key], f"{key} {pattern!r} is refused: {problem}", "RE2 has no lookaround and no backreferences"
            )
    for name in ("any", "all"):
        for number, part in enumerate(getattr(condition, name) or ()):
            _check_condition(part, scope, [*path, name, str(number)], refuse)
    if condition.not_ is not None:
        _check_condition(condition.not_, scope, [*path, "not"], refuse)


def pattern_problem(pattern: str) -> str | None:
    """Why a pattern is refused: by the linear-time engine, or by Python's parser, which finds its literals."""
    import re

    from analyzer.rulebook.patterns import compile_pattern

    try:
        compile_pattern(pattern)
        re.compile(pattern)
    except ValueError as error:
        return str(error)
    except re.error as error:
        return str(error)
    return None


def _path(text: str) -> list[str]:
    return [part for part in text.replace("[", ".").replace("]", "").split(".") if part]


def _line_of(text: str, path: list[str]) -> int:
    """The line of the deepest node on the path that exists."""
    node = yaml.compose(text, Loader=_LOADER)
    line = 1
    for part in path:
        child = None
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == part:
                    line, child = key.start_mark.line + 1, value
        elif isinstance(node, yaml.SequenceNode) and part.isdecimal() and int(part) < len(node.value):
            child = node.value[int(part)]
            line = child.start_mark.line + 1
        if child is None:
            break
        node = child
    return line
