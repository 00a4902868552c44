"""Runs the examples that rules carry: what each must match, what it must not, and what it matches of the others'."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from analyzer.model import Message, Origin
from analyzer.rulebook.conditions import names
from analyzer.rulebook.match import Finding, Matcher
from analyzer.rulebook.schema import Example, Rule
from analyzer.stitch import message_of

RawExample = str | Example | list[str | Example]


class Problem(msgspec.Struct, frozen=True, order=True):
    """Something wrong with a rule, with advice; `level` is `error` or `advice`."""

    rule: str
    level: str
    text: str


class CrossMatch(msgspec.Struct, frozen=True, order=True):
    """A rule that matches another rule's example, though neither names the other."""

    rule: str
    other: str
    text: str


def example_messages(rule: Rule, example: RawExample) -> list[Message]:
    """The messages that an example stands for; one, unless the rule looks at a whole job."""
    parts = example if isinstance(example, list) else [example]
    return [_message(rule, part) for part in parts]


def _message(rule: Rule, part: str | Example) -> Message:
    if isinstance(part, str):
        part = Example(text=part)
    origin = part.origin or (rule.from_[0] if rule.from_ else Origin.TEXT)
    return message_of(part.text, origin=origin, fields=part.fields)


def run_examples(rule: Rule, matcher: Matcher) -> Iterator[Problem]:
    """What is wrong with a rule's own examples, tried by the prefiltered search and by the exhaustive one."""
    for wanted, examples in ((True, rule.examples.match), (False, rule.examples.no_match)):
        for number, example in enumerate(examples, 1):
            name = f"examples.{'match' if wanted else 'no_match'}[{number}]"
            messages = example_messages(rule, example)
            found = findings_of(matcher, messages)
            mine = next((finding for finding in found if finding.rule.id == rule.id), None)
            if (mine is not None) != wanted:
                yield Problem(
                    rule.id, "error", f"{name} {'is not matched' if wanted else 'is matched'}: {_short(example)}"
                )
            elif mine is not None:
                yield from _values(rule, name, example, mine)
            slow = any(matcher.find_exhaustively(message, only=rule.id) for message in messages)
            if rule.scope == "message" and slow != (mine is not None):
                yield Problem(rule.id, "error", f"{name}: the prefilter and the exhaustive search disagree")


def findings_of(matcher: Matcher, messages: Sequence[Message]) -> list[Finding]:
    """All findings of some messages, those of scope job included."""
    found = [finding for message in messages for finding in matcher.find(message)]
    return found + matcher.find_in_job(found)


def _values(rule: Rule, name: str, example: RawExample, finding: Finding) -> Iterator[Problem]:
    wanted = example.values if isinstance(example, Example) else {}
    for key, value in wanted.items():
        if finding.values.get(key) != value:
            yield Problem(rule.id, "error", f"{name}: {key} is {finding.values.get(key)!r}, wanted {value!r}")


def cross_matches(rules: Iterable[Rule], matcher: Matcher) -> list[CrossMatch]:
    """Root rules that match another root rule's positive examples though they share no category and no edge."""
    found = []
    for owner in rules:
        for example in owner.examples.match:
            for finding in findings_of(matcher, example_messages(owner, example)):
                if _unintended(owner, finding.rule):
                    found.append(CrossMatch(finding.rule.id, owner.id, _short(example)))  # noqa: PERF401
    return sorted(set(found))


def _unintended(owner: Rule, other: Rule) -> bool:
    if other.id == owner.id or "root" not in (owner.role, other.role) or other.weight <= 15:
        return False
    if owner.category == other.category and owner.role == other.role:
        return False
    return owner.weight <= other.weight and not (_has_edge(owner, other) or _has_edge(other, owner))


def _has_edge(rule: Rule, other: Rule) -> bool:
    """Whether one rule says that the other follows from it, so that both may well be about the same message."""
    return any(names(edge, name) for edge in rule.explains for name in (other.id, other.cause) if name)


def _short(example: RawExample) -> str:
    first = example[0] if isinstance(example, list) else example
    text = first if isinstance(first, str) else first.text or str(first.fields)
    return repr(text if len(text) <= 120 else text[:117] + "…")
