"""The law *scan*: a job is diagnosed in a scan of many as it is alone, although nobody there sees all entries at once."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from cases import CASES, rulebook

from analyzer.entries import Options
from analyzer.model import Report
from analyzer.pipeline import diagnose_paths
from analyzer.report.json_report import to_builtins
from analyzer.scanning import Settings, scan
from analyzer.scanning.database import Database

ARRAY = next(case for case in CASES if "slurm-exit-0-53" in case.name)
"""Tasks of a Slurm array, which only the text of a line ties together."""
SAMPLE = [*CASES[::12], ARRAY]


@pytest.mark.parametrize("case", SAMPLE, ids=lambda path: path.name)
def test_a_scan_says_what_a_diagnosis_says(case: Path, tmp_path: Path) -> None:
    """The same jobs with the very same diagnoses."""
    paths = [str(file) for file in sorted(case.iterdir()) if file.name != "case.json"]
    alone = diagnose_paths(paths, rulebook(), Options())
    scan(paths, Settings(output=tmp_path))
    assert of_scan(tmp_path) == of_report(alone)


def of_report(report: Report) -> list[object]:
    """A report's diagnoses in the order of their jobs' keys."""
    return [to_builtins(d) for d in sorted(report.diagnoses, key=lambda d: (d.job.platform, d.job.project or "", d.job.id))]


def of_scan(folder: Path) -> list[object]:
    """What a scan recorded, in the same order."""
    database = Database(folder, create=False, write=False)
    try:
        return [msgspec.json.decode(kept.diagnosis) for kept in database.jobs()]
    finally:
        database.close()
