"""The live log from the command line, as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import grpc
from api_server import ApiServer
from live_jobs import JOB, PROJECT, START, custom_job, failed_job, vertex_path
from logging_server import Fault, LoggingServer

COMMAND = [sys.executable, "-m", "analyzer"]


def diagnose(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the program as a user does."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=60, check=False)


def recent(server: LoggingServer, lines: int = 20) -> None:
    """A job of a moment ago, for a program that looks at the real calendar."""
    import time

    from analyzer.model import SECOND, Instant

    shift = int(time.time() * SECOND) - int(START) - (lines + 20) * SECOND
    job = failed_job(lines)
    for line in job:
        line["timestamp"] = str(Instant(int(Instant.parse(line["timestamp"]) or 0) + shift))
    server.add(*job)


def test_a_live_job(logging_server: LoggingServer, api_server: ApiServer, tmp_path: Path) -> None:
    """The diagnosis goes to standard output, the saved log to its file, and both say the same later."""
    recent(logging_server)
    api_server.jobs[vertex_path()] = custom_job()
    saved = tmp_path / "job.jsonl"
    done = diagnose(JOB, "--project", PROJECT, "--save", str(saved), "--format", "json")
    assert done.returncode == 0, done.stderr
    live = json.loads(done.stdout)["diagnoses"][0]
    again = json.loads(diagnose(JOB, "--logs", str(saved), "--format", "json").stdout)["diagnoses"][0]
    assert (live["cause"], live["root_cause"]) == (again["cause"], again["root_cause"])
    assert (live["category"], live["job"]["machine_type"]) == ("user_exception", "n1-standard-8")


def test_a_refusal(logging_server: LoggingServer) -> None:
    """A service's refusal is one sentence on standard error and the exit status 4; no such job is 3; a slip is 2."""
    logging_server.faults = [Fault(grpc.StatusCode.PERMISSION_DENIED, "denied")]
    done = diagnose(JOB, "--project", PROJECT)
    assert done.returncode == 4
    assert done.stderr.startswith("diagnose: the log of the project 'acme-ml' may not be read")
    assert done.stderr.count("\n") == 1
    assert diagnose(JOB, "--project", PROJECT, "--region", "us-central1").returncode == 3
    assert diagnose("--project", PROJECT).returncode == 2
    assert diagnose(JOB, "--logs", "x.json", "--region", "us-central1").returncode == 2


def test_waiting_is_shown(logging_server: LoggingServer) -> None:
    """A wait is told on standard error, and why."""
    recent(logging_server)
    logging_server.faults = [Fault(grpc.StatusCode.UNAVAILABLE, "away")]
    done = diagnose(JOB, "--project", PROJECT)
    assert done.returncode == 0
    assert ": Cloud Logging is not available" in done.stderr
    assert "not available" not in done.stdout


def test_an_interruption_keeps_what_was_read(logging_server: LoggingServer, monkeypatch: Any) -> None:
    """Ctrl-C while pages are read diagnoses those that came, and says what is missing."""
    recent(logging_server, 2500)
    asked, go = threading.Event(), threading.Event()
    listed = logging_server._found

    def slow(request: Any, context: Any) -> list[Any]:
        if len(logging_server.queries) == 2:
            asked.set()
            go.wait(30)
        return listed(request, context)

    monkeypatch.setattr(logging_server, "_found", slow)
    command = [*COMMAND, JOB, "--project", PROJECT, "--format", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert asked.wait(30)
        os.kill(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    go.set()
    assert process.returncode == 0, errors
    report = json.loads(output)
    assert report["diagnoses"][0]["root_cause"]["evidence"][0]["text"].endswith("No module named 'timm'")
    assert "note: reading was interrupted: 1000 entries were read, the newest first" in errors


def test_watch(logging_server: LoggingServer, api_server: ApiServer) -> None:
    """What happens goes to standard error, the diagnosis to standard output; --fail-on works as ever."""
    recent(logging_server)
    api_server.jobs[vertex_path()] = custom_job()
    done = diagnose("watch", JOB, "-p", PROJECT, "--grace", "0", "--fail-on", "user_exception", "--format", "json")
    assert done.returncode == 1, done.stderr
    assert "state: Job failed." in done.stderr
    assert json.loads(done.stdout)["diagnoses"][0]["outcome"] == "failed"


def test_help_names_the_environment() -> None:
    """The variables that name other addresses are in the help of both commands."""
    for arguments in (["job", "--help"], ["watch", "--help"]):
        text = diagnose(*arguments).stdout
        assert "DIAGNOSE_LOGGING_ENDPOINT" in text
        assert "DIAGNOSE_API_ENDPOINT" in text
