"""Which texts a diagnosis can need: those that hold a word of the rules, of tracebacks and crash texts, of alarm, or of
loss, where a part of the log is not there.

All words are looked for in many texts at once. Words that only steps of training or harmless noise are known by tell
nothing by themselves: such lines come by the million, and the first, the last and those near a telling line will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from analyzer.facts.log_losses import loss_marks
from analyzer.stitch.clean import UNCLEAN
from analyzer.stitch.streams import BEGINNINGS

if TYPE_CHECKING:
    from analyzer.rulebook.match import Matcher

ALARM = (
    "error", "exception", "fail", "fatal", "abort", "killed", "panic", "cannot", "unable", "denied", "refused",
    "timeout", "time out", "timedout", "timed out", "core dumped",
)  # fmt: skip
"""Words of alarm: what an unexplained end may be told by."""

Telling = Callable[[Sequence[str]], set[int]]
"""From texts to the numbers of those that tell something."""


def telling(rulebook: Matcher) -> Telling:
    """The finder of telling texts that a rulebook needs."""
    finder = rulebook.telling_words
    return lambda texts: finder.in_texts([text.lower() for text in texts])


def words_beside_rules() -> Iterator[str]:
    """Lower-case words that tell something whatever the rules are."""
    yield from ALARM
    yield from (word.lower() for word in BEGINNINGS.words if word not in UNCLEAN)
    yield from loss_marks()
