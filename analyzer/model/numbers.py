"""Whole numbers in texts that anybody may write."""

from __future__ import annotations

import re

_WHOLE = re.compile(r"-?[0-9]{1,18}")
"""What fits in 64 bits. Python refuses to read more than some thousand digits; no count, code or line has as many."""

_LONGEST_IDENTIFIER = 60


def number(text: object) -> int | None:
    """The whole number that a label or field holds, also as text; None for anything else or absurdly long."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    if isinstance(text, str) and _WHOLE.fullmatch(text):
        return int(text)
    return None


def written_integer(digits: str) -> int | None:
    """What a whole number in JSON means; None where it is longer than any identifier is."""
    return int(digits) if len(digits) <= _LONGEST_IDENTIFIER else None
