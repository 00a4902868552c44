"""The rulebook as a start needs it: compiled once, kept by content, read back in a millisecond or two.

Compiling (YAML, checks, literals) takes a good part of a second for hundreds of files, so the result is kept: for the
bundled rules beside them in a wheel, else in the user's cache folder under a digest of the files' names, sizes and
times. A cache that cannot be read or written costs time and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import platformdirs

from analyzer import __version__
from analyzer.errors import RuleError
from analyzer.resources import data_folder
from analyzer.rulebook.load import load_folder, rule_files
from analyzer.rulebook.match import Index, Matcher, index_rules
from analyzer.rulebook.schema import Examples, Rule

SHIPPED = "rulebook.msgpack"


class Compiled(msgspec.Struct, frozen=True):
    """Rules without their examples, what calls each up, and a digest of their content."""

    rules: list[Rule]
    index: Index
    version: str


def compile_rules(rules: Sequence[Rule]) -> Compiled:
    """Strips what matching does not need and works out the index."""
    bare = [msgspec.structs.replace(rule, examples=Examples()) for rule in sorted(rules, key=lambda rule: rule.id)]
    version = hashlib.sha256(msgspec.msgpack.encode(bare)).hexdigest()[:12]
    return Compiled(bare, index_rules(bare), version)


def compile_rulebook(folder: Path) -> bytes:
    """The compiled form of a folder of rules, as it is kept.

    Raises:
        RuleError: if a rule has a mistake.
    """
    return msgspec.msgpack.encode(compile_rules(load_folder(folder)))


def load_rulebook(packs: Sequence[Path] = ()) -> Matcher:
    """The bundled rules, overridden and extended by packs; of two rules with one id the later pack's wins.

    Raises:
        RuleError: if a pack is missing or a rule has a mistake.
    """
    bundled = _bundled()
    if not packs:
        return Matcher(bundled.rules, bundled.index, bundled.version)
    rules = {rule.id: rule for rule in bundled.rules}
    for pack in packs:
        if not pack.is_dir():
            raise RuleError("is no folder", where=str(pack), advice="name a folder of rule files")
        rules |= {rule.id: rule for rule in _kept(pack).rules}
    compiled = compile_rules(list(rules.values()))
    return Matcher(compiled.rules, compiled.index, compiled.version)


def _bundled() -> Compiled:
    folder = data_folder("rules")
    shipped = folder.parent / SHIPPED
    if folder.parent.name == "_data" and shipped.is_file():
        return msgspec.msgpack.decode(shipped.read_bytes(), type=Compiled)
    return _kept(folder)


def _kept(folder: Path) -> Compiled:
    """A folder's compiled rules out of the cache, or compiled and put there."""
    place = _cache_folder() / f"rulebook-{_stamp(folder)}.msgpack"
    try:
        return msgspec.msgpack.decode(place.read_bytes(), type=Compiled)
    except (OSError, msgspec.DecodeError):
        data = compile_rulebook(folder)
        _put(place, data)
        return msgspec.msgpack.decode(data, type=Compiled)


def _cache_folder() -> Path:
    return Path(os.environ.get("DIAGNOSE_CACHE") or platformdirs.user_cache_path("diagnose"))


def _stamp(folder: Path) -> str:
    """A digest of what the folder's files look like from outside, and of the program that compiled them."""
    stamp = hashlib.sha256(f"{__version__} {_program_stamp()}".encode())
    for path in rule_files(folder):
        status = path.stat()
        stamp.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return stamp.hexdigest()[:32]


def _program_stamp() -> str:
    """When the compiling code itself last changed: a checkout's cache must not outlive an edit of the schema."""
    here = Path(__file__).parent
    return ",".join(str(path.stat().st_mtime_ns) for path in sorted(here.glob("*.py")))


def _put(place: Path, data: bytes) -> None:
    """Writes whole or not at all; a folder that cannot be written is no reason to fail."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=place.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, place)
    except OSError:
        return
