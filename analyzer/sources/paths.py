"""From the words of a call (files, folders, globs, `-`, archives) to sources, in a settled order."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

from analyzer.errors import NothingToDiagnose, UsageError
from analyzer.model import Note
from analyzer.sources.base import Source
from analyzer.sources.compression import BUFFER, decompressed
from analyzer.sources.magic import HEAD, ZIP_MAGIC, is_tar


def open_sources(paths: Sequence[str], notes: list[Note]) -> Iterator[Source]:
    """The sources that the paths name, in the order given, each once; folders and globs in name order.

    Each source is to be read before the next one is asked for (a tar archive and standard input flow by). Hidden
    files of a folder are skipped. Raises UsageError for an address that cannot be read here and NothingToDiagnose for
    a path that does not exist; what is found unreadable on the way gives a Note.
    """
    seen: set[str] = set()
    for path in paths:
        scheme, separator, _ = path.partition("://")
        if separator:
            yield from _remote(scheme, path, notes)
        elif path == "-":
            yield from _streamed(cast(BinaryIO, sys.stdin.buffer), "-", notes)
        else:
            for file, name in files_of(path):
                key = str(file.resolve())
                if key not in seen:
                    seen.add(key)
                    yield from _local(file, name, notes)


def _remote(scheme: str, path: str, notes: list[Note]) -> Iterator[Source]:
    """The one place where addresses of remote stores branch off."""
    if scheme == "gs":
        from analyzer.sources.buckets import bucket_sources

        yield from bucket_sources(path, notes)
        return
    raise UsageError(
        f"addresses of the kind {scheme}:// cannot be read",
        where=path,
        advice="copy the export to a local folder and name that, or to a bucket and name it as gs://BUCKET/PREFIX",
    )


def files_of(path: str) -> Iterator[tuple[Path, str]]:
    """The files that a path, folder or glob names, each with its name as the caller would write it."""
    place = Path(path)
    if os.path.isdir(place):
        yield from _tree(place)
    elif _stands(place):
        yield place, path
    else:
        import glob

        found = sorted(glob.glob(path, recursive=True))
        if not found:
            raise NothingToDiagnose(
                "there is no such file or folder", where=path, advice="check the path; `-` reads standard input"
            )
        for name in found:
            yield from _tree(Path(name)) if os.path.isdir(name) else [(Path(name), name)]


def _stands(place: Path) -> bool:
    """Whether something is there; a file of which that may not even be asked is left to whoever opens it."""
    try:
        os.stat(place)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


def _tree(folder: Path) -> Iterator[tuple[Path, str]]:
    """The files of a folder; a folder that may not be listed stands for its content, and cannot be read."""
    closed: list[OSError] = []
    found = [Path(place, name) for place, _, names in os.walk(folder, onerror=closed.append) for name in names]
    for file in sorted((*found, *(Path(error.filename) for error in closed))):
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if not hidden and (_is_file(file) or not os.access(file, os.R_OK)):
            yield file, str(file)


def _is_file(place: Path) -> bool:
    try:
        return place.is_file()
    except OSError:  # it may not even be asked about
        return True


def _local(file: Path, name: str, notes: list[Note]) -> Iterator[Source]:
    try:
        with file.open("rb") as stream:
            is_zip = stream.read(4) == ZIP_MAGIC
        if is_zip:
            from analyzer.sources.archives import zip_members

            yield from zip_members(file, name, notes)
            return
        inner = decompressed(file.open("rb", BUFFER), name, notes)
        head = cast(io.BufferedReader, inner).peek(HEAD)[:HEAD]
    except OSError as error:
        notes.append(Note("unreadable", f"this file cannot be read ({error.strerror or error})", name))
        return
    with inner:
        if is_tar(head):
            from analyzer.sources.archives import tar_members

            yield from tar_members(inner, name, notes)
            return
    yield Source(name, lambda: decompressed(file.open("rb", BUFFER), name, notes))


def _streamed(stream: BinaryIO, name: str, notes: list[Note]) -> Iterator[Source]:
    inner = decompressed(stream, name, notes)
    if is_tar(cast(io.BufferedReader, inner).peek(HEAD)[:HEAD]):
        from analyzer.sources.archives import tar_members

        yield from tar_members(inner, name, notes)
    else:
        yield Source(name, lambda: inner)
