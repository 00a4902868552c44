"""The sentences of a diagnosis in each language, out of `rules/tables/*sentences.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from analyzer.facts.tables import table as table_of
from analyzer.rulebook.schema import Text
from analyzer.rulebook.text import fill

TABLES = ("sentences", "timeline_sentences")
"""The tables that the texts of a diagnosis come from."""


@lru_cache(maxsize=4)
def table(name: str) -> Mapping[str, Text]:
    """A table of sentences by their names."""
    return table_of(name, dict[str, Text])


def sentence(name: str, lang: str, values: Mapping[str, str | None] | None = None) -> str:
    """A sentence by its name, filled with values."""
    return fill(table("sentences")[name].of(lang), values or {})
