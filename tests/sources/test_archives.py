"""Members of archives are sources of their own; nothing of them touches the disk."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile

import pytest
from test_source_paths import contents

from analyzer.sources import archives, compression

FILES = {"logs/a.log": b"first\n" * 1000, "logs/b.log.gz": gzip.compress(b"second"), "c.json": b"{}"}
TEXTS = {"logs/a.log": FILES["logs/a.log"], "logs/b.log.gz": b"second", "c.json": b"{}"}


def zipped(path, files=FILES):
    """A zip archive of these files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def tarred(path, files=FILES, mode="w"):
    """A tar archive of these files."""
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def test_zip_members_are_read(tmp_path):
    """Each file of a zip archive is a source, called after archive and member."""
    path = zipped(tmp_path / "support")
    assert contents([path]) == {f"{path}!{name}": text for name, text in TEXTS.items()}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar_members_are_read(tmp_path, mode):
    """Each file of a tar archive is a source, whatever the archive is compressed with and called."""
    path = tarred(tmp_path / "support.bin", mode=mode)
    assert contents([path]) == {f"{path}!{name}": text for name, text in TEXTS.items()}


def test_member_names_never_leave_the_archive(tmp_path):
    """Absolute and climbing names are shown harmlessly, and nothing is written."""
    path = zipped(tmp_path / "evil.zip", {"/etc/passwd": b"x", "a/../../b.log": b"y", "..\\c.log": b"z"})
    assert list(contents([path]).values()) == [b"x", b"y", b"z"]
    assert [file.name for file in tmp_path.iterdir()] == ["evil.zip"]


def test_hidden_members_are_skipped(tmp_path):
    """What file managers leave in archives is no log."""
    path = zipped(tmp_path / "a.zip", {"__MACOSX/a.log": b"", ".DS_Store": b"", "a.log": b"x"})
    assert list(contents([path]).values()) == [b"x"]


def test_cut_tar_gives_its_whole_members(tmp_path):
    """An archive that broke off gives the files before, and a note."""
    path = tarred(tmp_path / "a.tar.gz", {f"{n}.log": b"%d\n" % n * 20_000 for n in range(9)}, "w:gz")
    path.write_bytes(path.read_bytes()[:-200])
    notes = []
    assert len(contents([path], notes)) >= 5
    assert "truncated" in {note.kind for note in notes}


def test_damaged_zip_leaves_a_note(tmp_path):
    """What only begins like a zip archive is noted."""
    path = tmp_path / "a.zip"
    path.write_bytes(zipped(tmp_path / "b.zip").read_bytes()[:200])
    notes = []
    assert contents([path], notes) == {}
    assert [note.kind for note in notes] == ["damaged"]


def test_zip_bomb_is_not_read(tmp_path, monkeypatch):
    """A member that promises to expand beyond any log is refused by its directory entry."""
    monkeypatch.setattr(archives, "RATIO_GRACE", 1 << 20)
    path = zipped(tmp_path / "a.zip", {"bomb": b"\0" * (1 << 24), "a.log": b"x"})
    notes = []
    assert sorted(map(len, contents([path], notes).values())) == [0, 1]
    assert [note.kind for note in notes] == ["bomb"]


def test_small_bombs_are_one_together(tmp_path, monkeypatch):
    """Members that are each below what is looked at are refused from where together they are beyond any log."""
    monkeypatch.setattr(archives, "RATIO_GRACE", 1 << 20)
    members = {f"{n}.log": b"x" * 600_000 for n in range(9)}
    notes = []
    read = contents([zipped(tmp_path / "a.zip", {**members, "last.log": b"step 1"})], notes)
    assert sorted(map(len, read.values())) == [0] * 8 + [6, 600_000]
    assert [note.kind for note in notes] == ["bomb"] * 8


def test_number_of_members_is_bounded(tmp_path, monkeypatch):
    """An archive of endless many files is read up to a limit."""
    monkeypatch.setattr(archives, "MEMBER_LIMIT", 2)
    notes = []
    assert len(contents([zipped(tmp_path / "a.zip")], notes)) == 2
    assert len(contents([tarred(tmp_path / "a.tar")], notes)) == 2
    assert [note.kind for note in notes] == ["bomb", "bomb"]


def test_limits_are_beyond_any_log():
    """Repeated log lines, compressed as well as they can be, stay below the ratio that counts as a bomb."""
    lines = b"0123456789 step loss=0.1\n" * 400_000
    assert len(lines) / len(gzip.compress(lines)) < compression.DEFLATE_LIMIT
