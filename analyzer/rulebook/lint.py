"""Small checks of a rule's form that the schema cannot make. Each says what is missing and why it matters."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.rulebook.examples import Problem
from analyzer.rulebook.literals import MIN_LENGTH, condition_literals
from analyzer.rulebook.patterns import compile_pattern
from analyzer.rulebook.schema import Condition, Role, Rule, Text
from analyzer.rulebook.text import places

CONTEXT_VALUES = frozenset(
    ("job", "project", "region", "zone", "replica", "machine_type", "platform", "exit_code", "accelerator",
     "exception", "message", "frame_file", "frame_line", "frame_function", "frame_code", "node", "pool")
)  # fmt: skip
_COMMON_LITERALS = frozenset(
    ("error", "failed", "warning", "internal", "exception", "traceback", "storage.googleapis.com")
)


def lint(rule: Rule) -> Iterator[Problem]:
    """What is missing or doubtful in one rule."""
    if rule.role is Role.ROOT:
        yield from _root(rule)
    if rule.scope == "message":
        yield from _anchors(rule)
    yield from _german(rule)
    yield from _places(rule)
    if rule.role is not Role.ROOT and not (rule.examples.match and rule.examples.no_match):
        yield Problem(rule.id, "error", "has no examples: add at least one under match and one under no_match")


def _root(rule: Rule) -> Iterator[Problem]:
    for key, given in (("why", rule.why), ("remedy", rule.remedy), ("again", rule.again), ("retry", rule.retry)):
        if not given:
            yield Problem(rule.id, "error", f"a root has no `{key}`: the reader is left with a name and nothing to do")
    if not rule.sources:
        yield Problem(rule.id, "error", "a root has no `sources`: say where the message and the advice come from")
    if len(rule.examples.match) < 2 or len(rule.examples.no_match) < 2:
        yield Problem(rule.id, "error", "a root needs two examples that match and two near misses that do not")


def _anchors(rule: Rule) -> Iterator[Problem]:
    literals = condition_literals(rule.when)
    if literals is None:
        if not _has_type_test(rule.when):
            yield Problem(rule.id, "error", "no literal is certain to occur, so it would run on every message: add one")
        return
    for literal in sorted(literals):
        if len(literal.strip()) < MIN_LENGTH or literal.strip() in _COMMON_LITERALS:
            yield Problem(rule.id, "advice", f"the literal {literal!r} is common: a longer one makes scanning cheaper")


def _has_type_test(condition: Condition) -> bool:
    parts = [*(condition.all or ()), *(condition.any or ())]
    return condition.fields is not None or condition.exception is not None or any(map(_has_type_test, parts))


def _texts(rule: Rule) -> Iterator[tuple[str, Text]]:
    yield "title", rule.title
    if rule.why:
        yield "why", rule.why
    if rule.again:
        yield "again", rule.again
    for number, step in enumerate(rule.remedy, 1):
        yield f"remedy[{number}].do", step.do
        if step.applies_if:
            yield f"remedy[{number}].applies_if", step.applies_if


def _german(rule: Rule) -> Iterator[Problem]:
    for name, text in _texts(rule):
        if not text.de:
            yield Problem(rule.id, "error", f"{name} has no German text")


def _places(rule: Rule) -> Iterator[Problem]:
    known = CONTEXT_VALUES | _groups(rule.when)
    if rule.scope == "job":
        return
    templates = [(name, part) for name, text in _texts(rule) for part in (text.en, text.de)]
    templates += [(f"remedy[{n}].command", step.command) for n, step in enumerate(rule.remedy, 1) if step.command]
    for name, template in templates:
        for place in sorted(places(template) - known):
            yield Problem(rule.id, "error", f"{name} uses {{{place}}}, which no named group gives")


def _groups(condition: Condition) -> frozenset[str]:
    names: set[str] = set()
    for pattern in (condition.regex, condition.message):
        if pattern:
            names.update(compile_pattern(pattern).groupindex)
    names.update(condition.fields or ())
    for option in (condition.fields or {}).values():
        for part in option if isinstance(option, list) else [option]:
            if isinstance(part, str) and len(part) > 1 and part[0] == part[-1] == "/":
                names.update(compile_pattern(part[1:-1]).groupindex)
    for child in (*(condition.any or ()), *(condition.all or ())):
        names |= _groups(child)
    return frozenset(names)
