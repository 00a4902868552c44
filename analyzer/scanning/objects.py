"""What there is to read: the objects of the exports, cut into units of work that do not depend on who does them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from analyzer.errors import UsageError
from analyzer.sources import Source
from analyzer.sources.compression import compression_of
from analyzer.sources.paths import files_of

UNIT = 64 << 20
"""A plain file of JSON lines is cut into ranges of so many bytes."""
_HEAD = 1 << 16
_BLOCK = 1 << 20
_UNREADABLE = "unreadable"


class Unit(msgspec.Struct, frozen=True):
    """One object, or a range of bytes of a plain one, whose lines begin in it.

    `stamp` changes with the object: size and time, and a digest of its head, or its generation in a bucket. `line` is
    the number of the first line that begins in it.
    """

    name: str
    stamp: str
    size: int
    start: int = 0
    end: int | None = None
    line: int = 1

    @property
    def id(self) -> str:
        """What names the unit in the scan's records."""
        return hashlib.sha256(f"{self.name}\0{self.start}".encode()).hexdigest()[:24]


class Object(msgspec.Struct, frozen=True):
    """One file or object as it is listed."""

    name: str
    stamp: str
    size: int


def listed(paths: Sequence[str], shard: tuple[int, int] | None = None) -> list[Object]:
    """The objects that the paths name, each once, in the order of their names; of a shard only its share.

    Raises what `open_sources` raises for paths that cannot be read.
    """
    found: dict[str, Object] = {}
    for path in paths:
        if path == "-":
            raise UsageError("standard input cannot be scanned", advice="name files or folders")
        for item in _objects(path):
            if shard is None or _share(item.name, shard[1]) == shard[0]:
                found.setdefault(item.name, item)
    return [found[name] for name in sorted(found)]


def _share(name: str, of: int) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % of


def _objects(path: str) -> Iterator[Object]:
    if path.startswith("gs://"):
        from analyzer.sources.buckets import bucket_objects

        for name, size, generation in bucket_objects(path):
            yield Object(name, f"{size} {generation}", size)
        return
    if "://" in path:
        raise UsageError("addresses of this kind cannot be scanned", where=path, advice="name a folder or gs://BUCKET/PREFIX")
    for file, name in files_of(path):
        try:
            status = file.stat()
        except OSError:  # it went away, or may not be asked about: whoever reads it says so
            yield Object(name, f"0 {_UNREADABLE}", 0)
            continue
        yield Object(name, f"{status.st_size} {status.st_mtime_ns} {_head_digest(file)}", status.st_size)


def _head_digest(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return hashlib.sha256(stream.read(4096)).hexdigest()[:16]
    except OSError:
        return _UNREADABLE


def units_of(item: Object) -> list[Unit]:
    """The units of an object: the whole, or ranges of a large plain file of JSON lines."""
    if item.size <= UNIT or "://" in item.name or not _is_plain_json_lines(Path(item.name)):
        return [Unit(item.name, item.stamp, item.size)]
    starts = range(0, item.size, UNIT)
    lines = _first_lines(Path(item.name), starts)
    return [
        Unit(item.name, item.stamp, min(UNIT, item.size - start), start, min(start + UNIT, item.size), line)
        for start, line in zip(starts, lines, strict=True)
    ]


def _is_plain_json_lines(file: Path) -> bool:
    from analyzer.formats.recognise import Form, recognise

    try:
        with file.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError:
        return False
    if compression_of(head) is not None or head.startswith(b"\xef\xbb\xbf"):
        return False
    found = recognise(head, False)
    return found.form is Form.NDJSON and found.start == 0 and not found.cut


def _first_lines(file: Path, starts: Iterable[int]) -> list[int]:
    """The number of the first line that begins at or after each of the offsets."""
    wanted = list(starts)
    found: list[int] = []
    line, at, at_begin = 1, 0, True
    with file.open("rb", 0) as stream:
        for start in wanted:
            while at < start:
                data = stream.read(min(_BLOCK, start - at))
                if not data:
                    break
                line += data.count(b"\n")
                at += len(data)
                at_begin = data.endswith(b"\n")
            found.append(line if at_begin else line + 1)
    return found


def range_source(unit: Unit) -> Source:
    """The lines of a file that begin in a unit's range, as a source."""
    return Source(unit.name, lambda: cast(BinaryIO, io.BufferedReader(_Range(unit), 1 << 18)))


class _Range(io.RawIOBase):
    """The bytes from the first line that begins at or after `start` to the end of the last that begins before `end`."""

    def __init__(self, unit: Unit) -> None:
        self._file = Path(unit.name).open("rb", 0)  # noqa: SIM115 - closed with this stream
        self._end = unit.end if unit.end is not None else unit.size
        self._at = unit.start
        self._over = False
        if unit.start:
            self._file.seek(unit.start - 1)
            self._at = unit.start - 1
            self._skip_line()

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        if self._over:
            return 0
        room = len(buffer)
        if self._at < self._end:
            data = self._file.read(min(room, self._end - self._at)) or b""
            if self._at + len(data) >= self._end and data.endswith(b"\n"):
                self._over = True
        else:  # within the last line, which may reach beyond the end
            data = self._file.read(room) or b""
            cut = data.find(b"\n") + 1
            if cut:
                data, self._over = data[:cut], True
        self._at += len(data)
        if not data:
            self._over = True
        buffer[: len(data)] = data
        return len(data)

    def _skip_line(self) -> None:
        while data := self._file.read(1 << 16):
            cut = data.find(b"\n") + 1
            if cut:
                self._at += cut
                break
            self._at += len(data)
        self._file.seek(self._at)
        self._over = self._at >= self._end
