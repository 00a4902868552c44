"""Which texts a diagnosis can need: those that hold a word of the rules, of tracebacks and crash texts, of alarm, or of
loss, where a part of the log is not there.

All words are looked for in many texts at once. Words that only steps of training or harmless noise are known by tell
nothing by themselves: such lines come by the million, and the first, the last and those near a telling line will do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

from analyzer.facts.log_losses import loss_marks
from analyzer.rulebook.match import Matcher
from analyzer.rulebook.schema import Role
from analyzer.stitch.clean import UNCLEAN
from analyzer.stitch.streams import BEGINNINGS

ALARM = (
    "error", "exception", "fail", "fatal", "abort", "killed", "panic", "cannot", "unable", "denied", "refused",
    "timeout", "time out", "timedout", "timed out", "core dumped",
)  # fmt: skip
"""Words of alarm: what an unexplained end may be told by."""

Telling = Callable[[Sequence[str]], set[int]]
"""From texts to the numbers of those that tell something."""


def telling(rulebook: Matcher) -> Telling:
    """The finder of telling texts that a rulebook needs."""
    words = dict.fromkeys((*ALARM, *(word.lower() for word in BEGINNINGS.words if word not in UNCLEAN)))
    words.update(dict.fromkeys(rulebook.literals_of(_tells)))
    words.update(dict.fromkeys(loss_marks()))
    return finder(list(words))


def _tells(role: Role, event: str | None) -> bool:
    return role is not Role.NOISE and event != "step"


def finder(words: Sequence[str]) -> Telling:
    """A function from texts to the numbers of those in which (lower-cased) one of the words stands."""
    if not words:
        return lambda texts: set()
    try:
        from ahocorasick_rs import AhoCorasick, Implementation
    except ImportError:
        return lambda texts: _plainly(words, texts)
    automaton = AhoCorasick(words, implementation=Implementation.ContiguousNFA)

    def find(texts: Sequence[str]) -> set[int]:
        lowered = [text.lower() for text in texts]
        ends = list(accumulate(len(text) + 1 for text in lowered))
        hits = automaton.find_matches_as_indexes("\0".join(lowered))
        return {bisect_right(ends, start) for _, start, _ in hits}

    return find


def _plainly(words: Sequence[str], texts: Sequence[str]) -> set[int]:
    lowered = [text.lower() for text in texts]
    whole = "\0".join(lowered)
    present = [word for word in words if word in whole]
    return {number for number, text in enumerate(lowered) if any(word in text for word in present)}
