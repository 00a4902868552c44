"""The sentences of a diagnosis in each language, out of `rules/tables/*sentences.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import msgspec
import yaml

from analyzer.resources import data_folder
from analyzer.rulebook.schema import Text
from analyzer.rulebook.text import fill

TABLES = ("sentences", "timeline_sentences")
"""The tables that the texts of a diagnosis come from."""


@lru_cache(maxsize=4)
def table(name: str) -> Mapping[str, Text]:
    """A table of sentences by their names."""
    text = (data_folder("rules") / "tables" / f"{name}.yaml").read_text(encoding="utf-8")
    return msgspec.convert(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), dict[str, Text])


def sentence(name: str, lang: str, values: Mapping[str, str | None] | None = None) -> str:
    """A sentence by its name, filled with values."""
    return fill(table("sentences")[name].of(lang), values or {})
