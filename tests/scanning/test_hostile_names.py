"""Job ids and names of replicas are text of the log: as paths, formulas, markup or commands they stay text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analyzer.entries import Options
from analyzer.pipeline import diagnose_paths
from analyzer.report import render
from analyzer.rulebook.cache import load_rulebook
from analyzer.scanning import Settings, scan

NAMES = {
    "climbing": "../../x", "absolute": "/etc/passwd", "device": "con", "another device": "NUL.txt", "long": "a" * 300,
    "lines": "a\nb\r\nc", "markup": "<script>alert(1)</script>", "formula": "=cmd|' /C calc'!A0", "screen": "\x1b]0;owned\x07\x1b[31m",
    "turned": "a\u202eb\u200bc", "nul": "a\x00b", "half": "a\ud83db", "blank": " ", "option": "--output", "dot": ".",
    "separators": "a\x1fb\x1fc", "encoded": "%2e%2e%2f", "wildcards": "a:b*?\"<>|", "shell": "x; rm -rf ~ `id` $(id)",
}  # fmt: skip
"""Names that would do harm as something else than a name."""


def export(folder: Path, kind: str) -> Path:
    """An export with a failed job of each name; its replica is called the same."""
    lines = []
    for name in NAMES.values():
        said = [("service", "Job is running."), (name, "step 1 loss 3"), (name, "Traceback (most recent call last):\nKeyError: 'x'"),
                ("service", f"The replica {name} exited with a non-zero status of 1."), ("service", "Job failed.")]  # fmt: skip
        for second, (speaker, text) in enumerate(said):
            entry: dict[str, object] = {
                "insertId": f"i{second}", "timestamp": f"2026-03-01T10:00:{second:02d}Z", "severity": "ERROR",
                "logName": "projects/p/logs/x", "textPayload": text,
            }  # fmt: skip
            if kind == "vertex":
                entry["resource"] = {
                    "type": "ml_job",
                    "labels": {"job_id": name, "project_id": "p", "task_name": speaker},
                }
            elif kind == "gke":
                entry["resource"] = {
                    "type": "k8s_container",
                    "labels": {"pod_name": speaker, "project_id": "p", "container_name": "m"},
                }
                entry["labels"] = {"k8s-pod/job-name": name}
            else:
                entry["resource"] = {"type": "batch.googleapis.com/Job", "labels": {"job_id": name}}
                entry["labels"] = {"job_uid": name, "task_id": speaker}
            lines.append(json.dumps(entry))
    file = folder / "in.json"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


@pytest.mark.parametrize("kind", ["vertex", "gke", "batch"])
def test_a_scan_writes_only_into_its_folder_under_harmless_names(tmp_path: Path, kind: str) -> None:
    """A page for each failed job, whatever it is called, in ASCII and short."""
    file = export(tmp_path, kind)
    scan([file], Settings(output=tmp_path / "out"))
    pages = [page.name for page in (tmp_path / "out" / "jobs").iterdir()]
    assert len(pages) == len(NAMES)
    assert all(
        page.isascii() and page.replace("-", "").replace(".", "").replace("_", "").isalnum() and len(page) < 80
        for page in pages
    )
    assert {path.name for path in tmp_path.iterdir()} == {"in.json", "out"}


@pytest.mark.parametrize("kind", ["vertex", "gke", "batch"])
@pytest.mark.parametrize("form", ["text", "html", "json", "markdown", "sarif", "junit", "github"])
def test_no_form_obeys_a_name(tmp_path: Path, kind: str, form: str) -> None:
    """Neither the screen nor the browser gets more than text."""
    report = diagnose_paths([str(export(tmp_path, kind))], load_rulebook(), Options())
    told = render(report, form)
    assert len(report.diagnoses) == len(NAMES)
    assert not any(sign in told for sign in ("\x1b", "\x07", "\x00", "\u202e", "\u200b"))
    assert form not in ("html", "junit") or "<script>alert" not in told
