"""What is new in a log: lines that the job's own boring lines, or a good run of the same job, do not have.

A line's shape is its text with everything masked that differs from run to run. Shapes need no state, so any part of a
log can be compared with any other, in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from analyzer.facts.masks import masks
from analyzer.model import Message
from analyzer.rulebook.patterns import Pattern, compile_pattern

MAX_CHARS = 400  # of a line's first line: two lines that agree so far are of one shape


@lru_cache(maxsize=1)
def _masks() -> list[tuple[str, Pattern]]:
    return [(mask.token, compile_pattern(mask.regex)) for mask in masks()]


@lru_cache(maxsize=65_536)
def shape_of(text: str) -> str:
    """A message's shape: its first line, masked. Equal for lines that differ only in what a mask covers."""
    shape = text.split("\n", 1)[0][:MAX_CHARS]
    for token, pattern in _masks():
        shape = pattern.sub(token, shape)
    return " ".join(shape.split())


def shapes_of(messages: Iterable[Message]) -> frozenset[str]:
    """All shapes of some messages."""
    return frozenset(shape_of(message.text) for message in messages)


def novel_messages(messages: Sequence[Message], known: frozenset[str], limit: int = 12) -> list[Message]:
    """Messages whose shape a good run did not have: each shape once, the rarest first, of equals the latest first."""
    counts: dict[str, int] = {}
    last: dict[str, tuple[int, Message]] = {}
    for place, message in enumerate(messages):
        shape = shape_of(message.text)
        if shape and shape not in known:
            counts[shape] = counts.get(shape, 0) + 1
            last[shape] = (place, message)
    ranked = sorted(counts, key=lambda shape: (counts[shape], -last[shape][0]))
    return [last[shape][1] for shape in ranked[:limit]]
