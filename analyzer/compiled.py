"""Rules and tables as a start needs them: compiled once, kept by content, read back in a millisecond or two.

Compiling hundreds of YAML files takes a good part of a second, so the result is kept: for the bundled ones beside them
in a wheel, else in the user's cache folder. There each folder of rules has one file, which begins with the names, sizes
and times that it was made from. A cache that cannot be read or written costs time and nothing else.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from analyzer import __version__


def shipped_or_kept(name: str, folder: Path, make: Callable[[Path], bytes]) -> bytes | memoryview:
    """What `make` gives for a folder of rules: as the wheel ships it, as it was kept, or made now and kept."""
    shipped = folder.parent / shipped_name(name)
    if folder.parent.name == "_data" and shipped.is_file():
        return shipped.read_bytes()
    stamp = _stamp(str(folder))
    place = _cache_folder() / f"{name}-{_number_of(folder)}.msgpack"
    try:
        kept = place.read_bytes()
    except OSError:
        kept = b""
    if kept.startswith(stamp):
        return memoryview(kept)[len(stamp) :]
    data = make(folder)
    _put(place, stamp + data)
    return data


def shipped_name(name: str) -> str:
    """The file of a wheel that holds what is compiled under a name."""
    return f"{name}.msgpack"


def _cache_folder() -> Path:
    chosen = os.environ.get("DIAGNOSE_CACHE")
    if chosen:
        return Path(chosen)
    import platformdirs

    return platformdirs.user_cache_path("diagnose")


def _number_of(folder: Path) -> str:
    """Tells the kept files of folders apart, and those of programs; two that share one would only be made again."""
    both = f"{Path(__file__).parent}\0{folder}"
    return f"{zlib.crc32(both.encode('utf-8', 'surrogateescape')):08x}"


@lru_cache(maxsize=8)
def _stamp(folder: str) -> bytes:
    """What the folder's files look like from outside, and those of the program that compiled them."""
    program = Path(__file__).parent
    seen = sorted(_looks(folder)) + sorted(_looks(str(program / "rulebook"))) + [str(_time_of(__file__))]
    return ("\n".join((__version__, *seen)) + "\n\n").encode("utf-8", "surrogateescape")


def _looks(folder: str) -> Iterator[str]:
    """A line for each file of a folder; what Python compiles of a checkout is no part of it."""
    with os.scandir(folder) as found:
        for item in found:
            if item.is_dir():
                if item.name != "__pycache__":
                    yield from _looks(item.path)
            else:
                status = item.stat()
                yield f"{item.path}\0{status.st_size}\0{status.st_mtime_ns}"


def _time_of(file: str) -> int:
    return os.stat(file).st_mtime_ns


def _put(place: Path, data: bytes) -> None:
    """Writes whole or not at all; a folder that cannot be written is no reason to fail."""
    import tempfile

    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=place.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, place)
    except OSError:
        return
