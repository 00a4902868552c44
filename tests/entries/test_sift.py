"""Sifting and merging: any partition of the input, in any order, is the same job."""

from __future__ import annotations

import io
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.entries import Partials, Room, assemble, merge, room, sift, sift_source, thin
from analyzer.entries.sift import entries_in
from analyzer.model import Entry, Instant, JobKey, Origin
from analyzer.rulebook.cache import load_rulebook
from analyzer.rulebook.telling import telling
from analyzer.sources import Source

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


def test_long_texts_of_all_sources_share_one_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond so much of long texts their middle is lost, begin and end stay, a note counts them; short ones stay."""
    monkeypatch.setattr(room, "MOST", 50_000)
    content = b"".join(b"KeyError: %d begin %s end %d\n" % (n, b"x" * 9_000, n) for n in range(20))
    tells, space, notes = telling(load_rulebook()), Room(), []
    kept = [
        partial
        for name in ("one", "two")
        for partial in sift_source(Source(name, lambda: io.BytesIO(content + b"short\n")), notes, tells, space).values()
    ]
    texts = [entry.text for partial in kept for entry in partial.in_order()]
    assert sum(len(text) > room.LONG + 1 for text in texts) == 5
    assert [(note.kind, note.source, note.count) for note in notes] == [
        ("too_large", "one", 15),
        ("too_large", "two", 20),
    ]
    assert all(text.startswith("KeyError") and text[-1].isdigit() for text in texts if text != "short")
    assert texts.count("short") == 2


def test_one_text_is_bounded() -> None:
    """Of a text of megabytes a megabyte is kept."""
    text = "begin " + "x" * (3 << 20) + " end"
    (partial,) = sift([Entry(text=text, origin=Origin.SERVICE)], telling(load_rulebook())).values()
    (entry,) = partial.in_order()
    assert len(entry.text) <= room.LONGEST + 1
    assert entry.text.startswith("begin")
    assert entry.text.endswith("end")


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines wait for something telling only as far as there is room for their text; all are counted."""
    monkeypatch.setattr(thin, "MOST_WAITING", 100_000)
    made = [Entry(text=f"step {n} " + "x" * 9_000, origin=Origin.TEXT, source="a", line=n) for n in range(300)]
    told = [*made, Entry(text="KeyError: 'depth'", origin=Origin.TEXT, source="a", line=300)]
    (partial,) = sift(told, telling(load_rulebook())).values()
    kept = partial.in_order()
    assert 0 < sum(200 <= entry.line < 300 for entry in kept) <= 100_000 // 9_000
    assert entries_in(kept) == len(told)
