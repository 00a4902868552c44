"""What to show where no cause convinces: the most telling lines, and what would settle it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from analyzer.expressions import expression
from analyzer.judge.candidates import WRAPPERS
from analyzer.judge.novelty import shape_of
from analyzer.model import Message, Origin
from analyzer.rulebook import Finding, Role

_ALARM = expression(
    r"error|exception|fail|fatal|abort|killed|panic|cannot|unable|denied|refused|timed? ?out|core dumped", re.I
)
_CONTEXT = 40  # how many last messages of each replica are looked at: what ended a job stands near its end


def telling_messages(
    messages: Sequence[Message], findings: Sequence[Finding], known: frozenset[str] = frozenset(), limit: int = 3
) -> list[Message]:
    """The messages that say most about an unexplained end, best first.

    First the platform's own word on the end; then the first word of a launcher or framework on a process that it lost;
    then alarming lines that are new against the job's own boring lines, the latest first; then the last line of all.
    `known` are shapes of a good run: what it had too is not alarming.
    """
    dull = {id(f.message) for f in findings if f.role in (Role.NOISE, Role.PROGRESS, Role.TEARDOWN)}
    ends = [f.message for f in findings if f.role is Role.VERDICT and "exit_code" in f.values]
    words = [f.message for f in findings if f.role is Role.VERDICT]
    chosen = ends[-1:]
    own = [m for m in _last_of_each(messages) if id(m) not in dull and m.text.strip()]
    lost = {id(f.message) for f in findings if f.role is Role.CASCADE and f.rule.id.startswith(WRAPPERS)}
    chosen += [m for m in own if id(m) in lost][:1]
    alarming = [m for m in own if _ALARM.search(m.text) and m.origin is not Origin.SERVICE]
    alarming = [m for m in alarming if shape_of(m.text) not in known]
    counts = Counter(shape_of(m.text) for m in messages) if alarming else {}
    fewest = min((counts[shape_of(m.text)] for m in alarming), default=0)
    novel = [m for m in alarming if counts[shape_of(m.text)] == fewest]
    chosen += novel[-1:]
    spoken = [m for m in messages if m.text.strip() and m.origin in (Origin.REPLICA, Origin.TEXT)]
    chosen += spoken[-1:]
    unique: list[Message] = []
    for message in chosen:
        if all(message is not known for known in unique):
            unique.append(message)
    return unique[:limit] or words[-1:] or list(messages[-1:])


def _last_of_each(messages: Sequence[Message]) -> list[Message]:
    """The last messages of each replica, in order."""
    counts: dict[str | None, int] = {}
    kept = []
    for message in reversed(messages):
        counts[message.replica] = count = counts.get(message.replica, 0) + 1
        if count <= _CONTEXT:
            kept.append(message)
    return kept[::-1]
