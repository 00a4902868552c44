"""Arrow's columns as plain values: their size beforehand, times as text to the nanosecond, text as bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow
from pyarrow import compute, types

_OBJECT, _CONTAINER, _NULL = 64, 240, 8  # what a value takes as an object of Python, roughly (bytes)


def rows_of(batch: Any) -> Iterator[dict[str, Any]]:
    """The rows of a batch. Text comes as bytes, since it may be no UTF-8; times come as text in UTC."""
    columns = [_plain(column) for column in batch.columns]
    names = batch.schema.names
    for cells in zip(*columns, strict=True):
        yield dict(zip(names, cells, strict=True))


def size_of(batch: Any) -> int:
    """About how much a batch takes once its values are objects (bytes)."""
    return _OBJECT * int(batch.num_rows) + sum(map(_size, batch.columns))


def width_of(kind: Any) -> int:
    """What a value of a type takes if all that it consists of is there once and short (bytes)."""
    own = _CONTAINER if kind.num_fields else _OBJECT
    return own + sum(width_of(kind.field(place).type) for place in range(kind.num_fields))


def _plain(column: Any) -> list[Any]:
    for change in (_in_utc, _as_text):
        kind = _changed(column.type, change)
        if kind != column.type:
            column = column.cast(kind)
    values: list[Any] = column.to_pylist()
    return values


def _in_utc(kind: Any) -> Any:
    """The same instants in UTC, whatever zone the table shows them in; times without a zone are taken as UTC."""
    if types.is_timestamp(kind):
        return pyarrow.timestamp(kind.unit, "UTC")
    return pyarrow.binary() if types.is_string(kind) or types.is_large_string(kind) else kind


def _as_text(kind: Any) -> Any:
    return pyarrow.string() if types.is_timestamp(kind) else kind


def _changed(kind: Any, change: Callable[[Any], Any]) -> Any:
    """A type with its innermost types changed, and without dictionaries."""
    if types.is_dictionary(kind):
        return _changed(kind.value_type, change)
    if types.is_struct(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        return pyarrow.struct([field.with_type(_changed(field.type, change)) for field in fields])
    if types.is_map(kind):
        return pyarrow.map_(_changed(kind.key_type, change), _changed(kind.item_type, change))
    if types.is_large_list(kind):
        return pyarrow.large_list(kind.value_field.with_type(_changed(kind.value_type, change)))
    if types.is_list(kind):
        return pyarrow.list_(kind.value_field.with_type(_changed(kind.value_type, change)))
    return change(kind)


def _size(column: Any) -> int:
    kind, nulls = column.type, int(column.null_count)
    own = (_CONTAINER if kind.num_fields else _OBJECT) * (len(column) - nulls) + _NULL * nulls
    if types.is_dictionary(kind):
        lengths = compute.binary_length(column.dictionary)
        return own + int(compute.sum(lengths.take(column.indices)).as_py() or 0)
    if types.is_struct(kind):
        return own + sum(_size(column.field(place)) for place in range(kind.num_fields))
    if types.is_map(kind):  # which Arrow flattens only without dictionaries
        start, end = column.offsets[0].as_py(), column.offsets[-1].as_py()
        return own + sum(_size(part.slice(start, end - start)) for part in (column.keys, column.items))
    if types.is_list(kind) or types.is_large_list(kind):
        return own + _size(column.flatten())
    return own + int(column.nbytes)
