"""Parquet: the columns of a LogEntry, batch by batch, read by pyarrow within bounds that no file can leave."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple, cast

from analyzer.formats.reading import Reading
from analyzer.formats.record import entry_columns
from analyzer.formats.stream import PARQUET, Stream
from analyzer.formats.tables.leaves import LEAVES, Leaf, leaves_of, rows_at_once
from analyzer.formats.tables.pages import Chunk, chunks_of
from analyzer.formats.tables.rows import ROW_LIMIT, Rows
from analyzer.model import Entry
from analyzer.sources.compression import DEFLATE_LIMIT

RATIO_GRACE = 64 << 20
"""So many bytes of rows are given however small the file is; a column may name one text for all of its rows."""
SPOOL_LIMIT = 2 << 30
"""Parquet is read from its end, so a stream is copied first, up to so many bytes. BigQuery writes at most 1 GB of data
into a file: https://cloud.google.com/bigquery/docs/exporting-data."""
_SPOOL_MEMORY = 32 << 20  # beyond this the copy lies in a nameless temporary file
_FOOTER_LIMIT = 8 << 20
_BUFFER = 1 << 20
_WIDE_ROWS = 32  # at one time at least where a row has thousands of fields: each of them costs time in every part
_WIDE_PART = 8 << 20  # but no more than this (bytes)


class _Described(NamedTuple):
    """A file as its footer describes it, opened for the columns of log entries; `width` is what a row of nothing but
    short values takes (bytes)."""

    file: Any
    columns: list[str]
    leaves: list[Leaf]
    groups: list[list[Chunk]]
    width: int


def read_parquet(stream: Stream, reading: Reading) -> Iterator[Entry]:
    """The entries of a Parquet file of log entries; what is damaged or beyond any log costs itself and a note."""
    rows = Rows(reading, "Parquet")
    try:
        import pyarrow  # noqa: F401 - whether it is there
    except ImportError:
        rows.lack("parquet")
        return
    with contextlib.ExitStack() as opened:
        file = _seekable(stream, reading, opened)
        if file is not None:
            yield from _Table(file, reading, rows).entries()


def _seekable(stream: Stream, reading: Reading, opened: contextlib.ExitStack) -> BinaryIO | None:
    """The source where it can be read at any place, else a copy; None where it is too large for that."""
    if stream.file is not None:
        return stream.file
    copy = tempfile.SpooledTemporaryFile(max_size=_SPOOL_MEMORY)  # noqa: SIM115 - the caller closes it
    opened.callback(copy.close)
    for chunk in stream.chunks():
        copy.write(chunk)
        if copy.tell() > SPOOL_LIMIT:
            reading.note("too_large", f"Parquet of more than {SPOOL_LIMIT >> 30} GiB is read from plain files only")
            return None
    return cast(BinaryIO, copy)


class _Table:
    """One file: its columns of log entries, and its rows, row group by row group."""

    def __init__(self, file: BinaryIO, reading: Reading, rows: Rows) -> None:
        self._file, self._reading, self._rows = file, reading, rows
        self._size = file.seek(0, 2)
        self._given = 0
        self._part = ROW_LIMIT  # bytes of rows that become values at one time
        self._is_bomb = False

    def entries(self) -> Iterator[Entry]:
        """The entries of all row groups, and what waited for their end."""
        try:
            footer = self._footer()
            described = self._described(footer) if footer else None
        except _damage() as error:
            self._rows.are_unreadable(error)
            return
        if described is None:
            return
        self._part = max(ROW_LIMIT, min(_WIDE_PART, _WIDE_ROWS * described.width))
        number = 1
        for group in range(len(described.groups)):
            for row in self._group(described, group, number):
                if row is not None:
                    yield from self._rows.entries(row, number)
                number += 1
            if self._is_bomb:
                break
        yield from self._rows.rest()

    def _footer(self) -> bytes:
        """How the file describes itself at its end; nothing where it does not, or at no length that can be."""
        self._file.seek(max(0, self._size - 8))
        end = self._file.read(8)
        if self._size < 12 or not end.endswith(PARQUET):
            self._reading.note("truncated", "this Parquet file has no end, without which nothing of it can be read")
            return b""
        length = int.from_bytes(end[:4], "little")
        if not 0 < length <= min(self._size - 8, _FOOTER_LIMIT):
            self._rows.are_unreadable(f"{length} bytes of description")
            return b""
        self._file.seek(self._size - 8 - length)
        return self._file.read(length)

    def _described(self, footer: bytes) -> _Described | None:
        from pyarrow.parquet import ParquetFile, read_metadata

        from analyzer.formats.tables.cells import width_of

        self._file.seek(0)
        metadata = read_metadata(self._file)
        columns = entry_columns(metadata.schema.to_arrow_schema().names)
        if metadata.num_columns > LEAVES:
            raise ValueError(f"{metadata.num_columns} columns")
        groups = chunks_of(footer, metadata.num_columns)
        leaves = leaves_of(metadata.schema, groups, columns)
        if not leaves:
            self._rows.have_other_columns()
            return None
        # Dictionaries stay such: a row then takes a number, however long the text that it shares with others.
        shared = [leaf.path for leaf in leaves if leaf.is_shared]
        file = ParquetFile(self._file, metadata=metadata, read_dictionary=shared, buffer_size=_BUFFER)
        fields = [field for field in file.schema_arrow if field.name in columns]
        return _Described(file, columns, leaves, groups, sum(width_of(field.type) for field in fields))

    def _group(self, table: _Described, group: int, number: int) -> Iterator[dict[str, Any] | None]:
        """The rows of a row group, None for one that was left out; as far as they can be read."""
        try:
            size = rows_at_once(self._file, table.groups[group], table.leaves)
            if size is None:
                self._rows.are_a_bomb(number)
                return
            for batch in table.file.iter_batches(size, row_groups=[group], columns=table.columns, use_threads=False):
                yield from self._decoded(batch, number)
                number += batch.num_rows
                if self._is_bomb:
                    return
        except _damage() as error:
            self._rows.are_damaged(error, number)

    def _decoded(self, batch: Any, number: int) -> Iterator[dict[str, Any] | None]:
        """The rows of a batch, which is parted until a part is small enough to become values."""
        from analyzer.formats.tables.cells import rows_of, size_of

        if self._is_bomb:
            return
        size, rows = size_of(batch), int(batch.num_rows)
        if rows > 1 and size > self._part:
            step = max(1, rows * self._part // size)
            for start in range(0, rows, step):
                yield from self._decoded(batch.slice(start, step), number + start)
            return
        self._given += size
        self._is_bomb = self._given > max(RATIO_GRACE, DEFLATE_LIMIT * self._size)
        if self._is_bomb:
            self._rows.are_a_bomb(number)
        elif rows == 1 and size > ROW_LIMIT:
            self._rows.are_large(number)
            yield None
        else:
            yield from rows_of(batch)


def _damage() -> tuple[type[Exception], ...]:
    """What pyarrow raises for bytes that it cannot read."""
    from pyarrow import ArrowException

    return (ArrowException, OSError, ValueError, OverflowError, MemoryError, NotImplementedError)
