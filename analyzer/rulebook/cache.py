"""The rulebook as a start needs it: compiled once, each rule decoded when it is first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import overload

import msgspec

from analyzer.compiled import shipped_or_kept
from analyzer.errors import RuleError
from analyzer.resources import data_folder
from analyzer.rulebook.index import Index, index_rules
from analyzer.rulebook.literals import required_literals
from analyzer.rulebook.match import Matcher
from analyzer.rulebook.patterns import expect_words
from analyzer.rulebook.schema import Examples, Rule, expressions

NAME = "rulebook"
_MOST_WORDS = 12
"""Looking for more words costs more than trying the expression that needs one of them."""


class Compiled(msgspec.Struct, frozen=True):
    """Rules in the order of their ids, each encoded as it is ready to match, what calls each up, and a digest."""

    rules: list[msgspec.Raw]
    index: Index
    version: str


class Ready(msgspec.Struct, frozen=True, array_like=True):
    """A rule without its examples, and of each of its expressions the words that it needs one of, if they are few."""

    rule: Rule
    words: list[list[str]]


class EncodedRules(Sequence[Rule]):
    """Rules that are decoded when they are first asked for: a diagnosis needs some dozens of hundreds."""

    def __init__(self, encoded: Sequence[msgspec.Raw]) -> None:
        self._encoded = encoded
        self._rules: list[Rule | None] = [None] * len(encoded)

    def __len__(self) -> int:
        return len(self._encoded)

    @overload
    def __getitem__(self, number: int) -> Rule: ...

    @overload
    def __getitem__(self, number: slice) -> list[Rule]: ...

    def __getitem__(self, number: int | slice) -> Rule | list[Rule]:
        if isinstance(number, slice):
            return [self[one] for one in range(len(self))[number]]
        rule = self._rules[number]
        if rule is None:
            ready = _decoder.decode(self._encoded[number])
            rule = self._rules[number] = ready.rule
            for pattern, words in zip(expressions(rule.when), ready.words, strict=True):
                expect_words(pattern, words)
        return rule


_decoder = msgspec.msgpack.Decoder(Ready)


def compile_rules(rules: Sequence[Rule]) -> Compiled:
    """Strips what matching does not need and works out the index."""
    import hashlib

    bare = [msgspec.structs.replace(rule, examples=Examples()) for rule in sorted(rules, key=lambda rule: rule.id)]
    encoded = [msgspec.Raw(msgspec.msgpack.encode(Ready(rule, _words(rule)))) for rule in bare]
    version = hashlib.sha256(msgspec.msgpack.encode(bare)).hexdigest()[:12]
    return Compiled(encoded, index_rules(bare), version)


def _words(rule: Rule) -> list[list[str]]:
    needed = [sorted(required_literals(pattern) or ()) for pattern in expressions(rule.when)]
    return [words if len(words) <= _MOST_WORDS else [] for words in needed]


def compile_rulebook(folder: Path) -> bytes:
    """The compiled form of a folder of rules, as it is kept.

    Raises:
        RuleError: if a rule has a mistake.
    """
    from analyzer.rulebook.load import load_folder

    return msgspec.msgpack.encode(compile_rules(load_folder(folder)))


def load_rulebook(packs: Sequence[Path] = ()) -> Matcher:
    """The bundled rules, overridden and extended by packs; of two rules with one id the later pack's wins.

    Raises:
        RuleError: if a pack is missing or a rule has a mistake.
    """
    compiled = _compiled(data_folder("rules"))
    if packs:
        rules = {rule.id: rule for rule in EncodedRules(compiled.rules)}
        for pack in packs:
            if not pack.is_dir():
                raise RuleError("is no folder", where=str(pack), advice="name a folder of rule files")
            rules |= {rule.id: rule for rule in EncodedRules(_compiled(pack).rules)}
        compiled = compile_rules(list(rules.values()))
    return Matcher(EncodedRules(compiled.rules), compiled.index, compiled.version)


def _compiled(folder: Path) -> Compiled:
    return msgspec.msgpack.decode(shipped_or_kept(NAME, folder, compile_rulebook), type=Compiled)
