"""Files that change while they are read, and clocks that do: the scan after that has all of it, and nothing twice."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from exports import digest, run, write_exports

from analyzer.scanning import Settings, database, merge_scans, objects, scan
from analyzer.scanning.run import Progress


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An export of a few jobs."""
    folder = write_exports(tmp_path_factory.mktemp("in"), jobs=3, lines=40, hours=1)
    return next(folder.iterdir()).read_bytes()


def undisturbed(file: Path, content: bytes, output: Path) -> str:
    """What one scan says of a file with this content."""
    file.write_bytes(content)
    run([file], output)
    return digest(output)


STATES = {
    "grows": lambda whole: [whole[: len(whole) // 3], whole[: len(whole) // 2], whole],
    "is cut and grows again": lambda whole: [whole, whole[: len(whole) // 3], whole],
    "is emptied": lambda whole: [whole, b"", whole],
    "is packed": lambda whole: [(packed := gzip.compress(whole))[:1], packed[:12], packed[: len(packed) // 2], packed],
}


@pytest.mark.parametrize(("kind", "size"), [*((kind, 1 << 26) for kind in STATES), ("grows", 20_000)])
def test_a_file_that_changes_between_scans(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, size: int
) -> None:
    """Its last line may be half written: in the end the result is that of one scan of the whole file."""
    monkeypatch.setattr(objects, "UNIT", size)
    file = tmp_path / "export.json"
    states = STATES[kind](content)
    for state in states:
        file.write_bytes(state)
        result = run([file], tmp_path / "out")
    assert [note for note in result.notes if note.kind in ("truncated", "bad_line")] == []
    assert digest(tmp_path / "out") == undisturbed(file, states[-1], tmp_path / "whole")


def _appended(file: Path, rest: bytes) -> None:
    with file.open("ab") as stream:
        stream.write(rest)


def _replaced(file: Path, rest: bytes) -> None:
    other = file.with_name("new")
    other.write_bytes(rest)
    other.replace(file)


CHANGES: dict[str, Callable[[Path, bytes], object]] = {
    "appended to": _appended,
    "replaced": _replaced,
    "truncated": lambda file, rest: os.truncate(file, 100),
    "removed": lambda file, rest: file.unlink(),
    "made a folder": lambda file, rest: (file.unlink(), file.mkdir()),
}


@pytest.mark.parametrize("size", [1 << 26, 20_000], ids=["whole", "ranges"])
@pytest.mark.parametrize("kind", CHANGES)
def test_a_file_that_changes_while_it_is_read(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, size: int
) -> None:
    """Between being listed and being read. The scan ends, and the next one has what is there then."""
    monkeypatch.setattr(objects, "UNIT", size)
    folder = tmp_path / "in"
    folder.mkdir()
    file = folder / "export.json"
    cut = len(content) // 2
    file.write_bytes(content[:cut])

    def change(progress: Progress) -> None:
        if progress.step == "reading" and not progress.bytes_read:
            CHANGES[kind](file, content[cut:])

    scan([folder], Settings(output=tmp_path / "out"), change)
    if file.is_dir():
        file.rmdir()
    expected = undisturbed(file, content, tmp_path / "whole")
    run([folder], tmp_path / "out")
    assert digest(tmp_path / "out") == expected


def test_a_file_that_goes_while_it_is_listed(content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs are rotated at any moment: that file is named, the others are read."""
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(content)
    listed = objects.files_of

    def files_of(path: str) -> object:
        for file, name in listed(path):
            if file.name == "b.json":
                file.unlink()
            yield file, name

    monkeypatch.setattr(objects, "files_of", files_of)
    result = run([tmp_path], tmp_path / ".out")
    assert len(result.lines) == 3
    assert [note.kind for note in result.notes] == ["unreadable"]


@pytest.mark.parametrize("moment", [4_000_000_000, -86_400])
def test_times_of_files_do_not_matter(content: bytes, tmp_path: Path, moment: int) -> None:
    """Clocks go back and forward: whatever time a file bears, what has changed is read and what has not is not."""
    file = tmp_path / "export.json"
    file.write_bytes(content[: len(content) // 2])
    run([file], tmp_path / "out")
    file.write_bytes(content)
    os.utime(file, (moment, moment))
    assert run([file], tmp_path / "out").objects_read == [str(file)]
    assert run([file], tmp_path / "out").objects_read == []
    assert digest(tmp_path / "out") == undisturbed(file, content, tmp_path / "whole")


def test_the_last_note_counts_whatever_the_clock_says(content: bytes, tmp_path: Path) -> None:
    """A clock that was a day ahead when the first note was made does not keep it for a day."""
    file = tmp_path / "export.json"
    file.write_bytes(content)
    job = run([file], tmp_path / "out").lines[0].row.id
    records = database.Database(tmp_path / "out")
    records.note(job, "first", "2026-03-05T00:00:00+00:00")
    records.note(job, "second", "2026-03-04T00:00:00+00:00")
    assert records.solutions() == {job: "second"}
    records.close()


def test_a_second_merge_takes_what_shards_have_read_since(content: bytes, tmp_path: Path) -> None:
    """A shard that was scanned again, since its file grew, is merged as it stands now; its notes count once."""
    file, shard, output = tmp_path / "export.json", tmp_path / "shard", tmp_path / "out"
    for state in (content[: len(content) // 2], content, content):
        file.write_bytes(state)
        run([file], shard, shard=(0, 1))
        merge_scans([shard], Settings(output=output))
    assert digest(output) == undisturbed(file, content, tmp_path / "whole")
