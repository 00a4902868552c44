"""Services in trouble: late, cut off, going in circles, or answering with something else. The diagnosis does not wait
for ever, is that of an undisturbed service where all came over, and says what is missing where it did not."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from api_server import ApiServer
from live_jobs import custom_job, failed_job
from logging_server import LoggingServer
from raw_server import RawServer, Wire, http
from still_clock import StillClock
from test_fetch import Diagnose, told
from test_watch import LINES, QuickClock, Watched, ends, running

from analyzer.errors import NothingToDiagnose
from analyzer.live import answers, listing
from analyzer.model import Instant, Report
from analyzer.rulebook import Matcher

BODY = json.dumps(custom_job()).encode()


class OddServer(LoggingServer):
    """A Logging service whose first pages are followed by what `follow` makes of them, given their number (from 1)."""

    def __init__(self) -> None:
        super().__init__()
        self.follow: Callable[[Any, int], Any] | None = None

    def _list(self, request: Any, context: grpc.ServicerContext) -> Any:
        if self.follow is None:
            return super()._list(request, context)
        request.page_token = ""
        return self.follow(super()._list(request, context), len(self.queries))


@pytest.fixture
def odd_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OddServer]:
    server = OddServer()
    monkeypatch.setenv("DIAGNOSE_LOGGING_ENDPOINT", server.address)
    yield server
    server.close()


def with_token(page: Any, token: str) -> Any:
    """The page, and the token of one that is said to follow."""
    page.next_page_token = token
    return page


def story(report: Report) -> Any:
    """What a diagnosis says, but for the places in the file of what was fetched, which come in another order."""
    found = told(report)
    for evidence in found["root_cause"]["evidence"]:
        del evidence["line"]
    return found


def cuts(report: Report) -> list[str]:
    """The notes on what was not read."""
    return [note.text for note in report.notes if note.kind == "truncated"]


# -- pages of entries


def test_pages_in_a_circle(diagnose: Diagnose, odd_server: OddServer) -> None:
    """A token that comes again ends the reading, which is told."""
    odd_server.add(*failed_job())
    whole = told(diagnose())
    odd_server.queries.clear()
    odd_server.follow = lambda page, number: with_token(page, "round")
    report = diagnose()
    assert told(report) == whole
    assert "come round in a circle" in cuts(report)[0]
    assert len(odd_server.queries) == 2


def test_the_same_page_for_ever(diagnose: Diagnose, odd_server: OddServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under ever new tokens it is followed for a while, then given up; what came is diagnosed."""
    monkeypatch.setattr(listing, "EMPTY_PAGES", 5)
    odd_server.add(*failed_job())
    whole = told(diagnose())
    odd_server.queries.clear()
    odd_server.follow = lambda page, number: with_token(page, f"token {number}")
    report = diagnose()
    assert told(report) == whole
    assert "did not come to an end" in cuts(report)[0]
    assert len(odd_server.queries) == 6


@pytest.mark.parametrize("order", [(0, 1, 1, 2), (2, 0, 1), (1, 1, 2, 0, 0)])
def test_pages_twice_and_out_of_order(diagnose: Diagnose, odd_server: OddServer, order: tuple[int, ...]) -> None:
    """All of it came, so that nothing is missing, and nothing counts twice."""
    odd_server.add(*failed_job(30))
    whole = story(diagnose())
    odd_server.queries.clear()

    def follow(page: Any, number: int) -> Any:
        share = list(page.entries)[order[number - 1] * 12 : (order[number - 1] + 1) * 12]
        del page.entries[:]
        page.entries.extend(share)
        return with_token(page, "" if number == len(order) else f"token {number}")

    odd_server.follow = follow
    report = diagnose()
    assert story(report) == whole
    assert cuts(report) == []


def test_answers_after_the_deadline(
    diagnose: Diagnose, odd_server: OddServer, clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that takes too long is made again."""
    odd_server.add(*failed_job())
    whole = told(diagnose())
    monkeypatch.setattr(listing, "TIMEOUT", 0.2)
    odd_server.queries.clear()

    def follow(page: Any, number: int) -> Any:
        time.sleep(0.4 if number < 3 else 0)
        return page

    odd_server.follow = follow
    assert told(diagnose()) == whole
    assert len(odd_server.queries) >= 3


# -- connections that break


@pytest.fixture
def wire(logging_server: LoggingServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """A wire to the Logging service that can be cut."""
    wire = Wire(logging_server.address)
    monkeypatch.setenv("DIAGNOSE_LOGGING_ENDPOINT", wire.address)
    yield wire
    wire.close()


def test_a_page_that_breaks_off(
    diagnose: Diagnose, logging_server: LoggingServer, wire: Wire, clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that ends in the middle of a message: the page is asked for again."""
    logging_server.add(*failed_job(300))
    whole = told(diagnose())
    monkeypatch.setattr(clock, "sleep", lambda seconds: time.sleep(min(seconds, 0.4)))
    wire.limits = [20_000]
    assert told(diagnose()) == whole
    assert len(logging_server.queries) == 3


def test_a_tail_that_breaks_off(
    logging_server: LoggingServer, wire: Wire, api_server: ApiServer, rulebook: Matcher
) -> None:
    """It is opened again, and what came meanwhile is there."""
    running(logging_server, api_server)

    def cut() -> None:
        wire.cut()
        threading.Timer(0.1, ends(logging_server, api_server)).start()

    assert Watched(rulebook, [("RUNNING", cut)]).run().diagnoses[0].stats.entries == 37
    assert len(logging_server.tails) > 1


# -- a clock of this machine that is wrong


@pytest.mark.parametrize("days", [-1, 1])
def test_a_clock_that_is_a_day_wrong(
    logging_server: LoggingServer, api_server: ApiServer, rulebook: Matcher, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    """A watch goes by the times of the service: nothing is lost, and nothing asked for over and over."""
    monkeypatch.setattr(QuickClock, "now", lambda self: StillClock.now(self) + days * 86_400)
    for line in LINES:
        line["timestamp"] = str((Instant.parse(line["timestamp"]) or Instant(0)).plus(86_400))
    running(logging_server, api_server)
    report = Watched(rulebook, [("RUNNING", ends(logging_server, api_server))]).run()
    assert (report.diagnoses[0].cause, report.diagnoses[0].stats.entries) == ("import_error", 37)
    assert len(logging_server.queries) < 10


# -- the APIs that describe jobs


def drip(server: RawServer) -> Callable[[socket.socket, int], object]:
    """A body that comes byte by byte."""

    def answer(connection: socket.socket, number: int) -> None:
        connection.sendall(http("200 OK", b"", length=1000))
        for _ in range(1000):
            connection.sendall(b" ")
            server.wait(0.05)

    return answer


def always(data: bytes) -> Callable[[RawServer], Callable[[socket.socket, int], object]]:
    """The same answer to everybody."""
    return lambda server: lambda connection, number: connection.sendall(data)


QUOTA = b'{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded"}}'
PAGE = b"<html><body>Sorry</body></html>"
ODD = {
    "shorter than it says": (always(http("200 OK", BODY, length=len(BODY) + 50)), "ProtocolError"),
    "longer than it says": (always(http("200 OK", BODY, length=len(BODY) - 50)), "no description"),
    "cut JSON": (always(http("200 OK", BODY[:-20])), "no description"),
    "a list": (always(http("200 OK", b"[1, 2]")), "no description"),
    "nested without end": (always(http("200 OK", b"[" * 200_000)), "no description"),
    "no UTF-8": (always(http("200 OK", b'{"name": "\xff"}')), "no description"),
    "a page for people": (always(http("200 OK", PAGE)), "no description"),
    "a page about an error": (always(http("503 Service Unavailable", PAGE)), "HTTP 503"),
    "used up for a day": (always(http("429 Too Many Requests", QUOTA, "Retry-After: 86400")), "Quota exceeded"),
    "used up": (always(http("429 Too Many Requests", QUOTA, "Retry-After: 5")), "Quota exceeded"),
    "redirected": (always(http("302 Found", b"", "Location: https://example.com/")), "HTTP 302"),
    "in a circle": (always(http("302 Found", b"", "Location: /again")), "HTTP 302"),
    "nothing": (always(b""), "ConnectionError"),
    "no HTTP": (always(b"\0\1\2\r\n\r\n"), "ConnectionError"),
    "never": (lambda server: lambda connection, number: server.wait(5), "ReadTimeout"),
    "byte by byte": (drip, "takes too long"),
}


SLOW = ("ReadTimeout", "takes too long")


@pytest.mark.parametrize("kind", ODD)
def test_descriptions_that_are_none(
    diagnose: Diagnose, logging_server: LoggingServer, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The log is diagnosed all the same, after few requests, and the note says what the service did."""
    make, why = ODD[kind]
    if why in SLOW:
        monkeypatch.setattr(answers, "TIMEOUT", 0.3)
    logging_server.add(*failed_job())
    server = RawServer(lambda connection, number: make(server)(connection, number))
    monkeypatch.setenv("DIAGNOSE_API_ENDPOINT", server.address)
    report = diagnose(region="us-central1")
    server.close()
    assert report.diagnoses[0].cause == "import_error"
    texts = [note.text for note in report.notes]
    assert texts == [f"the job's description could not be asked for: Vertex AI fails ({texts[0].partition('fails (')[2]}"]
    assert why in texts[0]
    assert server.asked <= 9


@pytest.mark.parametrize("status", ["429 Too Many Requests", "500 Internal Server Error", "503 Service Unavailable"])
def test_descriptions_after_a_while(
    diagnose: Diagnose, logging_server: LoggingServer, clock: StillClock, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    """A failure that passes is waited for, as long as the service asks."""
    logging_server.add(*failed_job())
    first = http(status, QUOTA, "Retry-After: 7")
    server = RawServer(lambda connection, number: connection.sendall(http("200 OK", BODY) if number > 1 else first))
    monkeypatch.setenv("DIAGNOSE_API_ENDPOINT", server.address)
    report = diagnose(region="us-central1")
    server.close()
    assert report.diagnoses[0].job.machine_type == "n1-standard-8"
    assert (report.notes, clock.waits) == ([], [7.0])


def test_a_job_without_a_log_whose_description_fails(
    diagnose: Diagnose, logging_server: LoggingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That there is no such job is not said without what stood in the way."""
    server = RawServer(lambda connection, number: connection.sendall(http("503 Service Unavailable", PAGE)))
    monkeypatch.setenv("DIAGNOSE_API_ENDPOINT", server.address)
    with pytest.raises(NothingToDiagnose, match=r"could not be asked for: Vertex AI fails \(HTTP 503\)"):
        diagnose(region="us-central1")
    server.close()
