"""Regular expressions in linear time: RE2, so that no line of a log can stall the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

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


class _Found:
    """A match in a text's UTF-8 bytes, told in characters. RE2 works on bytes: its own way back costs more than it."""

    __slots__ = ("_match", "_names", "_whole")

    def __init__(self, match: Any, names: Sequence[tuple[str, int]], whole: bytes) -> None:
        self._match, self._names, self._whole = match, names, whole

    def groupdict(self) -> dict[str, str | None]:
        """Named groups."""
        values = ((name, self._match[number]) for name, number in self._names)
        return {name: None if value is None else value.decode() for name, value in values}

    def start(self, group: int = 0) -> int:
        """Where it begins."""
        return self._characters(self._match.start(group))

    def end(self, group: int = 0) -> int:
        """Where it ends."""
        return self._characters(self._match.end(group))

    def _characters(self, place: int) -> int:
        return len(self._whole[:place].decode()) if place > 0 else place


class _Guarded:
    """A pattern that is often tried in vain: once it was, its literals are looked for first, which costs far less."""

    __slots__ = ("_names", "_pattern", "_source", "_tries", "_words")

    def __init__(self, source: str, pattern: Any) -> None:
        self._source, self._pattern = source, pattern
        self._names = tuple(pattern.groupindex.items())
        self._tries = 0
        self._words: tuple[str, ...] = ()

    @property
    def groupindex(self) -> Mapping[str, int]:
        """The named groups and their numbers."""
        return dict(self._names)

    def search(self, text: str) -> Match | None:
        """The first match."""
        if self._words:
            lowered = _lower(text)
            for word in self._words:
                if word in lowered:
                    break
            else:
                return None
        elif self._tries <= _LEARN_AFTER:
            self._learn()
        whole = _encoded(text)
        match = self._pattern.search(whole)
        return None if match is None else _Found(match, self._names, whole)

    def _learn(self) -> None:
        self._tries += 1
        if self._tries > _LEARN_AFTER:
            found = required_literals(self._source) or frozenset()
            self._words = tuple(sorted(found)) if len(found) <= _MOST_WORDS else ()

    def sub(self, replacement: str, text: str) -> str:
        """The text with every match replaced."""
        replaced: str = self._pattern.sub(replacement, _encoded(text).decode())
        return replaced


@lru_cache(maxsize=2)
def _encoded(text: str) -> bytes:
    """The text as RE2 takes it: half surrogate pairs, which UTF-8 cannot hold, replaced character by character."""
    return text.encode("utf-8", "replace")


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
        return _Guarded(pattern, re2.compile(f"(?m){pattern}", _options()))
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise ValueError(reason) from error
