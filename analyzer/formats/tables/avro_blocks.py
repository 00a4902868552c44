"""Avro's object container: its description and its blocks, which fastavro would unpack whatever their size.

https://avro.apache.org/docs/1.12.0/specification/#object-container-files. BigQuery packs blocks by DEFLATE, Snappy, or
not at all: https://cloud.google.com/bigquery/docs/exporting-data.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from analyzer.formats.stream import AVRO, Stream
from analyzer.formats.tables.rows import Rows

BLOCK_LIMIT = 64 << 20
"""A block (usually 16 to 64 KiB) beyond this (bytes, also unpacked) is left out."""
_HEADER_LIMIT = 8 << 20
_SYNC, _CHECKSUM = 16, 4


class Bytes:
    """The bytes of a source, of which so many are taken; EOFError where there are fewer."""

    def __init__(self, stream: Stream) -> None:
        self._chunks = stream.chunks()
        self._held = bytearray()
        self.taken = 0

    def take(self, size: int) -> bytes:
        """The next bytes. The rest stays where there are not so many."""
        while len(self._held) < size:
            if not self._more():
                raise EOFError
        taken = bytes(self._held[:size])
        del self._held[:size]
        self.taken += size
        return taken

    def rest(self) -> bytes:
        """What is left behind `take` having failed."""
        return self.take(len(self._held))

    def long(self) -> int:
        """A whole number of Avro's: zigzag, seven bits a byte."""
        number = 0
        for shift in range(0, 70, 7):
            (byte,) = self.take(1)
            number |= (byte & 127) << shift
            if byte < 128:
                return (number >> 1) ^ -(number & 1)
        raise ValueError("no number")

    @property
    def at_end(self) -> bool:
        """Whether nothing is left."""
        return not self._held and not self._more()

    def skip_past(self, mark: bytes) -> bool:
        """Goes behind the next occurrence of a mark; False where there is none."""
        while (found := self._held.find(mark)) < 0:
            self.take(max(0, len(self._held) - len(mark) + 1))
            if not self._more():
                return False
        self.take(found + len(mark))
        return True

    def _more(self) -> bool:
        chunk = next(self._chunks, b"")
        self._held += chunk
        return bool(chunk)


class Header(NamedTuple):
    """What stands before the blocks: the schema as it is written, how blocks are packed, and the mark behind each."""

    schema: Any
    codec: str
    sync: bytes


class Block(NamedTuple):
    """Rows as they are packed; `cut` where the source ends within them."""

    rows: int
    data: bytes
    cut: bool


def header_of(source: Bytes) -> Header:
    """What stands before the blocks.

    Raises:
        ValueError: if it is none.
        EOFError: if the source ends within it.
    """
    source.take(len(AVRO))
    values: dict[bytes, bytes] = {}
    while count := source.long():
        if count < 0:
            source.long()  # the size of this part of the map
        for _ in range(abs(count)):
            key = source.take(_bounded(source))
            values[key] = source.take(_bounded(source))
    sync = source.take(_SYNC)
    schema = msgspec.json.decode(values.get(b"avro.schema", b""))
    return Header(schema, values.get(b"avro.codec", b"null").decode("utf-8", "replace"), sync)


def _bounded(source: Bytes) -> int:
    size = source.long()
    if not 0 <= size <= _HEADER_LIMIT - source.taken:
        raise ValueError("a description beyond any table's")
    return size


def blocks_of(source: Bytes, sync: bytes, rows: Rows, place: Callable[[], int]) -> Iterator[Block]:
    """The blocks. Behind a damaged one reading goes on at the next mark; `place` is where notes say that it was."""
    while True:
        count, data = 0, b""
        try:
            if source.at_end:
                return
            count, size = source.long(), source.long()
            if not (0 <= count <= BLOCK_LIMIT and 0 <= size <= BLOCK_LIMIT):  # a row takes a byte at least
                raise ValueError("no size of a block")
            data = source.take(size)
            if source.take(_SYNC) != sync:
                raise ValueError("no mark behind a block")
        except EOFError:
            rows.are_cut(place())
            yield Block(count, data or source.rest(), cut=True)
            return
        except ValueError as error:
            rows.are_damaged(error, place())
            if not source.skip_past(sync):
                return
        else:
            yield Block(count, data, cut=False)


def inflated(data: bytes) -> bytes:
    """A block packed by DEFLATE; of more than the limit so much that it is seen."""
    return zlib.decompressobj(wbits=-15).decompress(data, BLOCK_LIMIT + 1)


def unsnapped(data: bytes) -> bytes:
    """A block packed by Snappy, which says at its begin how much it will be; behind it stands a checksum.

    Raises:
        ValueError: if it is damaged.
    """
    from cramjam import DecompressionError, snappy

    size = shift = 0
    for byte in data[:5]:
        size |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    if size > BLOCK_LIMIT:
        return bytes(BLOCK_LIMIT + 1)
    try:
        return bytes(snappy.decompress_raw(data[:-_CHECKSUM]))
    except DecompressionError as error:
        raise ValueError from error


UNPACKERS: dict[str, Callable[[bytes], bytes]] = {"null": bytes, "deflate": inflated, "snappy": unsnapped}
"""What unpacks a block, by the name that the description gives."""
