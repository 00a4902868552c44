"""What loggers, runtimes and consoles write where they leave out part of a log."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
import re2

from analyzer.facts.tables import table

ENTRY_LIMIT = 256_000
"""Bytes of text from which on an entry of Cloud Logging is as large as one may be, so that it may have been cut off.

The service's limit is about 256 KB of its own representation (https://cloud.google.com/logging/quotas).
"""
ENTRY_MOST = 262_144
"""Bytes of text beyond which an entry was put together again out of parts, and so is whole."""
_LOOKED_AT = 400
"""Characters at the begin and at the end of a text among which a mark is looked for."""


class Loss(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A way in which part of a log goes missing; the table says what each `kind` means."""

    id: str
    kind: str
    marks: list[str]
    regex: str
    source: str
    verified: bool


@cache
def losses() -> tuple[Loss, ...]:
    """The table of losses, in its order."""
    return tuple(table("log_losses", list[Loss]))


def loss_marks() -> list[str]:
    """Lower-case texts of which one stands in every line that tells of a loss."""
    return [mark for loss in losses() for mark in loss.marks]


def loss_in(text: str) -> Loss | None:
    """The loss that a text tells of, in its first or last words; None for the usual text."""
    seen = text if len(text) <= 2 * _LOOKED_AT else f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
    lowered = seen.lower()
    for loss in losses():
        for mark in loss.marks:
            if mark in lowered and _compiled(loss.regex).search(seen):
                return loss
    return None


@cache
def _compiled(regex: str) -> Any:
    return re2.compile(regex)
