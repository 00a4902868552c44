"""Decompression by magic bytes, never by name, with bounds against bombs and tolerance for cut files."""

from __future__ import annotations

import importlib
import io
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, Protocol, cast

from analyzer.errors import DiagnoseError
from analyzer.model import Note

BUFFER = 1 << 18
RATIO_LIMIT = 2000
DEFLATE_LIMIT = 600
"""Repeated log lines compress up to some 300:1 by deflate, which never reaches more than 1032:1, and 1500:1 by zstd."""
RATIO_GRACE = 1 << 28  # a small bomb does no harm: below so many bytes the ratio is not looked at
ABSOLUTE_LIMIT = 1 << 40

_MAGIC = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ\x00", "xz"),
)
MAGIC_LENGTH = 6


class Decompressor(Protocol):
    """The part of the standard library's decompressor objects that is used here."""

    @property
    def eof(self) -> bool:
        """Whether the compressed stream has ended."""
        ...

    @property
    def unused_data(self) -> bytes:
        """Bytes after the end of the stream: a further one in concatenated files."""
        ...

    def decompress(self, data: bytes, max_length: int = ...) -> bytes:
        """At most `max_length` decompressed bytes; input beyond what they need is kept for the next call."""
        ...


class _Gzip:
    """`zlib`'s object with the manners of `bz2`'s: it keeps input that `max_length` left over."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int = 0) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


def compression_of(head: bytes) -> str | None:
    """The compression that the first bytes name; None for none that is known."""
    return next((name for magic, name in _MAGIC if head.startswith(magic)), None)


def decompressed(stream: BinaryIO, name: str, notes: list[Note]) -> BinaryIO:
    """The stream's content without its compression, be it nested; the stream itself where it has none.

    A cut or damaged stream gives what can be read, and a Note. Raises DiagnoseError for zstd without a decoder, and
    what the stream itself raises.
    """
    for _ in range(3):  # x.gz.gz happens; deeper nesting is a bomb
        buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, stream))
        kind = compression_of(buffered.peek(MAGIC_LENGTH)[:MAGIC_LENGTH])
        if kind is None:
            return cast(BinaryIO, buffered)
        raw = _Decompressing(cast(BinaryIO, buffered), kind, name, notes)
        stream = cast(BinaryIO, io.BufferedReader(raw, BUFFER))
    return stream


def _decoder(kind: str, name: str) -> Callable[[], Decompressor]:
    if kind == "gzip":
        return _Gzip
    if kind == "bzip2":
        from bz2 import BZ2Decompressor

        return BZ2Decompressor
    if kind == "xz":
        from lzma import LZMADecompressor

        return LZMADecompressor
    return _zstd_decoder(name)


def _zstd_decoder(name: str) -> Callable[[], Decompressor]:
    for module in ("compression.zstd", "backports.zstd"):  # the first from Python 3.14 on
        try:
            return cast(Callable[[], Decompressor], importlib.import_module(module).ZstdDecompressor)
        except ImportError:
            continue
    raise DiagnoseError(
        "this file is compressed with zstd, for which no decoder is installed",
        where=name,
        advice="install the extra: pip install 'training-job-analyzer[zstd]', or decompress it with `zstd -d`",
    )


class _Decompressing(io.RawIOBase):
    """A raw stream that decompresses another, member after member."""

    def __init__(self, stream: BinaryIO, kind: str, name: str, notes: list[Note]) -> None:
        self._stream, self._kind, self._name, self._notes = stream, kind, name, notes
        self._new = _decoder(kind, name)
        self._decoder = self._new()
        self._taken = self._given = 0
        self._begun = self._done = False

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer).cast("B")
        data = self._next(len(room))
        room[: len(data)] = data
        return len(data)

    def _next(self, size: int) -> bytes:
        data = b""
        while not self._done and not data:
            if self._decoder.eof and not self._next_member():
                break
            data = self._unpacked(b"", size) if self._begun else b""
            if not data and not self._done and not self._decoder.eof:
                data = self._more(size)
        return data

    def _more(self, size: int) -> bytes:
        chunk = self._stream.read(BUFFER)  # what fails here is the source and not the data: it is another's to note
        if not chunk:
            return self._stop("truncated", f"the {self._kind} data ends in the middle; what could be read was read")
        self._taken += len(chunk)
        self._begun = True
        return self._unpacked(chunk, size)

    def _unpacked(self, chunk: bytes, size: int) -> bytes:
        try:
            data = self._decoder.decompress(chunk, size)
        except _errors(self._kind) as error:
            return self._stop("damaged", f"the {self._kind} data is damaged ({error}); what stood before it was read")
        self._given += len(data)
        limit = DEFLATE_LIMIT if self._kind == "gzip" else RATIO_LIMIT
        too_dense = self._given > RATIO_GRACE and self._given > limit * self._taken
        if too_dense or self._given > ABSOLUTE_LIMIT:
            self._stop(
                "bomb", f"the {self._kind} data expands beyond any log ({self._given} bytes so far); reading stopped"
            )
        return data

    def _next_member(self) -> bool:
        rest = self._decoder.unused_data
        rest = rest or self._stream.read(BUFFER)
        if not rest.strip(b"\0"):  # zero padding after the last member is usual
            self._done = True
            return False
        if compression_of(rest.ljust(MAGIC_LENGTH)) != self._kind:
            self._stop("damaged", f"bytes after the end of the {self._kind} data were left out")
            return False
        self._decoder = self._new()
        self._begun = True
        self._taken += len(rest)
        self._stream = cast(BinaryIO, _Chained(rest, self._stream))
        self._begun = False
        return True

    def _stop(self, kind: str, text: str) -> bytes:
        self._done = True
        self._notes.append(Note(kind, text, self._name))
        return b""


class _Chained(io.RawIOBase):
    """Bytes that were read too far, followed by the rest of their stream."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = head, rest

    def read(self, size: int = -1) -> bytes:
        if self._head:
            head, self._head = self._head, b""
            return head
        return self._rest.read(size)

    def close(self) -> None:
        self._rest.close()
        super().close()


def _errors(kind: str) -> tuple[type[Exception], ...]:
    """What a decoder raises for damaged data, and its stream."""
    known = (OSError, EOFError, ValueError, zlib.error)
    if kind == "xz":
        from lzma import LZMAError

        return (*known, LZMAError)
    for module in ("compression.zstd", "backports.zstd") if kind == "zstd" else ():
        try:
            return (*known, cast(type[Exception], importlib.import_module(module).ZstdError))
        except ImportError:
            continue
    return known
