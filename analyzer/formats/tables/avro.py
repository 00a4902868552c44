"""Avro object containers of log entries, block by block; the rows in them are decoded by fastavro."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from analyzer.formats.reading import Reading
from analyzer.formats.record import entry_columns
from analyzer.formats.stream import Stream
from analyzer.formats.tables.avro_blocks import BLOCK_LIMIT, UNPACKERS, Block, Bytes, blocks_of, header_of
from analyzer.formats.tables.avro_schema import safe_schema
from analyzer.formats.tables.rows import ROW_LIMIT, Rows
from analyzer.model import Entry
from analyzer.sources.compression import DEFLATE_LIMIT, RATIO_GRACE

_DAMAGE = (ValueError, LookupError, TypeError, ArithmeticError, RecursionError)
"""What fastavro raises for bytes that are no row; EOFError where they end within one."""


def read_avro(stream: Stream, reading: Reading) -> Iterator[Entry]:
    """The entries of an Avro file of log entries; what is damaged or beyond any log costs itself and a note."""
    rows = Rows(reading, "Avro")
    try:
        import fastavro
    except ImportError:
        rows.lack("avro")
        return
    source = Bytes(stream)
    try:
        header = header_of(source)
        columns = entry_columns(_names(header.schema))
        schema = fastavro.parse_schema(safe_schema(header.schema)) if columns else None
    except EOFError:
        rows.are_cut(1)
        return
    except (*_DAMAGE, fastavro.schema.SchemaParseException) as error:
        rows.are_unreadable(error)
        return
    if schema is None:
        rows.have_other_columns()
    elif header.codec not in UNPACKERS:
        rows.are_unreadable(f"packed by {header.codec}")
    else:
        yield from _Table(rows, UNPACKERS[header.codec], schema, columns).entries(source, header.sync)


def _names(schema: Any) -> list[str]:
    fields = schema.get("fields") if isinstance(schema, dict) else None
    named = [field.get("name") for field in fields or () if isinstance(field, dict)]
    return [name for name in named if isinstance(name, str)]


class _Table:
    """The rows of one file."""

    def __init__(self, rows: Rows, unpack: Callable[[bytes], bytes], schema: Any, columns: list[str]) -> None:
        from fastavro import schemaless_reader

        self._read: Callable[..., Any] = schemaless_reader
        self._rows, self._unpack, self._schema, self._columns = rows, unpack, schema, columns
        self._number = 1  # of the next row
        self._given = 0

    def entries(self, source: Bytes, sync: bytes) -> Iterator[Entry]:
        """The entries of all blocks, and what waited for their end."""
        for block in blocks_of(source, sync, self._rows, lambda: self._number):
            data, end = self._unpacked(block), self._number + block.rows
            self._given += len(data)
            if self._given > RATIO_GRACE and self._given > DEFLATE_LIMIT * source.taken:
                self._rows.are_a_bomb(self._number)
                break
            for row in self._decoded(data, block) if data else ():
                yield from self._rows.entries({name: row.get(name) for name in self._columns}, self._number)
                self._number += 1
            self._number = end
        yield from self._rows.rest()

    def _unpacked(self, block: Block) -> bytes:
        """The rows of a block, unpacked; nothing where they cannot be or must not be."""
        try:
            data = self._unpack(block.data)
        except ImportError:
            self._rows.lack("avro")
            return b""
        except (ValueError, zlib.error) as error:
            if not block.cut:
                self._rows.are_damaged(error, self._number)
            return b""
        if len(data) > BLOCK_LIMIT:
            self._rows.are_a_bomb(self._number)
            return b""
        return data

    def _decoded(self, data: bytes, block: Block) -> Iterator[dict[str, Any]]:
        """The rows of a block. A window moves over its bytes, so that one row cannot make values of them all."""
        left, at = block.rows, 0
        while left:
            window, begun = io.BytesIO(data[at : at + ROW_LIMIT]), at
            while left:
                try:
                    row = self._read(window, self._schema, None, handle_unicode_errors="replace")
                except EOFError:
                    break
                except _DAMAGE as error:
                    self._rows.are_damaged(error, self._number)
                    return
                at, left = begun + window.tell(), left - 1
                yield row
            if left and at == begun:
                self._say_why_none(len(data) - begun, block)
                return

    def _say_why_none(self, size: int, block: Block) -> None:
        """Says why no row could be read out of what is left of a block (bytes)."""
        if size > ROW_LIMIT:
            self._rows.are_large(self._number)
        elif not block.cut:
            self._rows.are_damaged("fewer rows than told", self._number)
