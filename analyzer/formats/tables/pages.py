"""Where the columns of a Parquet file lie, and how large their pages become, told before any is unpacked.

The file's footer may say anything of sizes; what a decoder allocates is what the header before each page says. Both are
Thrift structs, whose fields have numbers: https://github.com/apache/parquet-format, src/main/thrift/parquet.thrift.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from analyzer.formats.tables.thrift import Compact, Struct

_WINDOW = 1 << 14
_HEADER_LIMIT = 1 << 20  # statistics of a page may hold long values
_DELTA_LENGTH, _DELTA = 6, 7  # encodings of texts
_DICTIONARY = 7  # the field of a page's header that describes a dictionary


class Chunk(NamedTuple):
    """One column in one row group: where it begins, how many bytes it takes, and whether texts are told by differences
    in length only (`has_lengths`) or to those before (`has_prefixes`)."""

    start: int
    size: int
    has_lengths: bool
    has_prefixes: bool


class Page(NamedTuple):
    """One page: its size once unpacked (bytes), how many values it holds, nulls included, and whether other pages name
    them by number."""

    size: int
    values: int
    is_dictionary: bool


def chunks_of(footer: bytes, columns: int) -> list[list[Chunk]]:
    """The row groups that a footer describes, each with a chunk for each of so many columns.

    Raises:
        ValueError: if the footer is damaged.
    """
    try:
        groups = [[_chunk(chunk[3]) for chunk in group[1]] for group in Compact(footer).struct()[4]]
    except (LookupError, TypeError) as error:
        raise ValueError("its description is damaged") from error
    if any(len(group) != columns for group in groups):
        raise ValueError("its description is damaged")
    return groups


def _chunk(described: Struct) -> Chunk:
    start, dictionary, size = described[9], described.get(11) or 0, described[7]
    encodings = described[2]
    if not all(isinstance(number, int) and number >= 0 for number in (start, dictionary, size)):
        raise ValueError("its description is damaged")
    return Chunk(dictionary if 0 < dictionary < start else start, size, _DELTA_LENGTH in encodings, _DELTA in encodings)


def pages(file: BinaryIO, chunk: Chunk) -> Iterator[Page]:
    """The pages of a column in one row group.

    Raises:
        ValueError: if there are no headers of pages.
    """
    at, end = chunk.start, chunk.start + chunk.size
    while at < end:
        header, length = _header(file, at, end - at)
        unpacked, packed, values = header.get(2), header.get(3), _values(header)
        if not all(isinstance(number, int) and number >= 0 for number in (unpacked, packed, values)):
            raise ValueError("no header of a page")
        yield Page(int(unpacked or 0), int(values or 0), _DICTIONARY in header)
        at += length + int(packed or 0)


def _values(header: Struct) -> Any:
    """How many values a page of data, a dictionary, or a page of data of the second version says it has."""
    inner = next((found for kind in (5, _DICTIONARY, 8) if isinstance(found := header.get(kind), dict)), {})
    return inner.get(1)


def _header(file: BinaryIO, at: int, left: int) -> tuple[Struct, int]:
    """The struct that begins there, and its length."""
    window = _WINDOW
    while True:
        file.seek(at)
        compact = Compact(file.read(min(window, left)))
        try:
            return compact.struct(), compact.at
        except IndexError:
            if window >= min(left, _HEADER_LIMIT):
                raise ValueError("the header of a page is cut") from None
            window *= 8
