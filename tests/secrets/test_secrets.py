"""No planted secret is left in anything that the program writes; what is harmless stays."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import random
import sqlite3
import uuid
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpus import SHAPED, WHOLE, planted
from leaky import leaky_job

from analyzer.cli.boundary import run as run_cli
from analyzer.entries import Options
from analyzer.errors import UsageError
from analyzer.model import Report
from analyzer.pipeline import diagnose_paths
from analyzer.redact import redact
from analyzer.report import render
from analyzer.report.bundle import packet
from analyzer.rulebook.cache import load_rulebook
from analyzer.scanning import Settings, scan

CHOSEN = {
    name: pair
    for name, pair in planted().items()
    if name.endswith((", bare", ", DB_PASSWORD", ", DB_PASSWORD of a pod", "client_secret in JSON")) or name in WHOLE
}


def parts_of(secret: str) -> list[str]:
    """The stretches of a secret, since a log may hold a key one line at a time."""
    return [line for line in secret.replace("\\n", "\n").split("\n") if len(line) >= 8]


def left_in(text: str) -> list[str]:
    """The names of the planted secrets that a text holds."""
    return [name for name, (_, secret) in CHOSEN.items() if any(part in text for part in parts_of(secret))]


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export with a failed job for each of the planted secrets."""
    file = tmp_path_factory.mktemp("export") / "jobs.json"
    lines = [line for n, (text, _) in enumerate(CHOSEN.values()) for line in leaky_job(n, text)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def report(export: Path) -> Report:
    """The diagnoses of them all."""
    return diagnose_paths([str(export)], load_rulebook(), Options())


def test_forty_kinds_are_tried() -> None:
    """The corpus is what it says, and every job of it failed with its secret in the middle of things."""
    assert len(SHAPED) + len(WHOLE) >= 40


def test_each_kind_is_masked_in_each_place() -> None:
    """Messages, tracebacks, environments, argument lists, URLs, JSON, YAML, and JSON in JSON."""
    left = {
        name: masked
        for name, (text, secret) in planted().items()
        if any(p in (masked := redact(text)) for p in parts_of(secret))
    }
    assert left == {}


@pytest.mark.parametrize("form", ["text", "html", "json", "markdown", "sarif", "junit", "github"])
@pytest.mark.parametrize("lang", ["en", "de"])
def test_no_form_of_a_report_shows_a_secret(report: Report, form: str, lang: str) -> None:
    """All diagnoses together, and one alone, which is told at length."""
    assert len(report.diagnoses) == len(CHOSEN)
    assert left_in(render(report, form, lang=lang)) == []
    for diagnosis in report.diagnoses[::7]:
        alone = Report(tool=report.tool, diagnoses=[diagnosis], notes=report.notes)
        assert left_in(render(alone, form, lang=lang)) == []


def test_no_packet_for_support_holds_a_secret(report: Report) -> None:
    """Each of its files."""
    with zipfile.ZipFile(io.BytesIO(packet(report, "en", "secrets"))) as archive:
        assert left_in("".join(archive.read(name).decode() for name in archive.namelist())) == []


def test_a_scan_records_and_writes_no_secret(export: Path, tmp_path: Path) -> None:
    """Pages, tables, and the records in which it keeps the entries."""
    scan([export], Settings(output=tmp_path))
    assert left_in("\n".join(_contents(tmp_path))) == []


def test_unmasked_entries_are_recorded_only_if_asked_and_never_reused(export: Path, tmp_path: Path) -> None:
    """A scan without masking records what is there; one with masking into the same folder reads all anew."""
    scan([export], Settings(output=tmp_path, redact=False))
    assert left_in("\n".join(_contents(tmp_path)))
    scan([export], Settings(output=tmp_path))
    assert left_in("\n".join(_contents(tmp_path))) == []


def test_a_strict_scan_leaves_no_name_anywhere(tmp_path: Path) -> None:
    """Addresses, projects and buckets: neither in the results nor in what the next scan goes on from."""
    text = "alice@acme.example could not read gs://acme-private-data/x from 203.0.113.77 with project_id=acme-ml"
    file = tmp_path / "acme-ml" / "acme-private-data.json"
    file.parent.mkdir()
    file.write_text("\n".join(leaky_job(1, text)) + "\nbroken {line\n", encoding="utf-8")
    for _ in range(2):
        scan([file], Settings(output=tmp_path / "out", strict=True))
        told = "\n".join(_contents(tmp_path / "out")).replace("acme-private-data.json", "")
        assert [name for name in ("alice@acme", "acme-private-data", "203.0.113.77", "acme-ml") if name in told] == []
        assert len((tmp_path / "out" / "jobs.jsonl").read_text().splitlines()) == 1


def test_an_error_message_shows_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    """What a user typed, or a line of a file, is quoted in errors."""

    def refuse(**options: object) -> None:
        raise UsageError("cannot be read", where="https://bob:hunter22@logs.internal/x")

    assert run_cli(refuse) == 2
    assert "hunter22" not in capsys.readouterr().err


def harmless(chance: random.Random) -> Iterator[str]:
    """Texts that look random and are no secrets, as training logs hold them."""
    data = chance.randbytes(48)
    digest = hashlib.sha256(data)
    yield f"commit {hashlib.sha1(data).hexdigest()} ({hashlib.sha1(data).hexdigest()[:8]})"
    yield f"image us-docker.pkg.dev/p/r/i@sha256:{digest.hexdigest()}"
    yield f"md5={hashlib.md5(data).hexdigest()} sha512={hashlib.sha512(data).hexdigest()} etag: {hashlib.md5(data).hexdigest()}"
    yield f"crc32c={base64.b64encode(data[:4]).decode()} md5Hash: {base64.b64encode(data[:16]).decode()}"
    yield f'integrity="sha384-{base64.b64encode(data).decode()}"'
    yield f"request {uuid.UUID(bytes=data[:16])} insertId {base64.b32encode(data[:9]).decode().lower()}"
    yield f"tensor({[round(chance.gauss(0, 1), 4) for _ in range(12)]}, device='cuda:0')"
    yield f"data:image/png;base64,{base64.b64encode(chance.randbytes(300)).decode()}"
    yield f"tokens: {[chance.randrange(50_000) for _ in range(16)]} eos_token_id=2 pad_token='<pad>'"
    yield f"pod train-{data.hex()[:10]}-{data.hex()[10:15]} on gke-pool-{data.hex()[:8]}-{data.hex()[20:24]}"
    yield f"fingerprint SHA256:{base64.b64encode(digest.digest()).decode().rstrip('=')}"
    yield f"0x{data.hex()[:16]} in ncclAllReduce + 0x{data.hex()[16:20]} (/opt/lib/libnccl.so.2.{chance.randrange(30)})"
    yield f"seed={chance.randrange(10**12)} run-{data.hex()[:8]} wandb: https://wandb.ai/t/p/runs/{data.hex()[:8]}"
    yield f"hidden_size=4096 key_states.shape=({chance.randrange(64)}, 128) query_key_value.weight {chance.random()}"


def test_harmless_text_is_masked_by_no_mistake() -> None:
    """Digests, commits, identifiers, tensors, images and tokens of a language model stay as they are."""
    chance = random.Random(7)
    texts = [text for _ in range(400) for text in harmless(chance)]
    assert [text for text in texts if redact(text) != text] == []


def _contents(folder: Path) -> Iterator[str]:
    """Everything in a scan's folder as text, packed entries unpacked."""
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            yield file.read_bytes().decode("utf-8", "replace")
    with sqlite3.connect(folder / "scan.sqlite") as database:
        for entries, ties in database.execute("SELECT entries, ties FROM parts"):
            yield zlib.decompress(entries).decode("utf-8", "replace")
            yield ties.decode("utf-8", "replace")
        for row in database.execute("SELECT row, diagnosis FROM jobs"):
            yield from (json.dumps(json.loads(data), ensure_ascii=False) for data in row)
