"""Decoded values of files that anyone may have written: of the expected shape, or as good as absent."""

from __future__ import annotations

from typing import Any

MOST_PARTS = 1_000_000
"""JSON with more values and containers than this is not decoded: each takes a hundred bytes of memory and more. The
descriptions of some thousand pods have fewer."""


class TooManyParts(ValueError):
    """The text is JSON that is not decoded for its size."""


def check_size(text: bytes) -> None:
    """Refuses JSON that would become too many values; what is counted are commas and opening brackets, in strings too.

    Raises:
        TooManyParts: if there are more than `MOST_PARTS`.
    """
    if len(text) > MOST_PARTS and text.count(b",") + text.count(b"[") + text.count(b"{") > MOST_PARTS:
        raise TooManyParts("the document has too many parts")


def as_list(value: Any) -> list[Any]:
    """A list as it is; anything else as an empty one."""
    return value if isinstance(value, list) else []


def as_dict(value: Any) -> dict[str, Any]:
    """An object as it is; anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def whole_characters(text: str) -> str:
    """The text without halves of surrogate pairs, which JSON may hold but nothing can write."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
