"""Thrift's compact protocol, in which Parquet describes itself: https://github.com/apache/thrift, doc/specs.

pyarrow tells of a description too, but ends the process over some that are damaged.
"""

from __future__ import annotations

from typing import Any

_DEPTH = 12
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_INTEGERS = (4, 5, 6)

Struct = dict[int, Any]
"""The values of a struct by the numbers of its fields."""


class Compact:
    """Reads one struct; `at` is how many bytes were read."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def struct(self, depth: int = 0) -> Struct:
        """The struct that comes next.

        Raises:
            IndexError: if the bytes end within it.
            ValueError: if it is none, or a field is given twice, which readers take differently.
        """
        if depth > _DEPTH:
            raise ValueError("nested too deeply")
        found: Struct = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            if number in found:
                raise ValueError("a field is given twice")
            kind = head & 15
            found[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in _INTEGERS:
            return self._integer()
        if kind == _BINARY:
            return self._taken(self._varint())
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            return self._list(depth)
        if kind == _MAP:
            return self._map(depth)
        if kind in (_TRUE, _FALSE, _BYTE, _DOUBLE):
            return self._taken(8 if kind == _DOUBLE else 1)
        raise ValueError("no Thrift")

    def _list(self, depth: int) -> list[Any]:
        if depth > _DEPTH:
            raise ValueError("nested too deeply")
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        return [self._value(head & 15, depth + 1) for _ in range(count)]

    def _map(self, depth: int) -> list[tuple[Any, Any]]:
        if depth > _DEPTH:
            raise ValueError("nested too deeply")
        count = self._varint()
        kinds = self._byte() if count else 0
        return [(self._value(kinds >> 4, depth + 1), self._value(kinds & 15, depth + 1)) for _ in range(count)]

    def _taken(self, size: int) -> bytes:
        begin, self.at = self.at, self.at + size
        if self.at > len(self._data):
            raise IndexError
        return self._data[begin : self.at]

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _integer(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7
            if shift > 63:
                raise ValueError("no number")
