"""The columns of a Parquet file as they are stored, and what may be decoded of them at one time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO, NamedTuple

from analyzer.formats.tables.pages import Chunk, pages

LEAVES = 10_000
"""As many columns as a table of BigQuery may have, nested ones counted: https://cloud.google.com/bigquery/quotas."""
PAGE_LIMIT = 64 << 20
"""A row group with a page (usually 1 MiB) beyond this (bytes, unpacked) is left out."""
_TOGETHER = 96 << 20  # the largest pages of all columns: at one time they are in memory packed, unpacked and as values
_DICTIONARY, _NAMED = 2, 24  # a dictionary counts so many times, and each of its values takes so many bytes in a table
_VALUES = 1 << 23  # of one column in one row group
_REPEATED = 1 << 24  # of all repeated fields in one row group, of which a single row may hold all; once for each level
_BATCH = 1024  # rows
_WIDE = 256  # bytes of a value of fixed length
_GROWING = 32 << 20  # bytes that columns may become whose values may be longer than their page


class Leaf(NamedTuple):
    """A part of a column that is stored for itself, by its place in the file.

    `levels`: in how many repeated fields it lies. `is_shared`: its texts can be read as numbers of a dictionary.
    `is_growing`: a short page may hold many long values, since they share beginnings or are of one great length.
    """

    place: int
    path: str
    levels: int
    is_shared: bool
    is_growing: bool


def leaves_of(schema: Any, groups: Sequence[Sequence[Chunk]], columns: Sequence[str]) -> list[Leaf]:
    """What is stored of these columns."""
    wanted = set(columns)
    stored = ((place, schema.column(place)) for place in range(len(schema.names)))
    return [
        _leaf(place, column, [group[place] for group in groups])
        for place, column in stored
        if column.path.split(".", 1)[0] in wanted
    ]


def _leaf(place: int, column: Any, chunks: Sequence[Chunk]) -> Leaf:
    has_prefixes = any(chunk.has_prefixes for chunk in chunks)
    has_lengths = any(chunk.has_lengths for chunk in chunks)
    is_wide = column.physical_type == "FIXED_LEN_BYTE_ARRAY" and column.length > _WIDE
    return Leaf(
        place, column.path, column.max_repetition_level,
        is_shared=column.physical_type == "BYTE_ARRAY" and not has_prefixes and not has_lengths,
        is_growing=is_wide or has_prefixes,
    )  # fmt: skip


def rows_at_once(file: BinaryIO, group: Sequence[Chunk], leaves: Sequence[Leaf]) -> int | None:
    """How many rows of a row group may be decoded at one time; None where none may.

    Raises:
        ValueError: if the group's pages are damaged.
    """
    together = growing = repeated = 0
    for leaf in leaves:
        largest = values = 0
        for page in pages(file, group[leaf.place]):
            own = _DICTIONARY * page.size + _NAMED * page.values if page.is_dictionary else page.size
            largest = max(largest, own)
            values += page.values
            if page.size > PAGE_LIMIT or values > _VALUES:
                return None
        together += largest
        growing += largest if leaf.is_growing else 0
        repeated += leaf.levels * values
        if together > _TOGETHER or repeated > _REPEATED or (leaf.is_growing and leaf.levels):
            return None
    return max(1, min(_BATCH, _GROWING // growing)) if growing else _BATCH
