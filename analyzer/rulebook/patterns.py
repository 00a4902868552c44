"""Regular expressions in linear time: RE2, so that no line of a log can stall the program."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol, cast

import re2


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


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> Pattern:
    """A pattern with `^` and `$` at line ends.

    Raises:
        ValueError: if RE2 refuses it.
    """
    try:
        return cast(Pattern, re2.compile(f"(?m){pattern}", _options()))
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise ValueError(reason) from error
