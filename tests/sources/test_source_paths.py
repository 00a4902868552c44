"""From the words of a call to sources: files, folders, globs, standard input, addresses."""

from __future__ import annotations

import io
import sys

import pytest

from analyzer.errors import NothingToDiagnose, UsageError
from analyzer.sources import open_sources


def contents(paths, notes=None):
    """Name and content of every source that the paths name, read one after another."""
    found = {}
    for source in open_sources([str(path) for path in paths], [] if notes is None else notes):
        with source.open() as stream:
            found[source.name] = stream.read()
    return found


@pytest.fixture
def folder(tmp_path):
    """A folder with files at two levels, some of them hidden."""
    for name in ("b.log", "a.log", "inner/c.log", ".hidden", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def test_folder_gives_its_files_in_order(folder):
    """Recursive, in name order, without what is hidden."""
    assert list(contents([folder]).values()) == [b"a.log", b"b.log", b"inner/c.log"]


def test_glob_gives_its_matches_in_order(folder):
    """A pattern that the shell did not expand is expanded here."""
    assert list(contents([folder / "*.log"]).values()) == [b"a.log", b"b.log"]
    assert list(contents([folder / "**/c*"]).values()) == [b"inner/c.log"]


def test_file_with_pattern_signs_in_its_name_is_found(tmp_path):
    """A name wins over a pattern."""
    (tmp_path / "run[1].log").write_text("x")
    assert list(contents([tmp_path / "run[1].log"]).values()) == [b"x"]


def test_file_that_is_named_twice_is_read_once(folder):
    """Folders and files may overlap."""
    assert len(contents([folder / "a.log", folder, folder / "*.log"])) == 3


def test_names_are_as_given(folder, monkeypatch):
    """A source is called by the path that the caller wrote."""
    monkeypatch.chdir(folder)
    assert list(contents(["inner", "a.log"])) == ["inner/c.log", "a.log"]


def test_standard_input_is_read(monkeypatch):
    """`-` is standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"from a pipe")))
    assert contents(["-"]) == {"-": b"from a pipe"}


def test_missing_path_is_refused(tmp_path):
    """A path that names nothing ends the call, with the path in the error."""
    with pytest.raises(NothingToDiagnose, match="nothing-here"):
        contents([tmp_path / "nothing-here.log"])


def test_unknown_address_is_refused():
    """An address of a store that is not read here ends the call, with the address in the error."""
    with pytest.raises(UsageError, match="s3://bucket/logs"):
        contents(["s3://bucket/logs"])


def test_unreadable_file_costs_itself_only(folder, monkeypatch):
    """A file without permission leaves a note; the others are read."""
    real = type(folder).open

    def refuse(self, *args, **kwargs):
        if self.name == "a.log":
            raise PermissionError(13, "Permission denied")
        return real(self, *args, **kwargs)

    monkeypatch.setattr(type(folder), "open", refuse)
    notes = []
    assert list(contents([folder], notes).values()) == [b"b.log", b"inner/c.log"]
    assert [(note.kind, note.source) for note in notes] == [("unreadable", str(folder / "a.log"))]
