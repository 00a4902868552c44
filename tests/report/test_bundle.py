"""A packet for support is complete, masked, and the same for the same report."""

from __future__ import annotations

import csv
import io
import zipfile

import pytest
from hostile import PAYLOADS, hostile_report
from samples import ALL, host_oom, report

from analyzer.pseudonyms import strict_report
from analyzer.report.bundle import packet
from analyzer.report.json_report import load_report


def _files(data: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name).decode("utf-8") for name in archive.namelist()}


def test_the_packet_holds_report_evidence_timeline_and_versions() -> None:
    """Each as a file that opens without this program, and one that it reads again."""
    files = _files(packet(strict_report(report(host_oom())), "de", "strict"))
    assert set(files) == {
        "README.txt", "report.html", "report.json", "report.md", "evidence.txt", "timeline.csv", "versions.txt",
    }  # fmt: skip
    assert load_report(files["report.json"].encode()).diagnoses[0].category == "out_of_memory"
    assert len(list(csv.DictReader(io.StringIO(files["timeline.csv"])))) == 9
    assert 'lang="de"' in files["report.html"]


def test_equal_reports_give_equal_packets() -> None:
    """No clock and no order of a set goes into it."""
    assert packet(report(host_oom()), "en", "secrets") == packet(report(host_oom()), "en", "secrets")


def test_no_project_is_left_in_a_strict_packet() -> None:
    """Not in links, commands, evidence or the timeline."""
    diagnosis = host_oom()
    assert diagnosis.job.project
    files = _files(packet(strict_report(report(diagnosis)), "en", "strict"))
    assert not [name for name, text in files.items() if diagnosis.job.project in text]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_text_stays_text(payload: str) -> None:
    """No cell is a formula, no control character is left, file names are ours."""
    for make in ALL.values():
        files = _files(packet(hostile_report(make(), PAYLOADS[payload]), "en", "strict"))
        rows = list(csv.reader(io.StringIO(files["timeline.csv"])))
        assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "@", "\t"))]
        assert "\x1b" not in files["evidence.txt"] + files["README.txt"] + files["versions.txt"]
