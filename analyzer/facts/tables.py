"""Reads the bundled tables of facts once, and only when something asks for one."""

from __future__ import annotations

import csv
import json
from functools import cache
from typing import Any

from analyzer.resources import data_folder


@cache
def table_rows(name: str) -> tuple[dict[str, str], ...]:
    """The rows of `rules/tables/<name>.csv`, in the file's order; an empty cell is ""."""
    path = data_folder("rules") / "tables" / f"{name}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def table_document(name: str) -> Any:
    """The value of `rules/tables/<name>.json`. Callers must not change it: it is shared."""
    path = data_folder("rules") / "tables" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def number(cell: str) -> float | None:
    """The number in a cell, or None where the cell is empty or holds words."""
    try:
        return float(cell)
    except ValueError:
        return None
