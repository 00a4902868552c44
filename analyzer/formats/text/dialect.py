"""A dialect knows how one kind of log text writes a line: what is transport (columns, prefixes) and what was said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from analyzer.model import Instant, JobKey, Origin


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What one line says, without its transport. `time` is None where the transport states none.

    `spoken` is False for a line that is nothing but transport: it says who speaks, or when, on the lines after it.
    """

    text: str
    time: Instant | None = None
    severity: str = "DEFAULT"
    origin: Origin = Origin.TEXT
    job: JobKey | None = None
    replica: str | None = None
    attempt: int | None = None
    node: str | None = None
    fields: dict[str, Any] = {}
    spoken: bool = True


class Dialect(Protocol):
    """One way to write log lines."""

    def read(self, line: str) -> Said | None:
        """What the line says; None for a line that is not of this dialect (the rest of the one before, or plain)."""
        ...


class Recognizer(Protocol):
    """Looks at the first lines of a text and gives its dialect; None where it is another."""

    def __call__(self, head: Sequence[str], name: str) -> Dialect | None:
        """The dialect of a text that begins with these lines and comes from the source of this name."""
        ...


def share(matches: Sequence[object]) -> float:
    """How many of these are something, from 0 to 1."""
    return sum(1 for match in matches if match) / len(matches) if matches else 0.0
