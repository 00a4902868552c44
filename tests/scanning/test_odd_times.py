"""Entries whose time no clock shows: one of them costs nobody a scan, a diagnosis or a report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from exports import run, write_exports

from analyzer.entries import Options
from analyzer.pipeline import diagnose_paths
from analyzer.report import FORMATS, render
from analyzer.rulebook.cache import load_rulebook

TIMES = ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:60Z", "2016-12-31T23:59:60Z", "1678-01-01T00:00:00Z",
         "2261-12-31T23:59:59.999999999Z"]  # fmt: skip


@pytest.mark.parametrize("time", TIMES)
@pytest.mark.parametrize("share", [1, 40], ids=["all entries", "some entries"])
def test_no_time_is_too_odd(tmp_path: Path, time: str, share: int) -> None:
    """A scan gives every job its row, and each form of report is written."""
    file = next(write_exports(tmp_path / "in", jobs=2, lines=30, hours=1).iterdir())
    lines = file.read_text().splitlines()
    odd = [json.dumps(json.loads(line) | {"timestamp": time}) for line in lines[::share]]
    lines[::share] = odd
    text = f"{time.replace('T', ' ').replace('Z', '')} a line of text"
    file.write_text("\n".join(lines))
    (tmp_path / "in" / "plain.log").write_text(f"{text}\n2026-03-11 08:00:00 step 1\n")
    result = run([tmp_path / "in"], tmp_path / "out")
    assert len(result.jobs) == 3
    report = diagnose_paths([str(tmp_path / "in")], load_rulebook(()), Options())
    for format in FORMATS:
        assert render(report, format)
