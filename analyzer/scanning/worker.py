"""What a worker process does: reads units and diagnoses jobs, with one rulebook that it loads once."""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import lru_cache
from pathlib import Path

import msgspec

from analyzer import __version__
from analyzer.entries import Options, Story
from analyzer.errors import RenderError, way_to_write
from analyzer.model import Diagnosis, JobKey, Report, Tool
from analyzer.pseudonyms import KEY_VARIABLE, Pseudonyms, strict_job
from analyzer.redact import redact_all
from analyzer.rulebook import Matcher
from analyzer.rulebook.telling import Telling, telling
from analyzer.scanning.database import Database, Kept
from analyzer.scanning.groups import Group
from analyzer.scanning.objects import Unit
from analyzer.scanning.parts import Done, Part, bounded, joined, name_of, scan_unit, unpack
from analyzer.scanning.rows import row_of
from analyzer.scanning.settings import Settings

REPORTS = "jobs"
BEGUN = ".diagnose-"
"""How names of files begin that are being written."""
_END = b"</html>"
"""How a page ends."""


@lru_cache(maxsize=1)
def rulebook(packs: tuple[str, ...]) -> Matcher:
    """The rules, loaded once a process."""
    from analyzer.rulebook.cache import load_rulebook

    return load_rulebook([Path(pack) for pack in packs])


@lru_cache(maxsize=1)
def _tells(packs: tuple[str, ...]) -> Telling:
    return telling(rulebook(packs))


def read_unit(unit: Unit, settings: Settings) -> tuple[Done, list[Part]]:
    """Reads a unit of work."""
    parts: list[Part] = []
    done: Done | None = None
    for item in scan_unit(unit, _tells(settings.packs), settings):
        if isinstance(item, Done):
            done = item
        else:
            parts.append(item)
    assert done is not None
    return done, parts


class Sent(msgspec.Struct, frozen=True):
    """A job to diagnose with all its parts, for a worker that cannot reach the scan's records."""

    group: Group
    parts: list[bytes]


class Diagnosed(msgspec.Struct, frozen=True):
    """A job's record, and its page where it failed (None where the worker has written it)."""

    kept: Kept
    name: str | None = None
    page: bytes | None = None


def diagnose_group(group: Group, settings: Settings, scan: int) -> Diagnosed:
    """Diagnoses a job out of the scan's records, and writes its page if it failed."""
    database = Database(settings.output, create=False, write=False)
    try:
        parts = [part for name in group.names for part in database.parts(name)]
    finally:
        database.close()
    found = diagnose_sent(Sent(group, parts), settings, scan)
    if found.name is not None and found.page is not None:
        write_whole(settings.output / found.name, found.page)
    return Diagnosed(found.kept)


def diagnose_sent(sent: Sent, settings: Settings, scan: int) -> Diagnosed:
    """Diagnoses a job out of its parts."""
    from analyzer.pipeline import diagnose_story

    group, partial = sent.group, joined(sent.parts)
    for entry in unpack(group.loose):
        partial.add(entry)
    story = Story(group.key, bounded(partial).in_order())
    rules = rulebook(settings.packs)
    diagnosis = diagnose_story(story, rules, Options(lang=settings.lang, redact=settings.redact))
    name = f"{REPORTS}/{page_name(group.key)}" if diagnosis.outcome == "failed" else None
    row = row_of(diagnosis, story, name)
    row = redact_all(row) if settings.redact else row
    if settings.strict:
        diagnosis, row = strict_job(diagnosis, row, os.environ.get(KEY_VARIABLE, "").encode())
    kept = Kept(record_name(group.key, settings), group.inputs, scan, row.fingerprint, encoded(row), encoded(diagnosis))
    return Diagnosed(kept, name, _page(diagnosis, rules.version, settings.lang) if name else None)


def record_name(key: JobKey, settings: Settings) -> str:
    """What a job is recorded under; a strict scan keeps no project's name."""
    if not settings.strict:
        return name_of(key)
    masks = Pseudonyms([key.project], key=os.environ.get(KEY_VARIABLE, "").encode())
    return name_of(msgspec.structs.replace(key, project=masks.mask(key.project)))


def page_name(key: JobKey) -> str:
    """A file name for a job's page: what is harmless of its id, and a digest that keeps equal names apart."""
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "-" for char in key.id)
    return f"{kept.strip('-')[:60] or 'job'}-{hashlib.sha256(name_of(key).encode()).hexdigest()[:8]}.html"


def is_whole(page: Path) -> bool:
    """Whether a page stands there to its end; a power cut may leave less of it, and people remove files."""
    try:
        with page.open("rb") as file:
            file.seek(-len(_END) - 1, os.SEEK_END)
            return file.read().rstrip().endswith(_END)
    except OSError:
        return False


def encoded(value: object) -> bytes:
    """A row or diagnosis as JSON; times as RFC 3339."""
    return msgspec.json.encode(value, enc_hook=str)


def _page(diagnosis: Diagnosis, version: str, lang: str) -> bytes:
    from analyzer.report.html import render_html

    tool = Tool(version=__version__, rulebook_version=version)
    return render_html(Report(tool=tool, diagnoses=[diagnosis]), lang=lang).encode("utf-8", "replace")


def write_whole(place: Path, data: bytes) -> None:
    """Writes a file whole or not at all, readable by its owner only.

    Raises:
        RenderError: if it cannot be written.
    """
    try:
        os.makedirs(place.parent, mode=0o700, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=BEGUN)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, place)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise RenderError(
            f"cannot be written ({error.strerror})", where=str(place),
            advice=f"{way_to_write(error, '--output')}; the same command goes on where it stopped",
        ) from error  # fmt: skip
