"""Memory stays bounded whatever the size of a source, of a line, or of a value."""

from __future__ import annotations

import io
import json
import tracemalloc
from itertools import chain, repeat

import pytest
from forms import FORMS

from analyzer.entries import sift_source
from analyzer.formats import read_source
from analyzer.rulebook.cache import load_rulebook
from analyzer.rulebook.telling import telling
from analyzer.sources import Source

MIB = 1 << 20
LINE = (FORMS / "logentry_ndjson/sink.ndjson").read_bytes().splitlines(keepends=True)[1]


class Endless(io.RawIOBase):
    """Gives a begin, then a pattern over and over, then an end, without holding it all."""

    def __init__(self, begin: bytes, pattern: bytes, times: int, end: bytes = b"") -> None:
        self._parts = chain([begin], repeat(pattern, times), [end])
        self._rest = b""

    def readable(self):
        return True

    def readinto(self, buffer):
        part = self._rest or next((part for part in self._parts if part), b"")
        given, self._rest = part[: len(buffer)], part[len(buffer) :]
        buffer[: len(given)] = given
        return len(given)


def peak(begin: bytes, pattern: bytes, times: int, end: bytes = b"") -> tuple[int, int]:
    """How many entries such a source gives, and the memory that reading it takes at most (bytes)."""
    source = Source("big", lambda: io.BufferedReader(Endless(begin, pattern, times, end), 1 << 18))
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_source(source, []))
        return count, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("begin", "pattern", "end"),
    [
        (b"", LINE * 100, b""),
        (b"[", LINE.rstrip() + b",", b"{}]"),
        (b"[\n", json.dumps(json.loads(LINE), indent=2).encode() + b",\n", b"{}]"),
        (b"---\n", (FORMS / "logentry_yaml/read.yaml").read_bytes(), b""),
        (b"step\n", b"step 10 of training" + b"." * 200 + b"\n", b""),
        (b"step\n", b"step without a line's end " * 1000, b""),
        (b"step\n", b"\r 10%|#         | 10/100 [00:01<00:09]" * 1000, b""),
    ],
    ids=["ndjson", "compact array", "pretty array", "yaml", "text", "endless line", "progress bar"],
)
def test_stream_is_read_in_bounded_memory(begin, pattern, end):
    """The size of a source does not matter: three MiB of any form take less than two and a half."""
    size = MIB if begin == b"---\n" else 3 * MIB  # YAML is slow
    count, most = peak(begin, pattern, size // len(pattern), end)
    assert count > 10
    assert most < 2.5 * MIB


def test_line_of_a_hundred_megabytes_is_skipped_in_bounded_memory():
    """A JSON line that is larger than any entry costs itself only (here twenty MiB, beyond the limit of sixteen)."""
    begin = LINE + b'{"insertId":"x","logName":"projects/p/logs/l","textPayload":"'
    count, most = peak(begin, b"x" * (MIB // 16), 20 * 16, b'"}\n' + LINE)
    assert count == 2
    assert most < 64 * MIB


def test_what_is_kept_of_an_endless_line_is_bounded():
    """Of the pieces of a long line no more are held than may still be kept, whatever its length."""
    source = Source("line", lambda: io.BufferedReader(Endless(b"", b"x" * MIB, 48)))
    tracemalloc.start()
    try:
        (partial,) = sift_source(source, [], telling(load_rulebook())).values()
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    kept = sum(len(entry.text) for entry in partial.entries.values())
    assert kept <= 100 * MIB // 4
    assert most < 36 * MIB


def test_progress_bar_is_cut_at_its_states():
    """An over-long line of a progress bar is cut where the bar begins anew."""
    source = Source("bar", lambda: io.BufferedReader(Endless(b"x\n", b"\r 10%|#    | 10/100" * 1000, 40)))
    pieces = [entry for entry in read_source(source, []) if entry.line == 2]
    assert len(pieces) > 1
    assert all(entry.text.startswith("\r 10%") for entry in pieces)
