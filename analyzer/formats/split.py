"""Joins entries that Cloud Logging split because they were too large (`split{uid, index, totalSplits}`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from analyzer.formats.record import NO_JSON, Record, value_of
from analyzer.model.numbers import number

_WAITING = 10_000

Placed = tuple[Record, int]


class Torn(NamedTuple):
    """An entry of which parts are missing: what there is of it, its line and uid, how many parts came, of how many."""

    record: Record
    line: int
    uid: str
    parts: int
    total: int


class Joiner:
    """Keeps the parts of split entries until all have come. Bounded: the oldest are given up first."""

    def __init__(self) -> None:
        self._parts: dict[str, dict[int, Placed]] = {}
        self._totals: dict[str, int] = {}
        self._overflow: list[Torn] = []

    def add(self, record: Record, line: int) -> Placed | None:
        """The whole entry once its last part is there, in the place of its first part; else None."""
        split = value_of(bytes(record.split))
        if not isinstance(split, dict) or not isinstance(split.get("uid"), str):
            return record, line
        uid, index, total = split["uid"], _count(split.get("index")), _count(split.get("totalSplits"))
        parts = self._parts.setdefault(uid, {})
        parts[index] = (record, line)
        self._totals[uid] = total
        if total <= 1 or len(parts) == total:
            del self._totals[uid]
            return _joined(self._parts.pop(uid))
        if len(self._parts) > _WAITING:
            self._overflow.append(self._given_up(next(iter(self._parts))))
        return None

    def rest(self) -> Iterator[Torn]:
        """What is left: entries of which parts are missing."""
        yield from self._overflow
        for uid in list(self._parts):
            yield self._given_up(uid)
        self._overflow.clear()

    def _given_up(self, uid: str) -> Torn:
        parts = self._parts.pop(uid)
        return Torn(*_joined(parts), uid, len(parts), self._totals.pop(uid))


def _count(value: object) -> int:
    return max(number(value) or 0, 0)


def _joined(parts: dict[int, Placed]) -> Placed:
    ordered = [parts[index] for index in sorted(parts)]
    first, line = ordered[0]
    texts = [record.text_payload for record, _ in ordered]
    if all(text is not None for text in texts):
        return msgspec.structs.replace(first, text_payload="".join(text or "" for text in texts), split=NO_JSON), line
    messages = [value_of(bytes(record.json_payload)) if record.json_payload else {} for record, _ in ordered]
    if all(isinstance(m, dict) and isinstance(m.get("message"), str) for m in messages):
        whole = {**messages[0], "message": "".join(message["message"] for message in messages)}
        return msgspec.structs.replace(first, json_payload=msgspec.Raw(msgspec.json.encode(whole)), split=NO_JSON), line
    return msgspec.structs.replace(first, split=NO_JSON), line
