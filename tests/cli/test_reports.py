"""`diagnose report` and `diagnose bundle`: saved diagnoses again, in other languages, forms and hands."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from analyzer.cli.main import app
from analyzer.report.pdf import VARIABLE, find_browser

DEMO = Path(__file__).parents[2] / "fixtures" / "demo" / "vertex-restart-then-failed.json"


def _run(*words: str) -> int:
    """The exit status of a call."""
    try:
        app(list(words), prog_name="diagnose", standalone_mode=True)
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("saved") / "d.json"
    assert _run("--logs", str(DEMO), "--format", "json", "--output", str(file), "--quiet") == 0
    return file


def test_a_saved_diagnosis_is_told_in_german(saved: Path, tmp_path: Path) -> None:
    """Rules' texts included."""
    page = tmp_path / "d.md"
    assert _run("report", str(saved), "--lang", "de", "--output", str(page)) == 0
    text = page.read_text(encoding="utf-8")
    assert "ist fehlgeschlagen: ein Schlüssel fehlt" in text
    assert " failed: " not in text


def test_strict_masking_leaves_no_project(saved: Path, tmp_path: Path) -> None:
    """In the page as in the packet."""
    page, packet = tmp_path / "d.html", tmp_path / "p.zip"
    assert _run("report", str(saved), "--redact", "strict", "--output", str(page)) == 0
    assert _run("bundle", str(saved), "--output", str(packet)) == 0
    with zipfile.ZipFile(packet) as archive:
        packed = b"".join(map(archive.read, archive.namelist()))
    for text in (page.read_bytes(), packed):
        assert b"lantern-ml-demo" not in text
        assert b"project-" in text


def test_a_packet_is_made_out_of_a_log_too(tmp_path: Path) -> None:
    """By the job's id."""
    packet = tmp_path / "p.zip"
    assert _run("bundle", "7310482296551047168", "--logs", str(DEMO), "--output", str(packet)) == 0
    assert zipfile.is_zipfile(packet)


def test_words_that_contradict_each_other_are_refused(saved: Path) -> None:
    """With a usage error, before anything is read."""
    from analyzer.errors import UsageError

    for words in (
        ("report", str(saved), "--redact", "all"),
        ("--logs", str(DEMO), "--redact", "strict", "--no-redact"),
    ):
        with pytest.raises(UsageError):
            app(list(words), prog_name="diagnose", standalone_mode=False)


def test_a_pdf_needs_a_browser_and_a_file(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both refusals say what to do."""
    from analyzer.errors import RenderError, UsageError

    with pytest.raises(UsageError, match="--output"):
        app(["report", str(saved), "--format", "pdf"], prog_name="diagnose", standalone_mode=False)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    with pytest.raises(RenderError, match=VARIABLE):
        app(["report", str(saved), "-o", str(tmp_path / "d.pdf")], prog_name="diagnose", standalone_mode=False)


@pytest.mark.browser
@pytest.mark.skipif(find_browser() is None, reason="no Chromium here: no PDF is made")
def test_a_pdf_is_made_where_a_browser_is(saved: Path, tmp_path: Path) -> None:
    """By the ending of the output."""
    page = tmp_path / "d.pdf"
    assert _run("report", str(saved), "--output", str(page)) == 0
    assert page.read_bytes().startswith(b"%PDF-")
