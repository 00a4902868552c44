"""Cuts a stream of JSON text into its values without decoding them: array elements, and objects one after another.

Works on chunks of any size, on pretty and on compact text, with and without commas, and knows when the text ends
within a value. No recursion, so depth costs nothing; every byte is looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from itertools import islice

import msgspec

VALUE_LIMIT = 1 << 26
"""A single value larger than this (bytes) is skipped. Entries end at 256 KiB, but a list of pods may be long."""

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]|"', re.DOTALL)
_STRING_REST = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_BOUNDARY = re.compile(rb"\}(?=,? ?\n?\{)")
_TRIES = 3
_NEAR = 1 << 14
_BETWEEN = re.compile(rb"[ \t\r\n,\x1e\xef\xbb\xbf]*+")  # also RFC 7464's record separator and a byte order mark
_BRACKETS = re.compile(rb"[\[\]]++")

Piece = tuple[str, int, bytes]


class Splitter:
    """Feeds on chunks and gives each object at the top level or within a top-level array.

    A piece is (`value`, line number, bytes); a line between values that is no JSON comes as (`text`, line number,
    bytes). `too_large` counts the values beyond VALUE_LIMIT that were skipped.
    """

    def __init__(self, line: int = 1) -> None:
        self._buffer = bytearray()
        self._line = line
        self._start = 0  # where the value (or what stands between values) begins in the buffer
        self._at = 0  # how far the buffer was scanned
        self._depth = 0
        self._in_string = False
        self._in_array = False
        self._skipping = False
        self.too_large = 0

    @property
    def in_array(self) -> bool:
        """Whether the text so far ends within a top-level array."""
        return self._in_array

    @property
    def inside(self) -> bool:
        """Whether the text so far ends within a value or an array."""
        return self._depth > 0 or self._in_array

    def feed(self, chunk: bytes) -> Iterator[Piece]:
        """The pieces that end within this chunk."""
        self._buffer += chunk
        self._start = 0
        while True:
            if self._depth == 0 and not (yield from self._next_value()):
                return
            end = self._quick_end() if self._at == self._start else -1
            if end < 0:
                end = self._end_of_value()
            if end < 0:
                del self._buffer[: self._start]
                self._at -= self._start
                self._start = 0
                self._bound()
                return
            line = self._line
            value = bytes(memoryview(self._buffer)[self._start : end])
            self._line += value.count(b"\n")
            self._start = end
            if self._skipping:
                self._skipping = False
            else:
                yield "value", line, value

    def rest(self) -> tuple[int, bytes]:
        """What is left behind the last whole value, and the line where it begins."""
        return self._line, bytes(self._buffer[self._start :])

    def _next_value(self) -> Generator[Piece, None, bool]:
        """Moves to the next value's `{`; False where the buffer holds none (what was passed is then dropped)."""
        buffer = self._buffer
        while True:
            found = _BETWEEN.match(buffer, self._start)
            end = found.end() if found else self._start
            self._line += buffer.count(b"\n", self._start, end)
            self._start = end
            first = bytes(buffer[end : end + 1])
            if first == b"{":
                self._at = end
                return True
            if first in (b"[", b"]"):
                brackets = _BRACKETS.match(buffer, end)
                self._start = brackets.end() if brackets else end + 1
                self._in_array = bytes(buffer[self._start - 1 : self._start]) == b"["
                continue
            newline = buffer.find(b"\n", end)
            if newline < 0:
                del buffer[:end]
                self._start = 0
                self._bound_text()
                return False
            text = bytes(buffer[end:newline])
            self._start = newline
            yield "text", self._line, text

    def _quick_end(self) -> int:
        """The end of the value that begins here, where it is written as programs write it; -1 where that is not plain.

        A line with the brace alone, as far in as the one that opened, ends a value of pretty print; a brace before the
        next one ends a value of compact print. That the text up to there is a whole JSON value proves it.
        """
        buffer, start = self._buffer, self._start
        if bytes(buffer[start + 1 : start + 2]) in (b"\n", b"\r"):
            column = start - buffer.rfind(b"\n", 0, start) - 1
            ends = (found + column + 2 for found in (buffer.find(b"\n" + b" " * column + b"}", start),) if found >= 0)
        else:
            ends = (found.end() for found in islice(_BOUNDARY.finditer(buffer, start, start + _NEAR), _TRIES))
        for end in ends:
            try:
                msgspec.json.decode(bytes(memoryview(buffer)[start:end]), type=msgspec.Raw)
            except (msgspec.DecodeError, RecursionError):
                continue
            return end
        return -1

    def _end_of_value(self) -> int:
        """The end of the value that is being scanned; -1 where it does not end in this buffer."""
        buffer, position, depth = self._buffer, self._at, self._depth
        if self._in_string:
            position = self._end_of_string(position)
            if position < 0:
                return -1
        for token in _TOKEN.finditer(buffer, position):
            first = buffer[token.start()]
            if first == 0x22:
                if token.end() - token.start() == 1:  # a string that does not end in this buffer
                    self._depth, self._in_string = depth, True
                    return self._end_of_string(token.end())
            elif first in b"{[":
                depth += 1
            else:
                depth -= 1
                if depth == 0:
                    self._depth = 0
                    return token.end()
            position = token.end()
        self._at, self._depth = len(buffer), depth
        return -1

    def _end_of_string(self, position: int) -> int:
        found = _STRING_REST.match(self._buffer, position)
        end = found.end() if found else position
        if self._buffer[end : end + 1] == b'"':
            self._in_string = False
            return end + 1
        self._at = end
        return -1

    def _bound(self) -> None:
        if len(self._buffer) <= VALUE_LIMIT and not self._skipping:
            return
        if not self._skipping:
            self._skipping = True
            self.too_large += 1
        self._line += self._buffer.count(b"\n", 0, self._at)
        del self._buffer[: self._at]
        self._at = 0

    def _bound_text(self) -> None:
        if len(self._buffer) > VALUE_LIMIT:  # a line without end that is no JSON
            self.too_large += 1
            self._buffer.clear()
