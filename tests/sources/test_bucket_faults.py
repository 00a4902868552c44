"""A bucket in trouble: what did not come whole is told, costs itself only, and comes with the next scan."""

from __future__ import annotations

import base64
import gzip
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import google_crc32c
import pytest

from analyzer.errors import RemoteError
from analyzer.formats import read_source
from analyzer.model import Note
from analyzer.scanning import ScanResult, Settings, scan
from analyzer.sources import buckets, open_sources

ODD = "1.json"


def lines(first: int, count: int = 100) -> bytes:
    """Entries of a sink's object."""
    entries = (
        {
            "insertId": f"a{number:06d}",
            "timestamp": f"2026-03-11T00:{number // 60:02d}:{number % 60:02d}Z",
            "textPayload": f"step {number}",
            "logName": "projects/acme-ml/logs/workerpool0-0",
            "resource": {"type": "ml_job", "labels": {"job_id": "5501", "task_name": "workerpool0-0"}},
        }
        for number in range(first, first + count)
    )
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)


class Store:
    """A bucket of three objects; `list_odd` and `give_odd` answer in its place for the listing and for the second."""

    def __init__(self) -> None:
        self.objects = {f"{number}.json": lines(number * 100) for number in range(3)}
        self.generations = dict.fromkeys(self.objects, "1")
        self.list_odd: Callable[[Request], object] | None = None
        self.give_odd: Callable[[Request, bytes, int], object] | None = None
        outer = self

        class Handler(Request):
            store = outer

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


class Request(BaseHTTPRequestHandler):
    """One request to the store."""

    protocol_version = "HTTP/1.1"
    store: Store

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        name, query = unquote(address.path.rpartition("/")[2]), parse_qs(address.query)
        if name == "logs":  # the bucket itself
            self.answer(200, b"{}")
        elif name == "o":
            self._list(query.get("prefix", [""])[0])
        elif name not in self.store.objects or query.get("generation", ["1"]) != [self.store.generations[name]]:
            self.answer(404, b"No such object")
        else:
            self._give(name)

    def answer(self, status: int, body: bytes, *, missing: int = 0) -> None:
        """An answer that breaks off so many bytes before its end."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) - missing])
        self.close_connection = missing > 0

    def _list(self, prefix: str) -> None:
        if self.store.list_odd is not None:
            self.store.list_odd(self)
            return
        items = [
            {"name": name, "bucket": "logs", "size": str(len(data)), "generation": self.store.generations[name],
             "crc32c": base64.b64encode(google_crc32c.Checksum(data).digest()).decode()}
            for name, data in self.store.objects.items() if name.startswith(prefix)
        ]  # fmt: skip
        self.answer(200, json.dumps({"kind": "storage#objects", "items": items}).encode())

    def _give(self, name: str) -> None:
        data = self.store.objects[name]
        first, _, last = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
        part = data[int(first) : int(last) + 1 if last else None]
        if name == ODD and self.store.give_odd is not None:
            self.store.give_odd(self, part, int(first))
        else:
            self.answer(206 if part else 416, part)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    store = Store()
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", store.address)
    monkeypatch.setattr(buckets, "PATIENCE", 0.3)
    yield store
    store.close()


def found(output: Path) -> tuple[int, list[str], list[str]]:
    """What a scan into this folder finds: its entries, the objects that it read, the kinds of its notes."""
    result: ScanResult = scan(["gs://logs"], Settings(output=output))
    names = [name.rpartition("/")[2] for name in result.objects_read]
    return result.entries, names, sorted({note.kind for note in result.notes})


def half(request: Request, part: bytes, first: int) -> None:
    """The object seems to end in its middle."""
    part = part[: max(0, 15_000 - first)]
    request.answer(206 if part else 416, part)


GIVEN: dict[str, Callable[[Request, bytes, int], object]] = {
    "cut off": lambda request, part, first: request.answer(206, part, missing=len(part) // 2),
    "shorter than listed": half,
    "out of service": lambda request, part, first: request.answer(503, b"<html>Sorry</html>"),
    "out of service later": lambda request, part, first: (
        request.answer(503, b"") if first else request.answer(206, part[:9000])
    ),
    "gone": lambda request, part, first: request.answer(404, b"No such object"),
    "other bytes": lambda request, part, first: request.answer(206, part.replace(b"step 15", b"step 66")),
}


PACKED = ("shorter than listed",)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the client leaves refusals unread
@pytest.mark.parametrize(("kind", "packed"), [*((kind, False) for kind in GIVEN), *((kind, True) for kind in PACKED)])
def test_an_object_that_does_not_come_whole(store: Store, tmp_path: Path, kind: str, packed: bool) -> None:
    """It is named as unreadable, the others are read, and the next scan reads this one alone."""
    if packed:
        store.objects[ODD] = gzip.compress(store.objects[ODD], 0)
    store.give_odd = GIVEN[kind]
    entries, names, kinds = found(tmp_path / "out")
    assert (names, "unreadable" in kinds) == (["0.json", ODD, "2.json"], True)
    assert 200 <= entries <= 300
    store.give_odd = None
    assert found(tmp_path / "out") == (300, [ODD], [])


def test_more_than_is_listed(store: Store, tmp_path: Path) -> None:
    """What lies behind the end is not read."""
    store.give_odd = lambda request, part, first: request.answer(206, part + b"{}" * 9)
    assert found(tmp_path / "out") == (300, ["0.json", ODD, "2.json"], [])


@pytest.mark.parametrize("change", ["overwritten", "deleted"])
def test_an_object_that_changes_after_it_was_listed(store: Store, change: str) -> None:
    """A diagnosis has all the others, and names the one that it did not get."""

    def alter() -> None:
        if change == "overwritten":
            store.objects[ODD], store.generations[ODD] = lines(100, 150), "2"
        else:
            del store.objects[ODD]

    notes: list[Note] = []
    sources = open_sources(["gs://logs"], notes)
    texts = []
    for source in sources:
        texts += [entry.text for entry in read_source(source, notes)]
        if source.name.endswith("0.json"):
            alter()
    assert ("step 99" in texts, "step 200" in texts, "step 120" in texts) == (True, True, False)
    assert [(note.kind, note.source) for note in notes] == [("unreadable", f"gs://logs/{ODD}")]


@pytest.mark.parametrize("change", ["overwritten", "deleted"])
def test_an_object_that_changes_while_a_scan_runs(store: Store, tmp_path: Path, change: str) -> None:
    """The scan ends; the next one has what is there then, and nothing twice."""

    def alter(progress: Any) -> None:
        if progress.step == "reading" and not progress.bytes_read:
            if change == "overwritten":
                store.objects[ODD], store.generations[ODD] = lines(100, 150), "2"
            else:
                store.objects.pop(ODD, None)

    scan(["gs://logs"], Settings(output=tmp_path / "out"), alter)
    store.objects[ODD], store.generations[ODD] = lines(100, 150), "2"
    store.objects = dict(sorted(store.objects.items()))
    result = scan(["gs://logs"], Settings(output=tmp_path / "out"))
    assert (result.entries, result.objects_read, result.notes) == (350, [f"gs://logs/{ODD}"], [])


LISTINGS: dict[str, Callable[[Request], object]] = {
    "out of service": lambda request: request.answer(503, b"<html>Sorry</html>"),
    "a page for people": lambda request: request.answer(200, b"<html>Sign in</html>"),
    "cut off": lambda request: request.answer(200, b'{"items": [' + b" " * 40, missing=40),
    "in a circle": lambda request: request.answer(200, b'{"kind": "storage#objects", "nextPageToken": "again"}'),
    "closed": lambda request: request.connection.shutdown(2),
}


@pytest.mark.parametrize("kind", LISTINGS)
def test_a_listing_that_fails(store: Store, tmp_path: Path, kind: str) -> None:
    """It is one sentence that says to try again, after a bounded while; then the same command completes."""
    store.list_odd = LISTINGS[kind]
    with pytest.raises(RemoteError, match=r"gs://logs: Cloud Storage failed \(.*try again in a few minutes"):
        found(tmp_path / "out")
    store.list_odd = None
    assert found(tmp_path / "out") == (300, ["0.json", ODD, "2.json"], [])
