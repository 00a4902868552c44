"""Reads the bundled tables of facts once, and only when something asks for one."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from analyzer.compiled import shipped_or_kept
from analyzer.errors import RuleError
from analyzer.resources import data_folder

NAME = "tables"

Table = TypeVar("Table")


@cache
def table_rows(name: str) -> tuple[dict[str, str], ...]:
    """The rows of `rules/tables/<name>.csv`, in the file's order; an empty cell is ""."""
    import csv

    path = data_folder("rules") / "tables" / f"{name}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def table_document(name: str) -> Any:
    """The value of `rules/tables/<name>.json`. Callers must not change it: it is shared."""
    return msgspec.json.decode((data_folder("rules") / "tables" / f"{name}.json").read_bytes())


def table(name: str, kind: type[Table]) -> Table:
    """The value of `rules/tables/<name>.yaml` as what it must be.

    Raises:
        RuleError: where the table is not as it must be.
    """
    try:
        return msgspec.msgpack.decode(_yaml_tables()[name], type=kind)
    except (KeyError, msgspec.ValidationError) as error:
        where = str(data_folder("rules") / "tables" / f"{name}.yaml")
        raise RuleError(f"is no table of its kind ({error})", where=where, advice="restore the file") from error


@cache
def _yaml_tables() -> dict[str, msgspec.Raw]:
    data = shipped_or_kept(NAME, data_folder("rules"), compile_tables)
    return msgspec.msgpack.decode(data, type=dict[str, msgspec.Raw])


def compile_tables(folder: Path) -> bytes:
    """The YAML tables of a folder of rules in the form in which they are kept."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    files = sorted((folder / "tables").glob("*.yaml"))
    return msgspec.msgpack.encode({file.stem: yaml.load(file.read_text("utf-8"), Loader=loader) for file in files})


def number(cell: str) -> float | None:
    """The number in a cell, or None where the cell is empty or holds words."""
    try:
        return float(cell)
    except ValueError:
        return None
