"""Regular expressions in linear time: RE2, so that no line of a log can stall the program."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol, cast

import re2

from analyzer.rulebook.literals import required_literals

_LEARN_AFTER = 32
_MOST_WORDS = 12


class Match(Protocol):
    """What is used of a match."""

    def groupdict(self) -> dict[str, str | None]:
        """Named groups."""
        ...

    def start(self, group: int = 0) -> int:
        """Where it begins."""
        ...

    def end(self, group: int = 0) -> int:
        """Where it ends."""
        ...


class Pattern(Protocol):
    """What is used of a pattern."""

    @property
    def groupindex(self) -> Mapping[str, int]:
        """The named groups and their numbers."""
        ...

    def search(self, text: str) -> Match | None:
        """The first match."""
        ...

    def sub(self, replacement: str, text: str) -> str:
        """The text with every match replaced."""
        ...


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    return options


class _Guarded:
    """A pattern that is often tried in vain: once it was, its literals are looked for first, which costs far less."""

    __slots__ = ("_pattern", "_source", "_tries", "_words")

    def __init__(self, source: str, pattern: Pattern) -> None:
        self._source, self._pattern = source, pattern
        self._tries = 0
        self._words: tuple[str, ...] = ()

    @property
    def groupindex(self) -> Mapping[str, int]:
        """The named groups and their numbers."""
        return self._pattern.groupindex

    def search(self, text: str) -> Match | None:
        """The first match."""
        if self._tries < _LEARN_AFTER:
            self._tries += 1
            if self._tries == _LEARN_AFTER:
                found = required_literals(self._source) or frozenset()
                self._words = tuple(sorted(found)) if len(found) <= _MOST_WORDS else ()
        elif self._words:
            lowered = _lower(text)
            if not any(word in lowered for word in self._words):
                return None
        return self._pattern.search(_encodable(text))

    def sub(self, replacement: str, text: str) -> str:
        """The text with every match replaced."""
        return self._pattern.sub(replacement, _encodable(text))


def _encodable(text: str) -> str:
    """The text as RE2 takes it: half surrogate pairs, which UTF-8 cannot hold, replaced character by character."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


@lru_cache(maxsize=2)
def _lower(text: str) -> str:
    return text.lower()


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> Pattern:
    """A pattern with `^` and `$` at line ends.

    Raises:
        ValueError: if RE2 refuses it.
    """
    try:
        return _Guarded(pattern, cast(Pattern, re2.compile(f"(?m){pattern}", _options())))
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise ValueError(reason) from error
