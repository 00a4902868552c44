"""Laws of stitching over generated lines."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from analyzer.model import SECOND, Entry, Instant, Message, Origin
from analyzer.stitch import message_of, stitch
from analyzer.stitch.clean import clean

PIECES = [
    "Traceback (most recent call last):", '  File "a.py", line 3, in f', "    go()", "    ~~^^", "KeyError: 'x'", "",
    " ", "RuntimeError: CUDA error: x", "CUDA kernel errors might be asynchronously reported", "frame #0: f() + 0x1",
    "\tat a.b.C(D.java:3)", "During handling of the above exception, another exception occurred:", "step 3 loss 0.1",
    "terminate called after throwing an x", "  what():  x", "Fatal Python error: Aborted",
    "Thread 0x1 (most recent call first):", '  File "b.py", line 1 in g', "-" * 60, "=" * 60, "fit.py FAILED",
    "mpirun detected that x", "usage: a [-h]", "a: error: b", "|" + "=" * 20 + "|", "| x |", "+----+",
    "╭─ Traceback (most recent call last) ─╮", "│ /a.py:3 in f │", "╰────╯",
    "  + Exception Group Traceback (most recent call last):", "  | ValueError: 1",
    "  +-+---------------- 1 ----------------", "ray.exceptions.RayTaskError(A): ray::f() (pid=3)",
    "Original Traceback (most recent call last):", '"""', "multiprocessing.pool.RemoteTraceback: ",
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ", "[  1.000001] python invoked oom-killer: x",
    "[  1.000002] Killed process 3 (python)", "[  1.000003] BUG: x", "[  1.000004] Call Trace:",
    "The replica ps 0 exited with a non-zero status of 1. The replica ps 1 ran out of memory and exited", "[rank1]: ",
    "0: ", "[1,2]<stderr>:x", "(A pid=3) y", "\x1b[31mred\x1b[0m", "1%\r2%",
    "E0330 21:13:34.807000 88120 a.py:1] ValueError: x", "2031-01-02T03:04:05Z ", "panic: x", "goroutine 1 [running]:",
    "*** SIGSEGV received at time=1", "    @     0x1  f",
    "a/bfc_allocator.cc:1] Allocator (G) ran out of memory trying to allocate 1", "x.py:1: UserWarning: y",
    "  warnings.warn()",
]  # fmt: skip
LINES = st.one_of(
    st.sampled_from(PIECES),
    st.text(max_size=40),
    st.tuples(st.sampled_from(PIECES), st.text(max_size=8)).map("".join),
)
BARE_PIECES = [piece for piece in PIECES if not piece.startswith(("[", "(", "0:", "20"))]


def numbered(entries: list[Entry]) -> list[Entry]:
    return [msgspec.structs.replace(entry, sequence=n) for n, entry in enumerate(entries)]


ENTRIES = st.lists(
    st.builds(
        Entry,
        text=st.lists(LINES, min_size=1, max_size=4).map("\n".join),
        origin=st.sampled_from([Origin.TEXT, Origin.REPLICA, Origin.SERVICE, Origin.NODE]),
        replica=st.sampled_from([None, "w0", "w1"]),
        rank=st.sampled_from([None, None, 0, 1]),
        time=st.sampled_from([None, *(Instant(seconds * SECOND) for seconds in (0, 0.001, 0.002, 3, 100))]),
    ),
    max_size=30,
).map(numbered)
STREAM = st.lists(LINES.filter(lambda line: "\n" not in line), max_size=30)


def sequences(messages: list[Message]) -> list[int]:
    return [entry.sequence for message in messages for entry in message.entries]


@given(ENTRIES)
def test_nothing_is_lost_or_doubled(entries: list[Entry]) -> None:
    """Every entry is in exactly one message, or its text is the excerpts of several."""
    found = stitch(entries)
    whole = [message for message in found if not message.excerpt]
    parts = [message for message in found if message.excerpt]
    split = {message.first.sequence for message in parts}
    assert sorted([*sequences(whole), *split]) == list(range(len(entries)))
    for number in split:
        assert "".join(part.excerpt for part in parts if part.first.sequence == number) == entries[number].text


@given(ENTRIES)
def test_order_is_that_of_first_entries(entries: list[Entry]) -> None:
    """Messages stand in the order of their first entries, and entries within a message in theirs."""
    found = stitch(entries)
    firsts = [message.first.sequence for message in found]
    assert firsts == sorted(firsts)
    assert all(sequences([message]) == sorted(sequences([message])) for message in found)


@given(STREAM, STREAM, st.randoms())
def test_interleaving_of_replicas_changes_nothing(one: list[str], two: list[str], random: object) -> None:
    """Two replicas' lines in any interleaving give the messages that each gives alone."""
    streams = {name: [Entry(text=line, replica=name, sequence=n) for n, line in enumerate(lines)]
               for name, lines in (("a", one), ("b", two))}  # fmt: skip
    alone = {name: stitch(entries) for name, entries in streams.items()}
    waiting = {name: list(entries) for name, entries in streams.items()}
    mixed = []
    while left := [name for name in sorted(waiting) if waiting[name]]:
        mixed.append(waiting[random.choice(left)].pop(0))  # type: ignore[attr-defined]
    together = stitch(mixed)
    for name in streams:
        assert [message for message in together if message.first.replica == name] == alone[name]


@given(st.lists(st.sampled_from(BARE_PIECES), max_size=30))
def test_prefixed_stream_reads_as_the_bare_one(lines: list[str]) -> None:
    """A rank's prefix on every line changes no message's clean text, kind or exceptions."""
    bare = stitch([Entry(text=line, sequence=n) for n, line in enumerate(lines)])
    prefixed = stitch([Entry(text=f"[rank5]: {line}", sequence=n) for n, line in enumerate(lines)])
    assert [(m.text, m.kind, m.exceptions) for m in prefixed] == [(m.text, m.kind, m.exceptions) for m in bare]


@given(st.text(), st.sampled_from(list(Origin)))
def test_any_text_is_a_message(text: str, origin: Origin) -> None:
    """No text makes it raise; a text with nothing to clean stays as it is."""
    assert message_of(text, origin).raw == text
    if text.isprintable() and "[" not in text:
        assert clean(text) == (None, text)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("\n".join), st.sampled_from([Origin.TEXT, Origin.SERVICE]))
def test_any_mixture_is_one_message(text: str, origin: Origin) -> None:
    """A bare text is one message of its one entry, whatever grammar it breaks."""
    assert message_of(text, origin).entries[0].text == text
