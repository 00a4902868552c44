"""Finds which rules a message or a job matches: all literals in one pass, then only the rules that were hit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from analyzer.model import Instant, Message, Origin
from analyzer.rulebook.conditions import Values, match_job, match_message
from analyzer.rulebook.literals import condition_literals
from analyzer.rulebook.prefilter import literal_finder
from analyzer.rulebook.schema import Condition, Role, Rule


class Finding(msgspec.Struct, frozen=True, gc=False):
    """A rule that matched a message, with the values it read. For a rule of scope job, the message that proves it.

    `hearsay`: a container says it of what only others can know (see `analyzer.rulebook.hearsay`).
    """

    rule: Rule
    message: Message
    values: Values
    hearsay: bool = False

    @property
    def time(self) -> Instant | None:
        """When the message was logged."""
        return self.message.time

    @property
    def replica(self) -> str | None:
        """The replica it is about: the one that the message names, else the one that says it."""
        return self.values.get("replica") or self.message.replica

    @property
    def event(self) -> str | None:
        """What it tells the timeline and the outcome; hearsay tells them nothing."""
        return None if self.hearsay else self.rule.event

    @property
    def role(self) -> Role:
        """The rule's role."""
        return self.rule.role


class Index(msgspec.Struct, frozen=True):
    """Which rules (by number) a literal, a structured fact or an exception calls up, and which must always be tried."""

    literals: dict[str, list[int]]
    fields: list[int]
    exceptions: list[int]
    always: list[int]


def index_rules(rules: Sequence[Rule]) -> Index:
    """Works out for every rule of scope message what calls it up."""
    index = Index({}, [], [], [])
    for number, rule in enumerate(rules):
        if rule.scope == "job":
            continue
        callers = _callers(rule.when)
        if callers is None:
            index.always.append(number)
            continue
        for literal in sorted(callers - _MARKS):
            index.literals.setdefault(literal, []).append(number)
        if _FIELDS in callers:
            index.fields.append(number)
        if _EXCEPTIONS in callers:
            index.exceptions.append(number)
    return index


_FIELDS, _EXCEPTIONS = "\0fields", "\0exceptions"  # beside literals: structured facts, or any exception, call a rule up
_MARKS = frozenset((_FIELDS, _EXCEPTIONS))


def _callers(condition: Condition) -> frozenset[str] | None:
    """What calls a rule up: a message that the condition holds for has one of these; None where none is sure."""
    literals = condition_literals(condition)
    if literals:
        return literals
    if condition.fields is not None:
        return frozenset((_FIELDS,))
    if condition.exception is not None:
        return frozenset((_EXCEPTIONS,))
    parts = [_callers(part) for part in (condition.any or condition.all or ())]
    known = [part for part in parts if part is not None]
    if condition.any is not None:
        return frozenset().union(*known) if len(known) == len(parts) else None
    return min(known, key=lambda part: (_EXCEPTIONS in part, _FIELDS in part, len(part)), default=None)


class Matcher:
    """A rulebook ready to match. `find` is pure: the same message gives the same findings, in the order of rule ids."""

    def __init__(self, rules: Iterable[Rule], index: Index | None = None, version: str = "") -> None:
        self.rules = sorted(rules, key=lambda rule: rule.id)
        self.by_id = {rule.id: rule for rule in self.rules}
        self.version = version
        self._index = index or index_rules(self.rules)
        self._job_rules = [rule for rule in self.rules if rule.scope == "job"]
        self._by_literal = list(self._index.literals.values())
        self._find_literals = literal_finder(self._index.literals)
        self._by_field = [(number, field_names(self.rules[number].when)) for number in self._index.fields]
        self._speakers: dict[tuple[Origin, str], bytes] = {}

    def literals_of(self, wanted: Callable[[Role, str | None], bool]) -> list[str]:
        """The literals that call up a rule whose role and event are wanted."""
        rules = self.rules
        return [
            literal
            for literal, numbers in self._index.literals.items()
            if any(wanted(rules[number].role, rules[number].event) for number in numbers)
        ]

    def find(self, message: Message, platform: str = "") -> list[Finding]:
        """The rules of scope message that match it."""
        candidates = {n for literal in self._find_literals(message.text.lower()) for n in self._by_literal[literal]}
        candidates.update(self._index.always)
        fields = message.first.fields
        if fields:
            candidates.update(n for n, keys in self._by_field if not keys.isdisjoint(fields))
        if message.exceptions:
            candidates.update(self._index.exceptions)
        return self._confirm(sorted(candidates), message, platform) if candidates else []

    def find_exhaustively(self, message: Message, platform: str = "") -> list[Finding]:
        """The same without the prefilter: the reference that `find` is tested against."""
        numbers = [n for n, rule in enumerate(self.rules) if rule.scope == "message"]
        return self._confirm(numbers, message, platform)

    def _confirm(self, numbers: Sequence[int], message: Message, platform: str) -> list[Finding]:
        found = []
        speakable = self._speakable(message.origin, platform)
        for number in numbers:
            if not speakable[number]:
                continue
            rule = self.rules[number]
            values = match_message(rule.when, message)
            if values is not None:
                found.append(Finding(rule, message, values))
        return found

    def _speakable(self, origin: Origin, platform: str) -> bytes:
        """For every rule by number whether this speaker on this platform may say it."""
        known = self._speakers.get((origin, platform))
        if known is None:
            known = self._speakers[origin, platform] = bytes(
                origin in rule.origins and not (rule.platforms and platform and platform not in rule.platforms)
                for rule in self.rules
            )
        return known

    def find_in_job(self, findings: Sequence[Finding], platform: str = "") -> list[Finding]:
        """The rules of scope job that a job's findings match; each once, proven by its first finding."""
        found = []
        for rule in self._job_rules:
            if rule.platforms and platform and platform not in rule.platforms:
                continue
            held = match_job(rule.when, findings)
            if held:
                values = {name: value for finding in reversed(held) for name, value in finding.values.items()}
                found.append(Finding(rule, held[0].message, values))
        return found


def field_names(condition: Condition) -> frozenset[str]:
    """The structured facts of which a message must have one for the condition to hold."""
    parts = [*(condition.any or ()), *(condition.all or ())]
    return frozenset(condition.fields or ()).union(*(field_names(part) for part in parts))
