"""The sentences of a timeline in each language, out of `rules/tables/timeline_sentences.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from analyzer.facts.tables import table
from analyzer.model import SECOND
from analyzer.rulebook import Finding
from analyzer.rulebook.schema import Text
from analyzer.rulebook.text import fill

_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))


@cache
def _table() -> Mapping[str, Text]:
    return table("timeline_sentences", dict[str, Text])


def say(name: str, lang: str, **values: object) -> str:
    """A sentence by its name, filled with values."""
    return fill(_table()[name].of(lang), {key: None if value is None else str(value) for key, value in values.items()})


def title_of(finding: Finding, replica: str, lang: str) -> str:
    """What a finding's rule says of it."""
    return fill(finding.rule.title.of(lang), {"replica": replica, **finding.values})


def duration(nanoseconds: float) -> str:
    """A length of time in its two largest units: 2 d 3 h, 1 h 22 min, 45 s."""
    seconds = round(nanoseconds / SECOND)
    for place, (length, unit) in enumerate(_UNITS):
        if seconds >= length or length == 1:
            whole, rest = divmod(seconds, length)
            smaller = _UNITS[place + 1] if place + 1 < len(_UNITS) and length > 60 else None
            more = f" {rest // smaller[0]} {smaller[1]}" if smaller and rest >= smaller[0] else ""
            return f"{whole} {unit}{more}"
    return "0 s"
