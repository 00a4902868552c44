"""Which texts a diagnosis can need: those that hold a word of the rules, of tracebacks and crash texts, of alarm, or of
loss, where a part of the log is not there.

All words are looked for in many texts at once. Words that only steps of training or harmless noise are known by tell
nothing by themselves: such lines come by the million, and the first, the last and those near a telling line will do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analyzer.facts.log_losses import loss_marks
from analyzer.rulebook.match import Matcher
from analyzer.rulebook.prefilter import LiteralFinder
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
    words.update(dict.fromkeys(rulebook.telling_literals))
    words.update(dict.fromkeys(loss_marks()))
    finder = LiteralFinder(words)
    return lambda texts: finder.in_texts([text.lower() for text in texts])
