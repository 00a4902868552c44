"""Regular expressions in linear time: RE2, so that no line of a log can stall the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

import re2

_WORDS: dict[str, tuple[str, ...]] = {}
"""Of patterns: lower-case words of which one is in every text that the pattern matches, as far as they are known."""


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
    """A pattern whose words are looked for first, which costs far less; where none ever comes it is not compiled."""

    __slots__ = ("_names", "_pattern", "_source", "_words")

    def __init__(self, source: str, words: tuple[str, ...]) -> None:
        self._source, self._words = source, words
        self._pattern: Any = None
        self._names: tuple[tuple[str, int], ...] = ()
        if not words:
            self._compile()

    def _compile(self) -> None:
        self._pattern = re2.compile(f"(?m){self._source}", _options())
        self._names = tuple(self._pattern.groupindex.items())

    @property
    def groupindex(self) -> Mapping[str, int]:
        """The named groups and their numbers."""
        if self._pattern is None:
            self._compile()
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
        if self._pattern is None:
            self._compile()
        whole = _encoded(text)
        match = self._pattern.search(whole)
        return None if match is None else _Found(match, self._names, whole)

    def sub(self, replacement: str, text: str) -> str:
        """The text with every match replaced."""
        if self._pattern is None:
            self._compile()
        replaced: str = self._pattern.sub(replacement, _encoded(text).decode())
        return replaced


@lru_cache(maxsize=2)
def _encoded(text: str) -> bytes:
    """The text as RE2 takes it: half surrogate pairs, which UTF-8 cannot hold, replaced character by character."""
    return text.encode("utf-8", "replace")


@lru_cache(maxsize=2)
def _lower(text: str) -> str:
    return text.lower()


def expect_words(pattern: str, words: Sequence[str]) -> None:
    """Tells of a pattern that RE2 takes which lower-case words it needs one of, so that it is tried only there."""
    _WORDS[pattern] = tuple(words)


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> Pattern:
    """A pattern with `^` and `$` at line ends.

    Raises:
        ValueError: if RE2 refuses it.
    """
    try:
        return _Guarded(pattern, _WORDS.get(pattern, ()))
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise ValueError(reason) from error
