"""What calls a rule up: worked out once when rules are compiled, so that a start need not look into each."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from analyzer.rulebook.literals import condition_literals
from analyzer.rulebook.schema import Condition, Role, Rule

_BY_PLACE = frozenset(("step", "results", "last_sign"))
"""Events that tell something by where they stand, among the first or last lines or near others, which are kept."""


class Index(msgspec.Struct, frozen=True):
    """Which rules (by number) a literal, a structured fact or an exception calls up, and which must always be tried.

    `fields` has for each rule that facts call up the names of which one must be there; `job` are the rules of scope
    job. The first `telling` literals are of rules that more is known by than `_BY_PLACE` or harmless noise.
    """

    ids: list[str]
    literals: dict[str, list[int]]
    fields: dict[int, list[str]]
    exceptions: list[int]
    always: list[int]
    job: list[int]
    telling: int


_FIELD, _EXCEPTIONS = "\0field ", "\0exceptions"
"""Beside literals a structured fact, or any exception, calls a rule up."""
_OF_ALL_LINES = "container"
"""The fact that each line of a container's output has: it tells nothing where another one must be there, too."""


def index_rules(rules: Sequence[Rule]) -> Index:
    """Works out for every rule what calls it up."""
    fields: dict[int, list[str]] = {}
    exceptions: list[int] = []
    always: list[int] = []
    job: list[int] = []
    called: dict[str, list[int]] = {}
    telling: dict[str, None] = {}
    for number, rule in enumerate(rules):
        if rule.scope == "job":
            job.append(number)
            continue
        callers = _callers(rule.when)
        if callers is None:
            always.append(number)
            continue
        words = sorted(word for word in callers if not word.startswith("\0"))
        for literal in words:
            called.setdefault(literal, []).append(number)
        if rule.role is not Role.NOISE and rule.event not in _BY_PLACE:
            telling.update(dict.fromkeys(words))
        names = sorted(word.removeprefix(_FIELD) for word in callers if word.startswith(_FIELD))
        if names:
            fields[number] = names
        if _EXCEPTIONS in callers:
            exceptions.append(number)
    literals = {literal: called[literal] for literal in (*telling, *called)}
    return Index([rule.id for rule in rules], literals, fields, exceptions, always, job, len(telling))


def _callers(condition: Condition) -> frozenset[str] | None:
    """What calls a rule up: a message that the condition holds for has one of these; None where none is sure."""
    literals = condition_literals(condition)
    if literals:
        return literals
    if condition.fields is not None:
        return frozenset((_FIELD + min(condition.fields, key=lambda name: (name == _OF_ALL_LINES, name)),))
    if condition.exception is not None:
        return frozenset((_EXCEPTIONS,))
    parts = [_callers(part) for part in (condition.any or condition.all or ())]
    known = [part for part in parts if part is not None]
    if condition.any is not None:
        return frozenset().union(*known) if len(known) == len(parts) else None
    return min(known, key=_cost, default=None)


def _cost(callers: frozenset[str]) -> tuple[bool, int, int]:
    """How often these call a rule up in vain: any exception most often, facts more often than literals."""
    facts = (2 if word == _FIELD + _OF_ALL_LINES else 1 for word in callers if word.startswith(_FIELD))
    return _EXCEPTIONS in callers, max(facts, default=0), len(callers)
