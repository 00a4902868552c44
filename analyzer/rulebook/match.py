"""Finds which rules a message or a job matches: all literals in one pass, then only the rules that were hit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property

import msgspec

from analyzer.model import Instant, Message, Origin
from analyzer.rulebook.conditions import Values, match_job, match_message
from analyzer.rulebook.index import Index, index_rules
from analyzer.rulebook.prefilter import LiteralFinder
from analyzer.rulebook.schema import Role, Rule
from analyzer.rulebook.telling import words_beside_rules

_BATCH = 256
"""So many messages are looked through at once."""


class Finding(msgspec.Struct, frozen=True, gc=False):
    """A rule that matched a message, with the values it read. For a rule of scope job, the message that proves it.

    `hearsay`: a container says it of what only others can know (see `analyzer.rulebook.hearsay`). `completed` is for a
    rule of scope job the last message that it takes: what came before that one was not survived.
    """

    rule: Rule
    message: Message
    values: Values
    hearsay: bool = False
    completed: Message | None = None

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


class Matcher:
    """A rulebook ready to match. `find` is pure: the same message gives the same findings, in the order of rule ids."""

    def __init__(self, rules: Sequence[Rule], index: Index | None = None, version: str = "") -> None:
        """Rules in any order, or in the order of their ids with their index."""
        self.rules: Sequence[Rule] = sorted(rules, key=lambda rule: rule.id) if index is None else rules
        self.version = version
        self._index = index or index_rules(self.rules)
        self._by_literal = list(self._index.literals.values())
        self._by_field: dict[str, list[int]] = {}
        for number, names in self._index.fields.items():
            for name in names:
                self._by_field.setdefault(name, []).append(number)
        self._speakers: dict[tuple[Origin, str], dict[int, bool]] = {}

    @property
    def telling_literals(self) -> list[str]:
        """The literals that call up a rule which more is known by than steps of training or harmless noise."""
        return list(self._index.literals)[: self._index.telling]

    @cached_property
    def telling_words(self) -> LiteralFinder:
        """Finds, in lower-cased texts, these literals, and behind them what tells something beside the rules."""
        return LiteralFinder(dict.fromkeys((*self.telling_literals, *words_beside_rules())))

    @cached_property
    def _quiet_words(self) -> LiteralFinder:
        """Finds the other literals."""
        return LiteralFinder(list(self._index.literals)[self._index.telling :])

    def rule_of(self, identity: str) -> Rule | None:
        """The rule of an id."""
        place = bisect_left(self._index.ids, identity)
        return self.rules[place] if self._index.ids[place : place + 1] == [identity] else None

    def find(self, message: Message, platform: str = "") -> list[Finding]:
        """The rules of scope message that match it."""
        return self.find_all([message], platform)

    def find_all(self, messages: Sequence[Message], platform: str = "") -> list[Finding]:
        """The same for many messages, in their order."""
        found: list[Finding] = []
        for begin in range(0, len(messages), _BATCH):
            batch = messages[begin : begin + _BATCH]
            texts = [message.text.lower() for message in batch]
            told, quiet = self.telling_words.by_text(texts), self._quiet_words.by_text(texts)
            for number, message in enumerate(batch):
                candidates = self._candidates(told.get(number, ()), quiet.get(number, ()), message)
                if candidates:
                    found += self._confirm(sorted(candidates), message, platform)
        return found

    def _candidates(self, told: Iterable[int], quiet: Iterable[int], message: Message) -> set[int]:
        telling = self._index.telling
        literals = (*(word for word in told if word < telling), *(telling + word for word in quiet))
        candidates = {number for literal in literals for number in self._by_literal[literal]}
        candidates.update(self._index.always)
        for name in message.first.fields:
            candidates.update(self._by_field.get(name, ()))
        if message.exceptions:
            candidates.update(self._index.exceptions)
        return candidates

    def find_exhaustively(self, message: Message, platform: str = "", only: str | None = None) -> list[Finding]:
        """The same without the prefilter: the reference that `find` is tested against. `only`: the id of one rule."""
        wanted = bisect_left(self._index.ids, only) if only is not None else None
        numbers = [n for n in ([wanted] if wanted is not None else range(len(self.rules))) if self._is_of_message(n)]
        return self._confirm(numbers, message, platform)

    def _is_of_message(self, number: int) -> bool:
        return self.rules[number].scope == "message"

    def _confirm(self, numbers: Sequence[int], message: Message, platform: str) -> list[Finding]:
        found = []
        speaker = (message.origin, platform)
        known = self._speakers.setdefault(speaker, {})
        for number in numbers:
            may_say = known.get(number)
            if may_say is None:
                may_say = known[number] = _may_say(self.rules[number], *speaker)
            if may_say:
                rule = self.rules[number]
                values = match_message(rule.when, message)
                if values is not None:
                    found.append(Finding(rule, message, values))
        return found

    def find_in_job(self, findings: Sequence[Finding], platform: str = "") -> list[Finding]:
        """The rules of scope job that a job's findings match; each once, proven by its first finding."""
        found = []
        places = {id(finding): place for place, finding in enumerate(findings)}
        for rule in (self.rules[number] for number in self._index.job):
            if rule.platforms and platform and platform not in rule.platforms:
                continue
            held = match_job(rule.when, findings)
            if held:
                values = {name: value for finding in reversed(held) for name, value in finding.values.items()}
                last = max(held, key=lambda finding: places[id(finding)])
                found.append(Finding(rule, held[0].message, values, completed=last.message))
        return found


def _may_say(rule: Rule, origin: Origin, platform: str) -> bool:
    """Whether this speaker on this platform may say what a rule knows."""
    return origin in rule.origins and not (rule.platforms and platform and platform not in rule.platforms)
