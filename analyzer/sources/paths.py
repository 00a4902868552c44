"""From the words of a call (files, folders, globs, `-`, archives) to sources, in a settled order."""

from __future__ import annotations

import io
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
    if place.is_dir():
        yield from _tree(place)
    elif place.exists():
        yield place, path
    else:
        import glob

        found = sorted(glob.glob(path, recursive=True))
        if not found:
            raise NothingToDiagnose(
                "there is no such file or folder", where=path, advice="check the path; `-` reads standard input"
            )
        for name in found:
            yield from _tree(Path(name)) if Path(name).is_dir() else [(Path(name), name)]


def _tree(folder: Path) -> Iterator[tuple[Path, str]]:
    for file in sorted(folder.rglob("*")):
        inner = file.relative_to(folder).parts
        if file.is_file() and not any(part.startswith(".") for part in inner):
            yield file, str(file)


def _local(file: Path, name: str, notes: list[Note]) -> Iterator[Source]:
    try:
        with file.open("rb") as stream:
            is_zip = stream.read(4) == ZIP_MAGIC
        if is_zip:
            from analyzer.sources.archives import zip_members

            yield from zip_members(file, name, notes)
            return
        inner = decompressed(file.open("rb", BUFFER), name, notes)
    except OSError as error:
        notes.append(Note("unreadable", f"this file cannot be read ({error.strerror or error})", name))
        return
    with inner:
        head = cast(io.BufferedReader, inner).peek(HEAD)[:HEAD]
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
