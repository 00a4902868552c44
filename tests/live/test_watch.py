"""A job that runs is followed: what happens is told, its end is diagnosed, its log may stutter on the way."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import grpc
import pytest
from api_server import ApiServer
from live_jobs import JOB, PROJECT, custom_job, entry, failed_job, vertex_path
from logging_server import Fault, LoggingServer
from still_clock import StillClock

from analyzer.entries import Options
from analyzer.errors import RemoteError
from analyzer.live import happenings
from analyzer.live.progress import Silent
from analyzer.live.target import target_of
from analyzer.live.watch import Rhythm, watch
from analyzer.model import Report
from analyzer.rulebook import Matcher

QUICK = Rhythm(describe=0.2, poll=0.05, look=0.02, settle=0.05, grace=0.05)
LINES = failed_job(30)


class QuickClock(StillClock):
    """The calendar stands still; waits are real, and short in these tests but for those of the quota."""

    def elapsed(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        time.sleep(min(seconds, 0.05))


class Watched:
    """A watch in the foreground, and what the job does meanwhile: each step once a line of the kind is told."""

    def __init__(self, rulebook: Matcher, steps: list[tuple[str, Callable[[], None]]]) -> None:
        self.lines: list[str] = []
        self._rulebook, self._steps = rulebook, steps

    def run(self, job: str = JOB, rhythm: Rhythm = QUICK, region: str | None = "us-central1", **options: Any) -> Report:
        return watch(
            target_of(job, PROJECT, region), self._rulebook, Options(**options), Silent(), self.tell,
            rhythm=rhythm, clock=QuickClock(), chance=random.Random(1),
        )  # fmt: skip

    def tell(self, line: str) -> None:
        self.lines.append(line)
        if self._steps and self._steps[0][0] in line:
            threading.Timer(0.1, self._steps.pop(0)[1]).start()


def running(server: LoggingServer, api: ApiServer, lines: int = 10) -> None:
    """A job that has begun."""
    server.add(*LINES[:lines])
    api.jobs[vertex_path()] = custom_job("JOB_STATE_RUNNING")


def ends(server: LoggingServer, api: ApiServer, lines: int = 10) -> Callable[[], None]:
    """What the job does to fail."""

    def fail() -> None:
        server.add(*LINES[lines:])
        api.jobs[vertex_path()] = custom_job()

    return fail


def test_a_failure_is_told_and_diagnosed(
    logging_server: LoggingServer, api_server: ApiServer, rulebook: Matcher
) -> None:
    """The past, the state, the failure and the end are told in order, each once; then comes the diagnosis."""
    running(logging_server, api_server)
    watched = Watched(rulebook, [("RUNNING", ends(logging_server, api_server))])
    report = watched.run()
    kinds = [line.split("  ", 2)[-1].strip() for line in watched.lines]
    assert kinds == [
        "state: Waiting for training program to start.",
        "state: Job is running.",
        "state: started",
        "state: RUNNING",
        "failure: the Python module timm is not installed",
        "failure: The replica workerpool0-0 exited with a non-zero status of 1. Termination reason: Error.",
        "state: Job failed.",
        "state: FAILED",
    ]
    assert (report.diagnoses[0].cause, report.diagnoses[0].stats.entries) == ("import_error", 37)
    assert len(logging_server.tails) == 1


def test_a_job_that_is_over(logging_server: LoggingServer, api_server: ApiServer, rulebook: Matcher) -> None:
    """A job that has ended before is diagnosed at once."""
    logging_server.add(*LINES)
    api_server.jobs[vertex_path()] = custom_job()
    assert Watched(rulebook, []).run().diagnoses[0].cause == "import_error"
    assert logging_server.tails == []


def test_without_a_description(logging_server: LoggingServer, api_server: ApiServer, rulebook: Matcher) -> None:
    """Where the description may not be read the service's last word in the log is the end."""
    logging_server.add(*LINES[:10])
    api_server.refuse_all = (403, "PERMISSION_DENIED", "denied")
    watched = Watched(rulebook, [("started", lambda: logging_server.add(*LINES[10:]))])
    assert watched.run().diagnoses[0].outcome == "failed"


@pytest.mark.parametrize("code", [grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.RESOURCE_EXHAUSTED])
def test_a_refused_tail(
    logging_server: LoggingServer, api_server: ApiServer, rulebook: Matcher, code: grpc.StatusCode
) -> None:
    """Without a tail the log is asked again and again, which comes to the same."""
    logging_server.tail_faults = [Fault(code, "no tail for you")]
    running(logging_server, api_server)
    watched = Watched(rulebook, [("cannot be tailed", ends(logging_server, api_server))])
    assert watched.run().diagnoses[0].stats.entries == 37
    assert len(logging_server.tails) == 1
    assert all(query.filter.startswith('timestamp>="2026-') for query in logging_server.queries)


def test_a_broken_tail_is_opened_again(logging_server: LoggingServer, api_server: ApiServer, rulebook: Matcher) -> None:
    """A tail that breaks off is opened anew, and what came in between is listed."""
    down = Fault(grpc.StatusCode.UNAVAILABLE, "connection reset")
    logging_server.tail_faults = [down, down]
    running(logging_server, api_server)
    watched = Watched(rulebook, [("RUNNING", ends(logging_server, api_server))])
    assert watched.run().diagnoses[0].stats.entries == 37
    assert len(logging_server.tails) == 3


def test_what_a_tail_leaves_out_is_listed(
    logging_server: LoggingServer, api_server: ApiServer, rulebook: Matcher
) -> None:
    """Entries that the service suppresses in the tail are in the diagnosis."""
    running(logging_server, api_server)
    logging_server.untailed = {LINES[number]["insertId"] for number in (12, 13, 33)}
    watched = Watched(rulebook, [("RUNNING", ends(logging_server, api_server))])
    report = watched.run()
    assert (report.diagnoses[0].cause, report.diagnoses[0].stats.entries) == ("import_error", 37)


def test_credentials_that_end_meanwhile(
    logging_server: LoggingServer, api_server: ApiServer, rulebook: Matcher
) -> None:
    """A watch whose credentials are refused ends with the advice to sign in again."""
    logging_server.tail_faults = [Fault(grpc.StatusCode.UNAUTHENTICATED, "invalid credentials")]
    running(logging_server, api_server)
    with pytest.raises(RemoteError, match="gcloud auth application-default login"):
        Watched(rulebook, []).run()


def test_restarts_are_told(logging_server: LoggingServer, api_server: ApiServer, rulebook: Matcher) -> None:
    """The runner's first line coming again is a restart."""
    running(logging_server, api_server)

    def restart() -> None:
        logging_server.add(entry(200, "Running module trainer.task.", at=50))

    steps = [("RUNNING", restart), ("started again", ends(logging_server, api_server))]
    watched = Watched(rulebook, steps)
    report = watched.run()
    assert steps == []
    assert report.diagnoses[0].timeline.restarts_total == 1


def test_an_interruption_diagnoses_what_came(
    logging_server: LoggingServer, api_server: ApiServer, rulebook: Matcher
) -> None:
    """Ctrl-C ends the watch, not the work."""
    running(logging_server, api_server)
    watched = Watched(rulebook, [("RUNNING", lambda: logging_server.add(*LINES[10:-2]))])
    tell = watched.tell

    def interrupt(line: str) -> None:
        tell(line)
        if "timm" in line:
            raise KeyboardInterrupt

    watched.tell = interrupt  # type: ignore[method-assign]
    report = watched.run()
    assert (report.diagnoses[0].outcome, report.diagnoses[0].stats.entries) == ("failed", 35)
    assert "watching was interrupted" in " ".join(note.text for note in report.notes)


def test_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch, rulebook: Matcher) -> None:
    """What is remembered of a long watch has a limit, whatever passes by."""
    monkeypatch.setattr(happenings, "_REMEMBERED", 50)
    told = happenings.Happenings(rulebook, "en")
    for number in range(120):
        line = entry(number, f"ModuleNotFoundError: No module named 'm{number}'", f"workerpool0-{number}")
        told.of([json.dumps(line).encode()])
    assert len(told._told) <= 50
    assert len(told._counts) <= 50
    assert len(told._carried) <= 60
