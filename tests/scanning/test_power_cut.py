"""What a power cut may leave of the files that a scan writes: the next run mends it, or says what to do."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from exports import digest, run, write_exports

from analyzer.errors import RenderError
from analyzer.scanning.database import FILE, Database

JOBS, LINES = 4, 60


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Exports of a few jobs."""
    return write_exports(tmp_path_factory.mktemp("in"), jobs=JOBS, lines=LINES, hours=2)


@pytest.fixture(scope="module")
def whole(exports: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of one undisturbed scan."""
    output = tmp_path_factory.mktemp("whole") / "out"
    run([exports], output)
    return output


LEFT = {
    "gone": lambda data: None,
    "empty": lambda data: b"",
    "half": lambda data: data[: len(data) // 2],
    "its last byte missing": lambda data: data[:-1],
    "zeros at its end": lambda data: data[: len(data) // 2] + bytes(len(data) - len(data) // 2),
}


def leave(file: Path, kind: str) -> None:
    """What is left of a file."""
    left = LEFT[kind](file.read_bytes())
    if left is None:
        file.unlink()
    else:
        file.write_bytes(left)


@pytest.mark.parametrize("kind", LEFT)
def test_results_are_mended(exports: Path, whole: Path, tmp_path: Path, kind: str) -> None:
    """Tables, the index and the pages of jobs, although nothing has to be read again."""
    output = tmp_path / "out"
    shutil.copytree(whole, output)
    pages = list((output / "jobs").iterdir())
    assert pages
    for file in (output / "jobs.jsonl", output / "jobs.parquet", output / "index.html", *pages):
        if file.exists():  # the table needs an extra
            leave(file, kind)
    assert run([exports], output).objects_read == []
    assert digest(output) == digest(whole)
    assert (output / "index.html").read_text().rstrip().endswith("</html>")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_cut_journal_costs_work_only(exports: Path, whole: Path, tmp_path: Path, share: float) -> None:
    """What was recorded last may be lost with the end of the write-ahead log; it is done again."""
    kept, output = tmp_path / "kept", tmp_path / "out"
    kept.mkdir()
    reader = Database(kept)  # holds the journal open, as a process does that the power cut ends
    run([exports], kept)
    shutil.copytree(kept, output)
    reader.close()
    journal = output / f"{FILE}-wal"
    os.truncate(journal, int(journal.stat().st_size * share))
    run([exports], output)
    assert digest(output) == digest(whole)


@pytest.mark.parametrize("kind", [kind for kind in LEFT if kind != "gone"])
def test_cut_records_are_mended_or_told(exports: Path, whole: Path, tmp_path: Path, kind: str) -> None:
    """A file without content is begun anew; for all else the error says what to remove, and then all is read anew."""
    output = tmp_path / "out"
    shutil.copytree(whole, output)
    with sqlite3.connect(output / FILE) as records:
        records.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    records.close()
    leave(output / FILE, kind)
    if kind != "empty" and not kind.startswith("its last byte"):
        with pytest.raises(RenderError, match=r"records are damaged.*remove it or choose another --output"):
            run([exports], output)
        (output / FILE).unlink()
    run([exports], output)
    assert digest(output) == digest(whole)
