"""The services on this machine, a clock that only goes when it is waited for, and runs of the program against them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from api_server import ApiServer
from live_jobs import JOB, PROJECT
from logging_server import LoggingServer
from still_clock import StillClock

from analyzer.entries import Options
from analyzer.live.progress import Silent
from analyzer.live.run import diagnose_live
from analyzer.live.target import target_of
from analyzer.model import Report
from analyzer.rulebook import Matcher
from analyzer.rulebook.cache import load_rulebook


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture(scope="session")
def rulebook() -> Matcher:
    return load_rulebook(())


@pytest.fixture
def logging_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoggingServer]:
    server = LoggingServer()
    monkeypatch.setenv("DIAGNOSE_LOGGING_ENDPOINT", server.address)
    yield server
    server.close()


@pytest.fixture
def api_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    server = ApiServer()
    monkeypatch.setenv("DIAGNOSE_API_ENDPOINT", server.address)
    yield server
    server.close()


Diagnose = Callable[..., Report]


@pytest.fixture
def diagnose(clock: StillClock, rulebook: Matcher) -> Diagnose:
    """A live diagnosis as the command line makes it, with a clock that does not go."""

    def run(job: str = JOB, project: str = PROJECT, region: str | None = None, save: Path | None = None) -> Report:
        target = target_of(job, project, region)
        options = Options(job_id=target.id)
        return diagnose_live(target, rulebook, options, Silent(), save=save, clock=clock, chance=random.Random(1))

    return run
