"""Whether a program's own output went on in its ordinary way after a message, where no rule knows its progress lines.

An exception that nothing catches is among the last things that a program prints; one that it caught and logged stands
amid its ordinary lines. So lines of the kinds that came again and again before, and come again after, show that the
program lived on. So do any ordinary lines where the program said right before a traceback that it passes over it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from analyzer.judge.novelty import shape_of
from analyzer.model import Message, Origin
from analyzer.rulebook import Finding, Role

_WINDOW = 40
"""So many messages before and after are looked at: what is kept of a long log around a telling line."""
_AGAIN = 3
"""So often a kind of line must have come before, and so many of them must come after."""
_LINES = 3
"""So many ordinary lines must follow a failure that was said to be passed over."""
PASSED_OVER = 86
"""The least weight of a noise rule by which a program says that it goes on in spite of a failure."""
_NOT_ORDINARY = frozenset((Role.ROOT, Role.CASCADE, Role.TEARDOWN, Role.NOISE, Role.VERDICT))


class Ordinary:
    """The output of a program that speaks alone, with what is known of each message; where others speak, they judge."""

    def __init__(self, messages: Sequence[Message], findings: Sequence[Finding]) -> None:
        self._messages = messages
        self._alone = all(message.origin in (Origin.REPLICA, Origin.TEXT) for message in messages)
        self._not_ordinary = {id(f.message) for f in findings if f.role in _NOT_ORDINARY}
        self._passed_over = {id(f.message) for f in findings if f.role is Role.NOISE and f.rule.weight >= PASSED_OVER}

    def went_on_after(self, place: int) -> bool:
        """Whether the program printed ordinary lines again after the traceback at a place."""
        if not self._alone or self._messages[place].kind != "traceback":
            return False
        before = [m for m in self._messages[max(0, place - _WINDOW) : place] if self._is_ordinary(m)]
        after = [m for m in self._messages[place + 1 : place + 1 + _WINDOW] if self._is_ordinary(m)]
        if place and id(self._messages[place - 1]) in self._passed_over:
            return len(after) >= _LINES
        often = Counter(shape_of(message.text) for message in before)
        return sum(often[shape_of(message.text)] >= _AGAIN for message in after) >= _AGAIN

    def _is_ordinary(self, message: Message) -> bool:
        return id(message) not in self._not_ordinary and message.kind != "traceback" and bool(message.text.strip())
