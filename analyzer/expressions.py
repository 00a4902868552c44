"""Regular expressions of Python's own engine that are compiled when they are first used.

A start knows some three hundred expressions and uses a few dozen; compiling all would take longer than a diagnosis.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")


class _Expression:
    """Stands for a compiled expression and becomes as quick as one with its first use."""

    __slots__ = ("_flags", "_source", *_METHODS)

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        """Called for what is not there yet: all methods before the first use."""
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(self._source, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def expression(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The expression, with the methods of a compiled one. A mistake in it shows with the first use."""
    return cast("re.Pattern[AnyStr]", _Expression(source, flags))
