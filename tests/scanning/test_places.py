"""Places that a scan may not write to, or finds taken: each is told with what to do, and costs nothing else."""

from __future__ import annotations

import ctypes
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from exports import digest, run, write_exports

from analyzer.errors import RenderError, UsageError
from analyzer.scanning import Settings, database, merge_scans

pytestmark = pytest.mark.skipif(os.name == "nt", reason="rights of Unix")
_DROP, _OVERRIDE, _SEARCH = 24, 1, 2  # of prctl(2) and capabilities(7)


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Exports of a few jobs."""
    return write_exports(tmp_path_factory.mktemp("in"), jobs=3, lines=40, hours=2)


@pytest.fixture(scope="module")
def whole(exports: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of one undisturbed scan."""
    output = tmp_path_factory.mktemp("whole") / "out"
    run([exports], output)
    return output


@pytest.fixture
def closed(whole: Path, tmp_path: Path) -> Iterator[Path]:
    """A finished output that nobody may write to any more."""
    output = tmp_path / "closed"
    shutil.copytree(whole, output)
    _set_rights(output, 0o500, 0o400)
    yield output
    _set_rights(output, 0o700, 0o600)


def _set_rights(folder: Path, of_folders: int, of_files: int) -> None:
    for place, _, names in os.walk(folder):
        os.chmod(place, of_folders)
        for name in names:
            os.chmod(Path(place, name), of_files)


def _as_a_user() -> None:
    """Rights hold for the administrator too."""
    for right in (_OVERRIDE, _SEARCH):
        ctypes.CDLL(None).prctl(_DROP, right, 0, 0, 0)


def diagnose(*words: object) -> tuple[int, str]:
    """A call as a user without special rights makes it: its status, and what it said."""
    command = [sys.executable, "-m", "analyzer", *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=_as_a_user if sys.platform == "linux" else None,
    )  # fmt: skip
    return done.returncode, done.stderr


def test_a_folder_that_may_not_be_written_to(exports: Path, closed: Path) -> None:
    """Scan and note say so in one sentence."""
    for words in (["scan", exports, "--workers", 1, "--quiet"], ["note", "4000000000000000000", "solved"]):
        status, told = diagnose(*words, "--output", closed)
        assert (status, told.count("\n"), "in a folder that you may write to" in told) == (5, 1, True)


def test_shards_that_may_only_be_read_are_merged(whole: Path, closed: Path, tmp_path: Path) -> None:
    """Merging only reads them, and leaves nothing beside them."""
    before = sorted(closed.iterdir())
    status, told = diagnose("merge", closed, "--output", tmp_path / "out", "--workers", 1)
    assert (status, "denied" in told) == (0, False)
    assert digest(tmp_path / "out") == digest(whole)
    assert sorted(closed.iterdir()) == before


@pytest.mark.parametrize("taken", ["", "scan.sqlite", "jobs", "index.html"])
def test_a_name_that_something_else_has(exports: Path, whole: Path, tmp_path: Path, taken: str) -> None:
    """A file where a folder is to be, or the other way round, is named; with it gone the same scan completes."""
    place = tmp_path / "out" / taken
    place.parent.mkdir(exist_ok=True)
    place.mkdir() if "." in taken else place.touch()
    with pytest.raises(RenderError, match=f"{place}.*something else has that name: move it away"):
        run([exports], tmp_path / "out")
    place.rmdir() if "." in taken else place.unlink()
    run([exports], tmp_path / "out")
    assert digest(tmp_path / "out") == digest(whole)


def test_folders_that_may_not_be_looked_into(exports: Path, tmp_path: Path) -> None:
    """They are named, the rest is read, and with the rights given the same command reads them."""
    folder = tmp_path / "in"
    shutil.copytree(exports, folder)
    inner = folder / "inner"
    inner.mkdir()
    sorted(folder.glob("*.json"))[-1].rename(inner / "late.json")
    inner.chmod(0)
    call = ["scan", folder, "--output", tmp_path / "out", "--workers", 1, "--quiet"]
    status, told = diagnose(*call)
    assert (status, f"{inner}: this file cannot be read" in told, "reads again" in told) == (0, True, True)
    assert diagnose("--logs", inner / "late.json")[0] == 3
    inner.chmod(0o700)
    assert run([folder], tmp_path / "out").notes == []
    run([folder], tmp_path / "anew")
    assert digest(tmp_path / "out") == digest(tmp_path / "anew")


def test_records_that_another_process_holds(
    exports: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are waited for, then it is told who has them; once they are free the same command completes."""
    monkeypatch.setattr(database, "PATIENCE", 0.2)
    shutil.copytree(whole, tmp_path / "out")
    other = sqlite3.connect(tmp_path / "out" / database.FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(RenderError, match=r"another process holds the scan's records.*let it end"):
        run([exports], tmp_path / "out")
    records = database.Database(tmp_path / "out", create=False)
    with pytest.raises(RenderError, match="another process holds"):
        records.note("1", "solved", "2026-03-04")
    records.close()
    other.close()
    run([exports], tmp_path / "out")
    assert digest(tmp_path / "out") == digest(whole)


def test_tables_of_another_program(exports: Path, tmp_path: Path) -> None:
    """A database of somebody else's under the same name is not taken for records."""
    file = tmp_path / database.FILE
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE units(a)")
    other.close()
    with pytest.raises(RenderError, match=r"records are damaged.*remove it or choose another"):
        run([exports], tmp_path)


def test_a_shard_that_was_not_read_to_its_end(exports: Path, whole: Path, tmp_path: Path) -> None:
    """It is no part of a merge until its scan was completed."""
    shards = [tmp_path / f"{number}" for number in range(2)]
    for number, shard in enumerate(shards):
        run([exports], shard, shard=(number, 2))
    records = database.Database(shards[0])
    records.set_meta("reading", "begun")  # as it stands after a kill
    records.close()
    with pytest.raises(UsageError, match="has not come to its end; run it again"):
        merge_scans(shards, Settings(output=tmp_path / "out"))
    run([exports], shards[0], shard=(0, 2))
    merge_scans(shards, Settings(output=tmp_path / "out"))
    assert digest(tmp_path / "out") == digest(whole)
