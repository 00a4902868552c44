"""An Avro schema made safe to read by: what it describes takes bytes of the file for all that it makes of them."""

from __future__ import annotations

from typing import Any

_PARTS = 20_000  # BigQuery's tables have 10,000 columns at most, nested ones counted, and each may be null
_DEPTH = 60  # of nesting; BigQuery's tables have 15
_PRIMITIVE = frozenset(("null", "boolean", "int", "long", "float", "double", "bytes", "string"))


def safe_schema(schema: Any) -> dict[str, Any]:
    """The schema of a table's rows, without logical types: a time stays the whole number that it is.

    Raises:
        ValueError: for a schema that is none of a table, that contains itself, or whose values may take no bytes: a few
            bytes could then stand for any number of values.
    """
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise ValueError("the schema is none of a table")
    walk = _Walk()
    made: dict[str, Any] = walk.changed(schema, 0)[0]
    return made


class _Walk:
    """Goes through a schema and counts what one value of it may consist of at least."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}  # of the named types, by the last part of their names
        self._open: set[str] = set()

    def changed(self, schema: Any, depth: int, in_union: bool = False) -> tuple[Any, int]:
        """The schema without logical types, and the number of its parts."""
        if depth > _DEPTH:
            raise ValueError("the schema is nested too deeply")
        if isinstance(schema, list):
            return self._together(schema, depth, in_union=True)
        kind = schema.get("type") if isinstance(schema, dict) else schema
        if isinstance(kind, dict | list):
            return self.changed(kind, depth + 1, in_union)
        if not isinstance(kind, str) or (kind == "null" and not in_union):
            raise ValueError("the schema has values without bytes")
        if kind in _PRIMITIVE:
            return kind, 1
        if not isinstance(schema, dict) or kind not in ("record", "enum", "fixed", "array", "map"):
            return kind, self._known(kind)
        return self._complex(kind, schema, depth)

    def _complex(self, kind: str, schema: dict[str, Any], depth: int) -> tuple[Any, int]:
        if kind in ("array", "map"):
            name = "items" if kind == "array" else "values"
            inner, parts = self.changed(schema.get(name), depth + 1)
            return {"type": kind, name: inner}, parts + 1
        names: dict[str, Any] = {key: schema[key] for key in ("name", "namespace") if key in schema}
        own = str(schema.get("name")).rpartition(".")[2]
        if kind == "enum":
            self._sizes[own] = 1
            return {"type": kind, **names, "symbols": schema.get("symbols")}, 1
        if kind == "fixed":
            if not isinstance(schema.get("size"), int) or schema["size"] < 1:
                raise ValueError("the schema has values without bytes")
            self._sizes[own] = 1
            return {"type": kind, **names, "size": schema["size"]}, 1
        return self._record(schema, names, own, depth)

    def _record(self, schema: dict[str, Any], names: dict[str, Any], own: str, depth: int) -> tuple[Any, int]:
        fields = schema.get("fields")
        if not isinstance(fields, list) or not fields or not all(isinstance(field, dict) for field in fields):
            raise ValueError("the schema has records without fields")
        outer = own in self._open
        self._open.add(own)
        changed, parts = self._together([field.get("type") for field in fields], depth, in_union=False)
        if not outer:
            self._open.discard(own)
        self._sizes[own] = max(parts, self._sizes.get(own, 0))
        made = [{"name": field.get("name"), "type": kind} for field, kind in zip(fields, changed, strict=True)]
        return {"type": "record", **names, "fields": made}, parts

    def _together(self, schemas: list[Any], depth: int, in_union: bool) -> tuple[list[Any], int]:
        found = [self.changed(inner, depth + 1, in_union) for inner in schemas]
        parts = 1 + sum(size for _, size in found)
        if parts > _PARTS:
            raise ValueError("the schema has too many parts")
        return [inner for inner, _ in found], parts

    def _known(self, name: str) -> int:
        own = name.rpartition(".")[2]
        if own in self._open or own not in self._sizes:
            raise ValueError("the schema contains itself or names an unknown type")
        return self._sizes[own]
