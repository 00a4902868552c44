"""One pass over a text for all literals of the rulebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable

LiteralFinder = Callable[[str], set[int]]


def literal_finder(literals: Iterable[str]) -> LiteralFinder:
    """A function from a lower-cased text to the numbers of the literals that stand in it.

    Aho-Corasick where its wheel is there; else a plain search for each literal, with the same result.
    """
    words = list(literals)
    if not words:
        return lambda text: set()
    try:
        from ahocorasick_rs import AhoCorasick, Implementation
    except ImportError:
        return plain_finder(words)
    automaton = AhoCorasick(words, implementation=Implementation.ContiguousNFA)

    def find(text: str) -> set[int]:
        return {hit[0] for hit in automaton.find_matches_as_indexes(text, overlapping=True)}

    return find


def plain_finder(words: list[str]) -> LiteralFinder:
    """The same without a compiled engine."""
    return lambda text: {number for number, word in enumerate(words) if word in text}
