"""The indented text of `kubectl describe` as a tree of fields."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

_FIELD = re.compile(r"^(?P<indent> *)(?P<key>[A-Za-z][\w ()./-]*?):(?:\s+(?P<value>\S.*?))?\s*$")


class Field(msgspec.Struct):
    """A `Key: value` line of a description, with the lines below it."""

    key: str
    value: str
    indent: int
    first: int
    last: int
    inner: list[Field] = []
    more: list[str] = []

    def find(self, *path: str) -> Field | None:
        """The first field below that has this path of keys."""
        found: Field | None = self
        for key in path:
            found = next((field for field in found.inner if field.key == key), None) if found else None
        return found

    def text(self, *path: str) -> str | None:
        """The value of the field at this path; None where there is none, or none is set."""
        found = self.find(*path)
        return None if found is None or found.value in ("", "<none>", "<unset>") else found.value


def fields_of(lines: Sequence[str]) -> Field:
    """The tree of a description, by its indentation. A message of several lines is kept as one value."""
    root = Field("", "", -1, 0, len(lines) - 1)
    stack = [root]
    index = 0
    while index < len(lines):
        found = _FIELD.match(lines[index])
        if found is None:
            stack[-1].more.append(lines[index].strip())
            stack[-1].last = max(stack[-1].last, index)
            index += 1
            continue
        indent = len(found["indent"])
        while stack[-1].indent >= indent:
            _closed(stack)
        field = Field(found["key"], found["value"] or "", indent, index, index)
        if found["key"] == "Message":
            field.last = _end_of_message(lines, index, indent)
            field.value = "\n".join([field.value, *lines[index + 1 : field.last + 1]])
            index = field.last
        stack[-1].inner.append(field)
        stack.append(field)
        index += 1
    while len(stack) > 1:
        _closed(stack)
    return root


def _closed(stack: list[Field]) -> None:
    field = stack.pop()
    stack[-1].last = max(stack[-1].last, field.last)


def _end_of_message(lines: Sequence[str], index: int, indent: int) -> int:
    """The last line of a message: its further lines are printed raw, up to the field that always follows."""
    follows = re.compile(
        rf"^ {{{indent}}}(?:Exit Code|Signal|Started|Finished|Reason|Status|Type|Observed Generation):"
    )
    for ahead in range(index + 1, min(index + 200, len(lines))):
        if follows.match(lines[ahead]):
            return ahead - 1
    return index
