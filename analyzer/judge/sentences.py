"""The sentences of a diagnosis in each language, out of `rules/tables/sentences.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import msgspec
import yaml

from analyzer.resources import data_folder
from analyzer.rulebook.schema import Text
from analyzer.rulebook.text import fill


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Text]:
    text = (data_folder("rules") / "tables" / "sentences.yaml").read_text(encoding="utf-8")
    return msgspec.convert(yaml.safe_load(text), dict[str, Text])


def sentence(name: str, lang: str, values: Mapping[str, str | None] | None = None) -> str:
    """A sentence by its name, filled with values."""
    return fill(_table()[name].of(lang), values or {})
