"""The bytes of a source as the readers want them: UTF-8, with a look at the head, in chunks or in bounded lines."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Iterator
from typing import BinaryIO, Protocol

from analyzer.formats.reading import Reading
from analyzer.model import Entry
from analyzer.sources.magic import ZIP_MAGIC, is_tar

HEAD = 1 << 16
"""How much of a source is looked at to recognise its form (bytes)."""
CHUNK = 1 << 17
PIECE = 1 << 18
"""A physical line longer than this (bytes) is given in pieces, so that memory stays bounded."""

_VAIN = 100_000
"""How many lines may be put back before that is weighed against the lines that were read."""

Line = tuple[int, bytes]
PARQUET, AVRO = b"PAR1", b"Obj\x01"
"""What tables in these forms begin with; their bytes are given as they are."""
_BINARY = (
    b"\x7fELF",
    b"\x89PNG",
    b"%PDF",
    b"\xff\xd8\xff",
    b"GIF8",
    b"SQLite format 3",
    b"\x93NUMPY",
    b"\x80\x04\x95",
)
_TEXT_CONTROLS = frozenset(b"\t\n\r\x0b\x0c\x1b\b\x07\0")


class Stream:
    """A source's bytes, converted to UTF-8, whose head can be looked at before it is read.

    `line` is the number of the line that comes next.
    """

    def __init__(self, raw: BinaryIO, reading: Reading) -> None:
        self._raw, self._reading = raw, reading
        self._decoder: codecs.IncrementalDecoder | None = None
        self._ended = False
        first = self._fill(b"", HEAD)
        packed = first.startswith((PARQUET, AVRO))
        self._decoder, skip = (None, 0) if packed else _decoder_for(first, self._ended)
        self.head = self._utf8(first[skip:])
        self.line = 1

    @classmethod
    def of(cls, head: bytes, chunks: Iterator[bytes], line: int, reading: Reading) -> Stream:
        """A stream that goes on where another reader stopped: behind these bytes with these chunks of UTF-8."""
        return _Rest(head, chunks, line, reading)

    @property
    def complete(self) -> bool:
        """Whether the head is all there is."""
        return self._ended

    @property
    def is_binary(self) -> bool:
        """Whether the head is no text at all."""
        head = self.head
        if head.startswith((PARQUET, AVRO)):
            return False
        if head.startswith(_BINARY):
            return True
        sample = head[:4096]
        odd = sum(1 for byte in sample if byte < 32 and byte not in _TEXT_CONTROLS)
        return odd * 20 > len(sample) > 0

    @property
    def is_archive(self) -> bool:
        """Whether it is an archive that the sources did not open."""
        return self.head.startswith(ZIP_MAGIC) or is_tar(self.head)

    @property
    def file(self) -> BinaryIO | None:
        """The source itself where it can be read at any place, from its start on; None for one that flows by."""
        return self._raw if self._raw.seekable() and self._raw.tell() == len(self.head) else None

    def drop(self, size: int) -> bytes:
        """Takes bytes off the head, so that reading begins behind them."""
        taken, self.head = self.head[:size], self.head[size:]
        self.line += taken.count(b"\n")
        return taken

    def chunks(self) -> Iterator[bytes]:
        """Everything, in chunks of no settled size."""
        for start in range(0, len(self.head), CHUNK):
            yield self.head[start : start + CHUNK]
        self.head = b""
        while not self._ended:
            data = self._fill(b"", CHUNK)
            if data:
                yield self._utf8(data)
        if self._decoder is not None:
            rest = self._decoder.decode(b"", final=True)
            if rest:
                yield rest.encode("utf-8", "replace")

    def lines(self) -> Iterator[Line]:
        """Every line with its number, without its end; over-long lines in pieces that share a number."""
        number, rest = self.line, b""
        for chunk in self.chunks():
            parts = (rest + chunk).split(b"\n") if b"\n" in chunk else [rest + chunk]
            rest = parts.pop()
            for part in parts:
                yield from self._pieces(number, part.removesuffix(b"\r"))
                number += 1
            while len(rest) >= 2 * PIECE:
                cut = _cut(rest)
                self._reading.note("long_line", f"lines of more than {PIECE // 1024} KiB were read in pieces", number)
                yield number, rest[:cut]
                rest = rest[cut:]
        if rest:
            yield number, rest.removesuffix(b"\r")

    def _pieces(self, number: int, line: bytes) -> Iterator[Line]:
        while len(line) >= 2 * PIECE:
            cut = _cut(line)
            yield number, line[:cut]
            line = line[cut:]
        yield number, line

    def _fill(self, data: bytes, size: int) -> bytes:
        parts = [data]
        left = size - len(data)
        while left > 0 and not self._ended:
            part = self._raw.read(left)
            if not part:
                self._ended = True
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def _utf8(self, data: bytes) -> bytes:
        return data if self._decoder is None else self._decoder.decode(data).encode("utf-8", "replace")


class _Rest(Stream):
    """The rest of a stream that another reader began to read."""

    def __init__(self, head: bytes, chunks: Iterator[bytes], line: int, reading: Reading) -> None:
        self._chunks, self._reading = chunks, reading
        self.head, self.line = head, line

    def chunks(self) -> Iterator[bytes]:
        yield self.head
        yield from self._chunks


class Lines:
    """Lines that can be looked at before they are taken."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._ahead: deque[Line] = deque()
        self._given = self._returned = 0

    def peek(self, distance: int = 0) -> bytes | None:
        """The line so many lines ahead, without taking it; None behind the end."""
        while len(self._ahead) <= distance:
            line = next(self._lines, None)
            if line is None:
                return None
            self._ahead.append(line)
        return self._ahead[distance][1]

    def __iter__(self) -> Iterator[Line]:
        return self

    def __next__(self) -> Line:
        self._given += 1
        return self._ahead.popleft() if self._ahead else next(self._lines)

    def back(self, lines: list[Line]) -> None:
        """Puts lines back, so that they come next."""
        self._ahead.extendleft(reversed(lines))
        self._returned += len(lines)

    @property
    def may_look_ahead(self) -> bool:
        """Whether looking far ahead in vain has cost no more than reading itself, so that all work stays linear."""
        return self._returned <= _VAIN + 2 * (self._given - self._returned)


class ReadText(Protocol):
    """Reads lines of text that begins with `head`; `after` is the entry that stands before them, if any."""

    def __call__(self, lines: Lines, head: str, reading: Reading, after: Entry | None = None) -> Iterator[Entry]:
        """The entries of the lines."""
        ...


def numbered(text: bytes, line: int) -> Iterator[Line]:
    """The lines of a text with their numbers, of which the first is given."""
    for number, part in enumerate(text.split(b"\n"), line):
        yield number, part.removesuffix(b"\r")


def text_of(line: bytes, reading: Reading, number: int) -> str:
    """A line as text. Broken UTF-8 and NUL bytes are replaced or left out, and noted."""
    if b"\0" in line:
        reading.note("nul_bytes", "NUL bytes in lines were left out", number)
        line = line.replace(b"\0", b"")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        reading.note("encoding", "lines that are not valid UTF-8 were read with replacement characters", number)
        return line.decode("utf-8", "replace")


def _cut(line: bytes) -> int:
    """Where to cut an over-long line: at the last carriage return of a progress bar, else before a whole character."""
    cut = line.rfind(b"\r", 1, PIECE)
    if cut > 0:
        return cut
    cut = PIECE
    while line[cut] & 0xC0 == 0x80 and cut > PIECE - 4:
        cut -= 1
    return cut


def _decoder_for(first: bytes, complete: bool) -> tuple[codecs.IncrementalDecoder | None, int]:
    """A decoder for what is not UTF-8, and the length of the byte order mark."""
    for mark, name in ((codecs.BOM_UTF8, ""), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
                       (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):  # fmt: skip
        if first.startswith(mark):
            return (codecs.getincrementaldecoder(name)("replace") if name else None), len(mark)
    sample = first[:512]
    if len(sample) >= 8:
        if sample[1::2].count(0) > len(sample) * 0.4 and not sample[::2].count(0):
            return codecs.getincrementaldecoder("utf-16-le")("replace"), 0
        if sample[::2].count(0) > len(sample) * 0.4 and not sample[1::2].count(0):
            return codecs.getincrementaldecoder("utf-16-be")("replace"), 0
    try:
        codecs.getincrementaldecoder("utf-8")().decode(first, final=complete)
    except UnicodeDecodeError:
        if _is_windows_text(first):
            return codecs.getincrementaldecoder("cp1252")("replace"), 0
    return None, 0


def _is_windows_text(first: bytes) -> bool:
    """Whether text with bytes beyond ASCII is of a one-byte encoding: no sequence of UTF-8 in it makes sense."""
    replaced = first.decode("utf-8", "replace")
    valid = sum(1 for character in replaced if ord(character) > 127 and character != "\ufffd")
    return valid == 0 and replaced.count("\ufffd") < len(first) * 0.3
