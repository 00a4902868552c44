"""Members of zip and tar archives as sources. No file of an archive is ever written to a place of its name."""

from __future__ import annotations

import contextlib
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from analyzer.model import Note
from analyzer.sources.base import Source
from analyzer.sources.compression import (
    ABSOLUTE_LIMIT,
    BUFFER,
    DEFLATE_LIMIT,
    RATIO_GRACE,
    RATIO_LIMIT,
    decompressed,
)

MEMBER_LIMIT = 100_000
DAMAGE = (
    zipfile.BadZipFile, tarfile.TarError, OSError, EOFError, NotImplementedError, RuntimeError, ValueError,
    struct.error, zlib.error, lzma.LZMAError,
)  # fmt: skip
"""What the standard library raises for archives that are damaged, encrypted or of an unknown method."""


def zip_members(path: Path, name: str, notes: list[Note]) -> Iterator[Source]:
    """The files of a zip archive, in its order; a damaged archive gives a Note."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except DAMAGE as error:
        notes.append(Note("damaged", f"this zip archive cannot be read ({error})", name))
        return
    if len(members) > MEMBER_LIMIT:
        notes.append(
            Note("bomb", f"only the first {MEMBER_LIMIT} of {len(members)} files of this archive were read", name)
        )
    together = _Together()
    for member in members[:MEMBER_LIMIT]:
        if member.filename and not member.is_dir() and not _hidden(member.filename):
            is_bomb = together.are_a_bomb_with(member)
            yield Source(f"{name}!{_shown(member.filename)}", _ZipMember(path, member, name, notes, is_bomb).open)


def tar_members(stream: BinaryIO, name: str, notes: list[Note]) -> Iterator[Source]:
    """The files of a tar archive, each to be read before the next one is asked for.

    Raises nothing: a cut or damaged archive gives what can be read, and a Note.
    """
    try:
        with tarfile.open(fileobj=stream, mode="r|", bufsize=BUFFER) as archive:
            for count, member in enumerate(archive):
                if count >= MEMBER_LIMIT:
                    notes.append(Note("bomb", f"only the first {MEMBER_LIMIT} files of this archive were read", name))
                    return
                if member.isfile() and not _hidden(member.name):
                    yield from _tar_member(archive, member, name, notes)
    except DAMAGE as error:
        notes.append(Note(_kind(error), f"this tar archive ends in the middle or is damaged ({error})", name))


def _kind(error: Exception) -> str:
    """Whether the archive ends too early, or the place that it comes from failed and may do better later."""
    return "unreadable" if isinstance(error, OSError) else "truncated"


def _tar_member(archive: tarfile.TarFile, member: tarfile.TarInfo, name: str, notes: list[Note]) -> Iterator[Source]:
    content = archive.extractfile(member)
    if content is not None:
        inner = f"{name}!{_shown(member.name)}"
        yield Source(
            inner, lambda: decompressed(_TarMember.buffered(cast(BinaryIO, content), inner, notes), inner, notes)
        )


class _TarMember(io.RawIOBase):
    """A member of a streamed archive; an archive that ends within it gives what was there, and a Note."""

    def __init__(self, content: BinaryIO, name: str, notes: list[Note]) -> None:
        self._content, self._name, self._notes = content, name, notes

    @classmethod
    def buffered(cls, content: BinaryIO, name: str, notes: list[Note]) -> BinaryIO:
        """The member as a buffered stream."""
        return cast(BinaryIO, io.BufferedReader(cls(content, name, notes), BUFFER))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        try:
            data = self._content.read(len(buffer))
        except DAMAGE as error:
            self._notes.append(Note(_kind(error), f"the archive ends within this file ({error})", self._name))
            return 0
        buffer[: len(data)] = data
        return len(data)


class _Together:
    """What the members of a zip archive become, as its directory promises; many of them may be small bombs."""

    def __init__(self) -> None:
        self._size = self._most = 0

    def are_a_bomb_with(self, member: zipfile.ZipInfo) -> bool:
        """Whether one more member, or that and those before it, expand beyond any log; if not it is one of them."""
        size, limit = member.file_size, DEFLATE_LIMIT if member.compress_type == zipfile.ZIP_DEFLATED else RATIO_LIMIT
        most = limit * max(member.compress_size, 1)
        if size > ABSOLUTE_LIMIT or _is_dense(size, most) or _is_dense(self._size + size, self._most + most):
            return True
        self._size, self._most = self._size + size, self._most + most
        return False


def _is_dense(size: int, most: int) -> bool:
    return size > RATIO_GRACE and size > most


class _ZipMember:
    """Opens one member of a zip archive, bounded by what its directory promises; of a bomb it gives nothing."""

    def __init__(self, path: Path, member: zipfile.ZipInfo, name: str, notes: list[Note], is_bomb: bool) -> None:
        self._path, self._member, self._notes, self._is_bomb = path, member, notes, is_bomb
        self._name = f"{name}!{_shown(member.filename)}"

    def open(self) -> BinaryIO:
        """The member's bytes, decompressed twice where the member is itself compressed."""
        return decompressed(cast(BinaryIO, io.BufferedReader(self._raw(), BUFFER)), self._name, self._notes)

    def _raw(self) -> io.RawIOBase:
        if self._is_bomb:
            size = self._member.file_size
            text = f"this file expands beyond any log ({size} bytes); it was not read"
            self._notes.append(Note("bomb", text, self._name))
            return _Nothing()
        try:
            with contextlib.ExitStack() as opened:
                archive = opened.enter_context(zipfile.ZipFile(self._path))
                content = _ZipContent(archive, archive.open(self._member), self._name, self._notes)
                opened.pop_all()  # which the content closes
                return content
        except DAMAGE as error:
            self._notes.append(Note("damaged", f"this file of the archive cannot be read ({error})", self._name))
            return _Nothing()


class _ZipContent(io.RawIOBase):
    """A zip member's bytes; damage in the middle gives what stood before it, and a Note."""

    def __init__(
        self, archive: zipfile.ZipFile, content: io.BufferedIOBase | object, name: str, notes: list[Note]
    ) -> None:
        self._archive, self._content = archive, cast(BinaryIO, content)
        self._name, self._notes = name, notes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        try:
            data = self._content.read(len(buffer))
        except DAMAGE as error:
            self._notes.append(Note("damaged", f"this file of the archive is damaged ({error})", self._name))
            return 0
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._content.close()
        self._archive.close()
        super().close()


class _Nothing(io.RawIOBase):
    """A stream without content, where a member is refused."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        return 0


def _shown(member: str) -> str:
    return member.replace("\\", "/").lstrip("/").removeprefix("./")


def _hidden(member: str) -> bool:
    return any(
        part.startswith(".") and part not in {".", ".."} for part in _shown(member).split("/")
    ) or member.startswith("__MACOSX/")
