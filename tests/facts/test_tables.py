"""The tables of facts are whole: every row has its source, and nothing in them speaks of how they were gathered."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from analyzer.facts.tables import table_document, table_rows
from analyzer.model import CATEGORIES
from analyzer.resources import data_folder

CSV_TABLES = ("machine_types", "measured_allocatable", "accelerator_regions", "controllers")
JSON_TABLES = ("exit_codes", "xid", "oom_formats", "accelerators")


@pytest.mark.parametrize("name", CSV_TABLES)
def test_every_row_of_a_table_has_source_and_flag(name: str) -> None:
    """A fact without a source cannot be checked."""
    assert all(row["source"] and row["flag"] for row in table_rows(name))


@pytest.mark.parametrize("path", sorted(data_folder("rules").glob("tables/*")), ids=lambda path: path.name)
def test_tables_name_public_sources_only(path: Path) -> None:
    """No row names a search tool's number, a local file or a machine that only its author knows."""
    private = r"find_string|\bids? \d{7,}|gen_\w+\.py|workplace|on this machine|(?<!\w)/(work|tmp|root)/"
    assert not re.search(private, path.read_text(encoding="utf-8"))


def test_every_exit_code_has_both_languages() -> None:
    """What `diagnose exit-code --lang de` shows is German throughout."""
    table = table_document("exit_codes")
    rows = [*table["codes"], *table["batch"], *table["slurm"], *table["kubernetes_reasons"]]
    assert [row for row in rows if not (row["meaning"] and row["meaning_de"])] == []
    assert all(bool(row.get("tell_apart")) == bool(row.get("tell_apart_de")) for row in rows)
    assert all(row["evidence"] and row["evidence_de"] for row in table["kill_evidence"])
    assert all(words["en"] and words["de"] for words in table["causes"].values())


def test_causes_of_exit_codes_are_in_categories() -> None:
    """A cause that the table names has words and belongs to a category of the contract."""
    table = table_document("exit_codes")
    named = {one["cause"] for row in (*table["codes"], *table["batch"]) for one in row["likely_causes"]}
    named |= {row["cause"] for row in table["kill_evidence"]}
    assert named <= set(table["causes"])
    assert {cause.split(".", 1)[0] for cause in named} <= set(CATEGORIES)


def test_exit_codes_stand_once_and_in_order() -> None:
    """One row a code."""
    codes = [row["code"] for row in table_document("exit_codes")["codes"]]
    assert codes == sorted(set(codes))


@pytest.mark.parametrize("row", table_document("oom_formats")["formats"], ids=lambda row: row["id"])
def test_out_of_memory_format_matches_its_own_example(row: dict[str, Any]) -> None:
    """The expression of a message format reads the values out of its example that the table states."""
    found = re.search(row["regex"], row["example"], re.MULTILINE)
    assert found is not None
    assert {name: value for name, value in found.groupdict().items() if value is not None} == row["captured"]


@pytest.mark.parametrize("name", JSON_TABLES)
def test_json_tables_are_written_for_people(name: str) -> None:
    """Indented, with letters as letters, so that a change to a table is a readable diff."""
    path = data_folder("rules") / "tables" / f"{name}.json"
    value = json.loads(path.read_text(encoding="utf-8"))
    assert path.read_text(encoding="utf-8") == json.dumps(value, ensure_ascii=False, indent=1) + "\n"
