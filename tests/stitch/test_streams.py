"""Entries are joined within one stream only, and each is in exactly one message."""

from __future__ import annotations

import pytest

from analyzer.model import Entry, Message, Origin
from analyzer.stitch import message_of, stitch

TRACE = ["Traceback (most recent call last):", '  File "fit.py", line 9, in fit', "    go()", "KeyError: 'x'"]


def entries(lines: list[str], **values: object) -> list[Entry]:
    return [Entry(text=line, sequence=n, **values) for n, line in enumerate(lines)]  # type: ignore[arg-type]


def interleaved(*streams: list[Entry]) -> list[Entry]:
    return [entry for together in zip(*streams, strict=True) for entry in together]


def told(messages: list[Message]) -> list[tuple[str | None, str]]:
    return [(message.replica, message.text) for message in messages]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"replica": "worker-0"}, {"replica": "worker-1"}),
        ({"source": "a.log"}, {"source": "b.log"}),
        ({"replica": "w", "rank": 0}, {"replica": "w", "rank": 1}),
        ({"replica": "w", "origin": Origin.REPLICA}, {"replica": "w", "origin": Origin.SERVICE}),
        ({"replica": "w", "attempt": 1}, {"replica": "w", "attempt": 2}),
        ({"node": "n1"}, {"node": "n2"}),
        ({"replica": "w", "fields": {"container": "main"}}, {"replica": "w", "fields": {"container": "sidecar"}}),
    ],
)
def test_streams_are_kept_apart(one: dict[str, object], two: dict[str, object]) -> None:
    """Lines of different speakers are never joined, however they alternate."""
    found = stitch(interleaved(entries(TRACE, **one), entries(TRACE, **two)))
    assert [message.text for message in found] == ["\n".join(TRACE)] * 2


def test_one_replica_over_two_sources() -> None:
    """A replica's lines belong together although two files hold them."""
    first, second = entries(TRACE[:2], replica="w", source="a"), entries(TRACE[2:], replica="w", source="b")
    assert [len(message.entries) for message in stitch([*first, *second])] == [4]


@pytest.mark.parametrize(
    "prefixes",
    [("[rank0]: ", "[rank1]: "), ("[1,0]<stderr>:", "[1,1]<stderr>:"), ("0: ", "1: "), ("host-1: ", "host-2: "),
     ("(Worker pid=1) ", "(Worker pid=2) "), ("worker-0 | ", "worker-1 | ")],
)  # fmt: skip
def test_prefixes_keep_processes_apart(prefixes: tuple[str, str]) -> None:
    """Where a launcher names who writes, the lines of one stream come apart, and the prefix goes."""
    lines = [prefix + line for line in TRACE for prefix in prefixes]
    assert [message.text for message in stitch(entries(lines, source="out"))] == ["\n".join(TRACE)] * 2


def test_rank_comes_from_the_prefix() -> None:
    """A message's rank is the one that its prefix names, else the entry's."""
    found = stitch([Entry(text="[rank3]: x", rank=1), Entry(text="y", rank=1), Entry(text="z")])
    assert [message.rank for message in found] == [3, 1, None]


def test_labels_in_part_of_a_source() -> None:
    """srun's labels count in the step's part of a file; the lines of the batch script around them are their own."""
    labelled = [f"{n}: {line}" for line in TRACE for n in (0, 1)]
    lines = ["starting the step", "modules loaded", *labelled, "srun: error: task 0"]
    found = stitch(entries(lines, source="slurm.out"))
    assert [message.rank for message in found] == [None, None, 0, 1, None]


def test_messages_stand_in_the_order_of_their_first_entries() -> None:
    """A message that takes long to end stands where it began."""
    lines = [TRACE[0], "between", *TRACE[1:], "after"]
    assert [message.text for message in stitch(entries(lines))] == ["\n".join(TRACE), "between", "after"]


def test_blank_lines_inside_belong_and_outside_stand_alone() -> None:
    """A blank line is part of a message if more of it follows, and else is nobody's."""
    chain = [*TRACE, "", "During handling of the above exception, another exception occurred:", "", *TRACE]
    found = stitch(entries([*chain, "", "next"]))
    assert [message.text for message in found] == ["\n".join(chain), "", "next"]


def test_raw_is_verbatim() -> None:
    """A message's raw text is what the input has, prefixes and colours included."""
    lines = [f"\x1b[31m[rank2]: {line}\x1b[0m" for line in TRACE]
    (found,) = stitch(entries(lines))
    assert (found.raw, found.text) == ("\n".join(lines), "\n".join(TRACE))


@pytest.mark.parametrize("kind", ["event", "container", "pod", "job"])
def test_structured_entries_stand_alone(kind: str) -> None:
    """Events and descriptions are messages by themselves."""
    events = entries(["Traceback (most recent call last):", '  File "a.py", line 1, in f'], fields={"kind": kind})
    assert [len(message.entries) for message in stitch(events)] == [1, 1]


def test_message_of_takes_prefixes_off() -> None:
    """A bare text is cleaned as a stream's lines are."""
    found = message_of("\n".join(f"[rank1]: {line}" for line in TRACE))
    assert (found.rank, found.text, found.kind) == (1, "\n".join(TRACE), "traceback")


def test_message_of_keeps_fields_and_origin() -> None:
    """The one entry of a bare text's message is what was given."""
    found = message_of("OOMKilled", origin=Origin.STATUS, fields={"kind": "container", "exit_code": 137})
    assert (found.origin, found.first.fields["exit_code"], found.text) == (Origin.STATUS, 137, "OOMKilled")


def test_nothing_gives_nothing() -> None:
    """No entries, no messages; an empty text is an empty message."""
    assert stitch([]) == []
    assert [message.text for message in stitch([Entry(text=""), Entry(text="\n")])] == ["", ""]
