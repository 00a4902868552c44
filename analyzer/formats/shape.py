"""Decoded values of files that anyone may have written: of the expected shape, or as good as absent."""

from __future__ import annotations

from typing import Any


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
