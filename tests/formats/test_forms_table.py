"""The table of forms in the documentation and the readers in the code name the same things."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest
from forms import FORMS, INPUTS, PACKERS, TABLES, needs, read

import analyzer.formats

ROOT = FORMS.parents[1]
PAGE = (ROOT / "docs" / "forms.md").read_text(encoding="utf-8")
ROWS = {
    cells[1].strip("` "): cells
    for line in PAGE.splitlines()
    if line.startswith("| ") and len(cells := re.split(r"(?<!\\)\|", line.strip("| "))) == 5 and "`" in cells[1]
}
READERS = re.compile(
    r"recognize_(?!plain$)\w+|read_(?:blocks|json|csv|yaml|text|parquet|avro)|(?!read_)(?!_described_)\w+_parts?|\w+_document"
    r"|audit_entry|structured_entry|event_fields|event_rows|described_events|_pubsub|_otlp|_pods|_jobs|_steps|_sacct|_refusal"
    r"|unescaped|_joined"
)
"""How the readers of single forms are called in the code."""
BUILT_ON = frozenset(("json_document", "yaml_document"))  # parsers of the two languages that descriptions come in


def _module(name: str) -> ModuleType:
    """A module of the package; an empty one where the extra is not installed that it is written for."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in {package for needed in PACKERS.values() for package in needed}:
            raise
        return ModuleType(name)


def readers() -> dict[CodeType, str]:
    """All functions of the package that read a form, by their code."""
    found = {}
    for info in pkgutil.walk_packages(analyzer.formats.__path__, "analyzer.formats."):
        for name, value in vars(_module(info.name)).items():
            own = inspect.isfunction(value) and value.__module__ == info.name
            if own and READERS.fullmatch(name) and name not in BUILT_ON:
                found[value.__code__] = name
    return found


def called(folder: str) -> set[str]:
    """The readers that do something when a form's inputs are read; recognisers that decline do nothing."""
    known, seen = readers(), set()

    def watch(frame: FrameType, event: str, result: Any) -> None:
        if event == "return" and frame.f_code in known and result is not None:
            seen.add(known[frame.f_code])

    for path in (path for path in INPUTS + TABLES if path.parent.name == folder):
        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            read(path)
        finally:
            sys.setprofile(before)
    return seen


def packers(folder: str) -> list[str]:
    """The packages of extras that reading a form takes."""
    return sorted({name for path in TABLES if path.parent.name == folder for name in PACKERS[path.suffix]})


def named(folder: str) -> set[str]:
    """The readers that the table names for a form."""
    return set(re.findall(r"`(\w+)`", ROWS[folder][2]))


def test_every_form_stands_in_the_table():
    """The folders of fixtures and the rows are the same."""
    assert set(ROWS) == {path.parent.name for path in INPUTS + TABLES}


@pytest.mark.parametrize("folder", [pytest.param(name, marks=needs(packers(name))) for name in sorted(ROWS)])
def test_form_is_read_by_what_the_table_names(folder):
    """The named readers are called for the form's fixtures."""
    assert named(folder)
    assert named(folder) <= called(folder)


def test_every_reader_in_the_code_stands_in_the_table():
    """A reader that is new needs a row with a fixture."""
    assert set(readers().values()) - {name for folder in ROWS for name in named(folder)} == set()


@pytest.mark.parametrize("folder", sorted(ROWS))
def test_wording_is_either_verified_or_from_memory(folder):
    """Each row says what the form carries and what its wording was taken from; a verified one names the source."""
    form, _, _, carries, wording = (cell.strip() for cell in ROWS[folder])
    assert form
    assert carries
    assert re.match(r"verified: \S|memory\b", wording)


def test_tests_that_the_page_names_exist():
    """Paths of tests lead somewhere."""
    paths = re.findall(r"`(tests/[\w/.]+)`", PAGE)
    assert len(paths) >= 8
    assert [path for path in paths if not (ROOT / path).exists()] == []
