"""One pass over texts for all literals of the rulebook.

The engine looks for the beginnings of the literals, since an automaton of some thousand short words is built in a
millisecond or two and stays in the processor's cache; where one stands, the whole literals are compared.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

BEGINNING = 10
"""So many bytes of each literal the automaton knows. Shorter beginnings are found in vain far more often."""

Hits = Callable[[bytes], list[tuple[int, int, int]]]
"""From bytes to the places where a beginning stands: its number, start and end."""


class LiteralFinder:
    """Finds literals in lower-cased texts. Aho-Corasick where its wheel is there; else a plain search for each."""

    def __init__(self, literals: Iterable[str]) -> None:
        self._words = [literal.encode("utf-8", "surrogatepass") for literal in literals]
        beginnings: dict[bytes, list[int]] = {}
        for number, word in enumerate(self._words):
            beginnings.setdefault(word[:BEGINNING], []).append(number)
        self._sharing = list(beginnings.values())
        self._hits = _engine(list(beginnings))

    def by_text(self, texts: Sequence[str]) -> dict[int, set[int]]:
        """For each lower-cased text that literals stand in, by its number, the numbers of those literals."""
        found: dict[int, set[int]] = {}
        words = self._words
        whole, ends = _joined(texts)
        for beginning, start, _ in self._hits(whole):
            for number in self._sharing[beginning]:
                if whole.startswith(words[number], start):
                    found.setdefault(bisect_right(ends, start), set()).add(number)
        return found

    def in_texts(self, texts: Sequence[str]) -> set[int]:
        """The numbers of the lower-cased texts that one of the literals stands in."""
        words, found = self._words, set()
        whole, ends = _joined(texts)
        over = 0  # behind the last text that is known to hold one
        for beginning, start, _ in self._hits(whole):
            if start >= over and any(whole.startswith(words[number], start) for number in self._sharing[beginning]):
                number = bisect_right(ends, start)
                found.add(number)
                over = ends[number]
        return found


def _joined(texts: Sequence[str]) -> tuple[bytes, list[int]]:
    """The texts as one, parted by a byte that UTF-8 never has, and where each ends."""
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    return b"\xff".join(parts), list(accumulate(len(part) + 1 for part in parts))


def _engine(words: list[bytes]) -> Hits:
    if not words:
        return lambda whole: []
    try:
        from ahocorasick_rs import BytesAhoCorasick, Implementation
    except ImportError:
        return lambda whole: plain_hits(words, whole)
    automaton = BytesAhoCorasick(words, implementation=Implementation.ContiguousNFA)
    return lambda whole: automaton.find_matches_as_indexes(whole, overlapping=True)


def plain_hits(words: Sequence[bytes], whole: bytes) -> list[tuple[int, int, int]]:
    """The same without a compiled engine, in the order of the ends."""
    found = []
    for number, word in enumerate(words):
        start = whole.find(word)
        while start >= 0:
            found.append((number, start, start + len(word)))
            start = whole.find(word, start + 1)
    return sorted(found, key=lambda hit: (hit[2], hit[1]))
