"""What differs between two runs of one program though a line is the same (`rules/tables/masks.yaml`)."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from analyzer.facts.tables import table


class Mask(msgspec.Struct, frozen=True):
    """Something that differs from run to run, as RE2 expression, and the token that stands for it."""

    token: str
    regex: str


@lru_cache(maxsize=1)
def masks() -> list[Mask]:
    """All masks, in the order in which they are laid on a line."""
    return table("masks", list[Mask])
