"""Restarts of containers that no platform line announces: the lines that stood at a first start come again.

A custom container has no runner, so nothing but its own first lines tells that it was started again. What a job's
containers print first is learnt where a start is certain: on the first line of each VM or pod. A line that looks like
it begins a new life only if something else agrees: an exit before it, more of the opening lines after it, a resumed
checkpoint or a step counter that fell back.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

import msgspec

from analyzer.entries.thin import OPENING, OPENING_TIME
from analyzer.expressions import expression
from analyzer.model import SECOND
from analyzer.timeline.evidence import Item
from analyzer.timeline.lives import step_of

SAME_OPENING = 10 * SECOND
"""Processes that share a container print the same lines at about the same time."""
MOST_STARTS = 12
"""A line that comes more often than this on one VM is no first line but chatter (documented: five restarts)."""
WORD_DELAY = 60 * SECOND
"""The service's word on an exit may come this long after the restart that it was followed by."""
_MASKED = expression(r"\d+|\b[0-9a-f]{8,}\b")
_MASKABLE = tuple("0123456789abcdef")
_STAMP = expression(r"^[\[(]?[IWEF]?[\d:./,+\-TZ ]{6,}\d*[\])]?")


class Openings(msgspec.Struct):
    """What the containers of a job print first, and soon after, with digits masked.

    `sure` are first lines that stood at several starts, so that a lane that begins with one is not cut off.
    """

    first: frozenset[str]
    early: frozenset[str]
    sure: frozenset[str] = frozenset()


class Beginnings(msgspec.Struct):
    """Places of lines that begin a further life, by lane, and what the job's containers print first."""

    places: dict[str, set[int]]
    openings: Openings

    def is_start(self, item: Item) -> bool:
        """Whether a line is surely a container's first one."""
        return mask(item.entry.text) in self.openings.sure


def find_beginnings(
    lanes: Mapping[str, Sequence[Item]], words: Mapping[str, Sequence[int]], cut: Collection[str] = ()
) -> Beginnings:
    """Finds lines that begin a life.

    `words`: when the service said that a replica had failed, by replica. `cut`: lanes that begin in the middle of the
    job, so that what stands first in them is no first line and teaches nothing.
    """
    silent = {name: [i for i in items if i.output] for name, items in lanes.items() if _is_silent(items)}
    spans = {name: _spans(items) for name, items in silent.items()}
    openings = _learn([span for name, lane in spans.items() for span in (lane[1:] if name in cut else lane)])
    searched = [
        (name, _Span(span, openings, words.get(name, ()), alone=len(silent) == 1))
        for name in silent
        for span in spans[name]
    ]
    found: dict[str, set[int]] = {}
    for name, span in searched:
        found.setdefault(name, set()).update(span.beginnings())
    # Where most containers print their opening again and nothing else tells of a restart, it is how the program talks.
    if len(silent) > 1 and 2 * sum(bool(span.repeats) for _, span in searched) > len(searched):
        for name, span in searched:
            found[name] -= span.repeats
    return Beginnings({name: starts for name, starts in found.items() if starts}, openings)


def mask(text: str) -> str:
    """The beginning of a line without the numbers that differ from start to start."""
    return _MASKED.sub("#", text[:200].split("\n", 1)[0])


def _unstamped(text: str) -> str:
    return _STAMP.sub("", text[:200].split("\n", 1)[0])


def _is_silent(items: Sequence[Item]) -> bool:
    return not any(signal.event == "container_start" for item in items for signal in item.signals)


def _spans(items: Sequence[Item]) -> list[list[Item]]:
    """A lane's lines, cut where the VM, the pod or the attempt changes."""
    spans: list[list[Item]] = []
    known: object = None
    for item in items:
        unit = (item.entry.node, item.entry.replica, item.entry.attempt)
        if unit != known:
            spans.append([])
            known = unit
        spans[-1].append(item)
    return spans


def _opening(span: Sequence[Item]) -> list[str]:
    texts = []
    for item in span[:OPENING]:
        if _is_progress(item) or item.moment - span[0].moment > OPENING_TIME:
            break
        if not (item.failure or item.goes_on):  # a traceback is no greeting: one that was caught may come again later
            texts.append(mask(item.entry.text))
    return texts


def _is_progress(item: Item) -> bool:
    return any(signal.event in ("step", "checkpoint_saved", "training_done") for signal in item.signals)


def _learn(spans: Sequence[Sequence[Item]]) -> Openings:
    firsts: Counter[str] = Counter()
    early: Counter[str] = Counter()
    total = 0
    for span in spans:
        texts = _opening(span)
        if texts:
            total += 1
            firsts[texts[0]] += 1
            early.update(set(texts[1:]))
    # A text that stands further on in other openings is no first line: where it comes first, the true one was lost.
    first = {text for text, count in firsts.items() if count * 2 >= total and text not in early}
    return Openings(
        frozenset(first),
        frozenset(text for text, count in early.items() if count * 4 >= total),
        frozenset(text for text in first if firsts[text] >= 2),
    )


class _Span:
    """The lines of one replica on one VM, searched for starts.

    `alone`: the job has no other replica, so that its step counter cannot have gone on without it. `repeats`: places of
    starts of which nothing but the opening tells.
    """

    def __init__(self, items: Sequence[Item], openings: Openings, words: Sequence[int], *, alone: bool) -> None:
        self.items = items
        self.openings = openings
        self.alone = alone
        self.repeats: set[int] = set()
        self.repeated: list[Item] = []  # lines that are like a first one
        self.used: set[int] = set()  # words that a start was found for
        low = bisect_left(words, items[0].moment)
        self.words = words[low : bisect_right(words, items[-1].moment + WORD_DELAY)]

    def beginnings(self) -> list[int]:
        """Places of the lines that begin a further life."""
        marks = self._first_lines()
        starts = [self.items[at].place for at in marks]
        return starts + [self.items[at].place for at in self._without_first_line(marks)]

    def _first_lines(self) -> list[int]:
        heads = {text.partition("#")[0] for text in self.openings.first}  # masking leaves what stands before as it is
        begins = (*(heads - {""}), *(_MASKABLE if "" in heads else ()))
        hits = [
            at
            for at, item in enumerate(self.items)
            if item.entry.text.startswith(begins)
            if mask(item.entry.text) in self.openings.first
        ]
        if len(hits) > MOST_STARTS:
            return []
        self.repeated = [self.items[at] for at in hits]
        marks, previous = [], 0
        for at in hits:
            if at > 0 and self.items[at].moment - self.items[previous].moment >= SECOND and self._agreed(previous, at):
                marks.append(at)
                previous = at
        return marks

    def _agreed(self, previous: int, at: int) -> bool:
        """Whether something besides the line itself says that the container was started again."""
        between = self.items[previous + 1 : at]
        if any(item.failure or _says_end(item) for item in between):
            return True
        begun, now = self.items[previous].moment, self.items[at].moment
        word = next((word for word in self.words if begun < word <= now + WORD_DELAY and word not in self.used), None)
        if word is not None:
            self.used.add(word)
            return True
        if not self._is_repeated(at) or self._goes_on(between, at):
            return False
        if self._falls_back(between, at):
            return True
        opens = self._opens(previous, at)
        if opens:
            self.repeats.add(self.items[at].place)
        return opens

    def _is_repeated(self, at: int) -> bool:
        """Whether the line is the first one word for word, but for a time: one with another number is a counter's."""
        texts = {_unstamped(item.entry.text) for item in (self.items[0], *self.repeated[:1])}
        return _unstamped(self.items[at].entry.text) in texts

    def _opens(self, previous: int, at: int) -> bool:
        """Whether lines of the opening come again: they stood before this line, too, and not all at the same time."""
        pause = self.items[at].moment - self.items[previous].moment
        come = any(self._is_early(n) for n in range(previous + 1, min(at, previous + 1 + OPENING)))
        if pause < SAME_OPENING or (pause < OPENING_TIME and not come):
            return False
        following = self.items[at + 1 : at + 1 + OPENING]
        return any(mask(item.entry.text) in self.openings.early for item in following if not _is_progress(item))

    def _falls_back(self, between: Sequence[Item], at: int) -> bool:
        before, after = _last_step(between), _first_step(self.items[at:])
        return self._resumes(at) or (before is not None and after is not None and after < before)

    def _goes_on(self, between: Sequence[Item], at: int) -> bool:
        """Whether the step counter simply goes on, as it does where a program prints its first line again."""
        before, after = _last_step(between), _first_step(self.items[at:])
        if before is None or after is None or self._resumes(at):
            return False
        pause = self.items[at].moment - self.items[at - 1].moment
        return after > before and (self.alone or pause < 2 * SECOND)

    def _resumes(self, at: int) -> bool:
        for item in self.items[at : at + 40]:
            if any(signal.event == "checkpoint_restored" for signal in item.signals):
                return True
            if _is_progress(item):
                return False
        return False

    def _without_first_line(self, marks: Sequence[int]) -> list[int]:
        """Starts whose first line is missing: the service names an exit, and opening lines come without a start."""
        moments = [item.moment for item in self.items]
        starts = [moments[at] for at in marks]
        found: list[int] = []
        for word in self.words:
            if any(word - WORD_DELAY < start < word + OPENING_TIME for start in starts):
                continue
            low, high = bisect_left(moments, word - WORD_DELAY), bisect_right(moments, word + OPENING_TIME)
            at = next((n for n in range(max(low, 1), high) if self._is_early(n) and not self._is_regular(n)), None)
            if at is None or any(0 <= moments[at] - start < OPENING_TIME for start in (moments[0], *starts)):
                continue
            found.append(at - 1 if self._is_early(at - 1) else at)
            starts.append(moments[at])
        return found

    def _is_early(self, at: int) -> bool:
        text = mask(self.items[at].entry.text)
        return text in self.openings.early and not _is_progress(self.items[at]) and text not in self._chatter

    def _is_regular(self, at: int) -> bool:
        """Whether a line of the opening also comes where nothing begins or ends, as a monitor's does all the time."""
        return mask(self.items[at].entry.text) in self._regular

    @cached_property
    def _regular(self) -> frozenset[str]:
        begun = self.items[0].moment + OPENING_TIME
        first = self.words[0] - WORD_DELAY if self.words else begun
        between = (item for item in self.items if begun < item.moment < first)
        return frozenset(mask(item.entry.text) for item in between)

    @cached_property
    def _chatter(self) -> frozenset[str]:
        """Lines of the opening that come so often on this VM that they tell of no start."""
        counts = Counter(mask(item.entry.text) for item in self.items)
        return frozenset(text for text in self.openings.early if counts[text] > MOST_STARTS)


def _says_end(item: Item) -> bool:
    ends = ("container_exit", "container_succeeded", "stopped", "training_done")
    return any(signal.event in ends for signal in item.signals)


def _last_step(items: Sequence[Item]) -> int | None:
    return next((step for item in reversed(items) for step in _steps(item)), None)


def _first_step(items: Sequence[Item]) -> int | None:
    return next((step for item in items for step in _steps(item)), None)


def _steps(item: Item) -> list[int]:
    found = [step_of(signal.values) for signal in item.signals if signal.event == "step"]
    return [step for step in found if step is not None]
