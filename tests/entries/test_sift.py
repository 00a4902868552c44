"""Sifting and merging: any partition of the input, in any order, is the same job."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from analyzer.entries import Partials, assemble, merge, sift
from analyzer.model import Entry, Instant, JobKey

KEYS = [JobKey("vertex", "p", "1"), JobKey("vertex", "p", "2"), None]

entries = st.builds(
    Entry,
    text=st.text(max_size=5),
    time=st.integers(0, 5).map(Instant),
    insert_id=st.sampled_from(["a", "b", "c", ""]),
    job=st.sampled_from(KEYS),
    source=st.sampled_from(["x.json", "y.json"]),
    line=st.integers(1, 4),
)


def content(partials: Partials) -> object:
    return {key: (partial.doubled, partial.in_order()) for key, partial in partials.items()}


@given(st.lists(entries, max_size=30), st.integers(0, 30), st.randoms())
def test_any_partition_merges_to_the_same(all_entries: list[Entry], cut: int, chance: random.Random) -> None:
    """merge(sift(a), sift(b)) is sift(a + b), whichever way the entries are parted and ordered."""
    whole = content(sift(all_entries))
    shuffled = all_entries[:]
    chance.shuffle(shuffled)
    assert content(merge(sift(shuffled[:cut]), sift(shuffled[cut:]))) == whole


@given(st.lists(entries, max_size=12), st.lists(entries, max_size=12), st.lists(entries, max_size=12))
def test_merge_is_associative_and_commutative(a: list[Entry], b: list[Entry], c: list[Entry]) -> None:
    """The order in which parts are merged does not matter."""
    one, two, three = sift(a), sift(b), sift(c)
    assert content(merge(merge(one, two), three)) == content(merge(one, merge(two, three)))
    assert content(merge(one, two)) == content(merge(two, one))


@given(st.lists(entries, max_size=20))
def test_doubling_adds_no_entry(some: list[Entry]) -> None:
    """The same input given twice has the same entries."""
    once, twice = assemble(sift(some))[0], assemble(sift(some + some))[0]
    assert once == twice
