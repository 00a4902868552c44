"""Sifting and merging: any partition of the input, in any order, is the same job."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.entries import Partials, assemble, merge, sift, thin
from analyzer.entries.sift import entries_in
from analyzer.model import Entry, Instant, JobKey, Origin
from analyzer.rulebook.cache import load_rulebook
from analyzer.rulebook.telling import telling

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


def test_endless_lines_out_of_order_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a shuffled log all is kept up to a limit; beyond it what tells something, and a line of every ten minutes."""
    monkeypatch.setattr(thin, "MOST_OUT_OF_ORDER", 1000)
    numbers = list(range(20_000))
    random.Random(1).shuffle(numbers)
    job = JobKey("vertex", "p", "7")
    begin = Instant.parse("2026-03-11T00:00:00Z") or Instant(0)
    texts = {number: "KeyError: 'depth'" if number == 15_000 else f"step {number} loss 0.5" for number in numbers}
    entries = [
        Entry(text=texts[n], time=begin.plus(n * 4), insert_id=f"i{n}", origin=Origin.REPLICA, replica="w", job=job)
        for n in numbers
    ]
    (partial,) = sift(entries, telling(load_rulebook())).values()
    kept = partial.in_order()
    assert len(kept) < 5000
    assert "KeyError: 'depth'" in {entry.text for entry in kept}
    assert {str(entry.time)[:15] for entry in kept} == {str(entry.time)[:15] for entry in entries}
    assert entries_in(kept) == len(entries)
