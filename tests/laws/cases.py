"""The casebook as the laws' material: every case's input, read once."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from analyzer.entries import Options
from analyzer.formats import read_source
from analyzer.model import Entry, Note, Report
from analyzer.pipeline import diagnose_entries
from analyzer.rulebook import Matcher
from analyzer.rulebook.cache import load_rulebook
from analyzer.sources import open_sources

CASEBOOK = Path(__file__).parents[2] / "fixtures" / "casebook"
CASES = sorted(path.parent for path in CASEBOOK.glob("*/case.json"))


@cache
def rulebook() -> Matcher:
    """The bundled rules, loaded once."""
    return load_rulebook()


@cache
def entries_of(case: Path) -> tuple[Entry, ...]:
    """All entries of a case's input files."""
    notes: list[Note] = []
    paths = [str(path) for path in sorted(case.glob("input*"))]
    return tuple(entry for source in open_sources(paths, notes) for entry in read_source(source, notes))


@cache
def report_of(case: Path) -> Report:
    """A case's diagnosis as its input stands."""
    return diagnose(entries_of(case))


def diagnose(entries: object) -> Report:
    """The report on some entries, with the bundled rules."""
    return diagnose_entries(entries, rulebook(), Options())  # type: ignore[arg-type]


def expected(case: Path) -> dict[str, object]:
    """What the case says is right."""
    return json.loads((case / "case.json").read_text(encoding="utf-8"))
