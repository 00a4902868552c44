"""Bad input gives one sentence, the right exit status, and loses nothing that could be read."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

GOOD = [
    {
        "insertId": f"a{n}",
        "timestamp": f"2026-03-11T08:21:{n:02d}Z",
        "textPayload": text,
        "resource": {"type": "ml_job", "labels": {"job_id": "5501", "task_name": task, "project_id": "acme"}},
    }
    for n, (task, text) in enumerate(
        [
            ("service", "Waiting for training program to start."),
            ("workerpool0-0", "Running module trainer.task."),
            ("workerpool0-0", "ModuleNotFoundError: No module named 'timm'"),
            ("service", "The replica workerpool0-0 exited with a non-zero status of 1. Termination reason: Error."),
            ("service", "Job failed."),
        ]
    )
]


def diagnose(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Runs the program as a user does."""
    command = [sys.executable, "-m", "analyzer", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False)


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A small export in one file."""
    path = tmp_path / "export.json"
    path.write_text(json.dumps(GOOD, indent=2))
    return path


def test_no_such_file(tmp_path: Path) -> None:
    """A path that does not exist is named."""
    done = diagnose("--logs", str(tmp_path / "missing.json"))
    assert done.returncode == 3
    assert b"missing.json" in done.stderr


@pytest.mark.parametrize("content", [b"", b"\n\n", b"[]", b"[" * 9000 + b"]" * 9000, bytes(range(256)) * 40])
def test_files_without_a_log(tmp_path: Path, content: bytes) -> None:
    """An empty file and a binary file hold nothing to diagnose, and the answer says so."""
    path = tmp_path / "odd.bin"
    path.write_bytes(content)
    done = diagnose("--logs", str(path))
    assert done.returncode == 3
    assert b"odd.bin" in done.stderr
    assert (b"see the notes above" in done.stderr) == (b"note: " in done.stderr)
    assert b"Traceback" not in done.stderr


def test_a_folder_without_logs(tmp_path: Path) -> None:
    """An empty folder is no error of the program's."""
    done = diagnose("--logs", str(tmp_path))
    assert done.returncode == 3
    assert b"Traceback" not in done.stderr


def test_a_cut_gz_keeps_what_can_be_read(tmp_path: Path) -> None:
    """Half a gz file gives the entries that its first half holds, and a note."""
    lines = b"".join(json.dumps(entry).encode() + b"\n" for entry in GOOD * 400)
    path = tmp_path / "export.ndjson.gz"
    path.write_bytes(gzip.compress(lines)[:-200])
    done = diagnose("--logs", str(path), "--format", "json")
    assert done.returncode == 0
    report = json.loads(done.stdout)
    assert report["diagnoses"][0]["job"]["id"] == "5501"
    assert any("export.ndjson.gz" in (note["source"] or "") for note in report["notes"])


def test_a_cut_array_keeps_its_whole_objects(export: Path) -> None:
    """A JSON array cut in the middle of its last object gives all the others."""
    export.write_bytes(export.read_bytes()[:-60])
    done = diagnose("--logs", str(export), "--format", "json")
    report = json.loads(done.stdout)
    assert report["diagnoses"][0]["stats"]["entries"] == len(GOOD) - 1
    assert report["notes"]


def test_one_bad_line_costs_one_line(tmp_path: Path) -> None:
    """A broken line among good ones is counted and shown; the others are read."""
    lines = [json.dumps(entry) for entry in GOOD]
    lines.insert(2, '{"insertId": "broken", "textPayload": ')
    path = tmp_path / "export.ndjson"
    path.write_text("\n".join(lines))
    report = json.loads(diagnose("--logs", str(path), "--format", "json").stdout)
    diagnosis = next(d for d in report["diagnoses"] if d["job"]["id"] == "5501")
    assert diagnosis["stats"]["entries"] >= len(GOOD)
    assert any(note["line"] == 3 for note in report["notes"])


def test_an_unknown_job_id_names_near_ones(export: Path) -> None:
    """A job that is not in the input: the ids that are there are offered."""
    done = diagnose("5502", "--logs", str(export))
    assert done.returncode == 3
    assert b"5501" in done.stderr


def test_a_rule_pack_with_a_mistake_is_located(export: Path, tmp_path: Path) -> None:
    """A mistake in a user's rule is told as file:line."""
    pack = tmp_path / "pack" / "storage"
    pack.mkdir(parents=True)
    (pack / "mine.yaml").write_text("id: storage.mine\ntitle: {en: x, de: x}\nrole: rot\nwhen: {regex: 'some words'}\n")
    done = diagnose("--logs", str(export), "--rules", str(tmp_path / "pack"))
    assert done.returncode == 2
    assert b"mine.yaml:3" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["5501"],
        ["--logs"],
        ["--logs", "x", "--format", "pdf9"],
        ["--logs", "x", "--lang", "xx"],
        ["--logs", "x", "--exit-code", "q"],
    ],
)
def test_wrong_usage_is_status_2(arguments: list[str]) -> None:
    """Words that the program does not understand end it with 2 and advice."""
    done = diagnose(*arguments)
    assert done.returncode == 2
    assert done.stderr


def test_fail_on_turns_a_category_into_status_1(export: Path) -> None:
    """With --fail-on the exit status tells a script the category; without it a diagnosis is a success of the program."""
    assert diagnose("--logs", str(export)).returncode == 0
    assert diagnose("--logs", str(export), "--fail-on", "user_exception").returncode == 1
    assert diagnose("--logs", str(export), "--fail-on", "stockout").returncode == 0


def test_standard_input_is_a_source(export: Path) -> None:
    """`--logs -` reads what is piped in."""
    done = diagnose("--logs", "-", "--format", "json", stdin=export.read_bytes())
    assert json.loads(done.stdout)["diagnoses"][0]["category"] == "user_exception"
