"""The fixtures of all forms, and how an entry is written down in their `.entries` files.

`python tests/formats/forms.py` writes the `.entries` files anew; look at the difference before keeping it.
"""

from __future__ import annotations

import importlib.util
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer.formats import read_source
from analyzer.model import Entry, Note
from analyzer.sources import Source, open_sources

FORMS = Path(__file__).resolve().parents[2] / "fixtures" / "forms"
TABLES = sorted(path for path in FORMS.glob("*/*") if path.suffix in (".parquet", ".avro"))
"""Packed tables: no text, read by packages of extras."""
INPUTS = sorted(path for path in FORMS.glob("*/*") if path.suffix != ".entries" and path not in TABLES)
"""Text, for which the laws on lines, encodings and bad bytes hold."""
PACKERS = {".parquet": ("pyarrow",), ".avro": ("fastavro", "cramjam")}
"""What reads a packed table."""
NAMES = [f"{path.parent.name}/{path.name}" for path in INPUTS]


def all_forms() -> list[Any]:
    """The inputs of all forms as parameters, text and tables; a table is skipped where what reads it is missing."""
    return [
        pytest.param(path, id=f"{path.parent.name}/{path.name}", marks=needs(PACKERS.get(path.suffix, ())))
        for path in INPUTS + TABLES
    ]


def needs(packages: Iterable[str]) -> list[Any]:
    """A mark that skips a test where a package is missing."""
    lacking = [name for name in packages if importlib.util.find_spec(name) is None]
    return [pytest.mark.skip(reason=f"{', '.join(lacking)} is not installed: a form goes unchecked")] if lacking else []


def read(path: Path | str) -> list[Entry]:
    """The entries of a file (or, as text, of a fixture's name), under its bare name."""
    file = FORMS / path if isinstance(path, str) else path
    return entries_of(file.read_bytes(), file.name)


def entries_of(content: bytes | str, name: str = "input", notes: list[Note] | None = None) -> list[Entry]:
    """The entries of a source with this content."""
    data = content.encode() if isinstance(content, str) else content
    return list(read_source(Source(name, lambda: io.BytesIO(data)), [] if notes is None else notes))


def notes_of(content: bytes | str) -> list[Note]:
    """The notes that reading this content leaves."""
    notes: list[Note] = []
    entries_of(content, notes=notes)
    return notes


def written(entry: Entry) -> str:
    """An entry in one line, every part of it."""
    job = "-" if entry.job is None else f"{entry.job.platform}:{entry.job.project}:{entry.job.id}"
    time = "-" if entry.time is None else str(entry.time) if entry.time_stated else f"({entry.time})"
    parts = (entry.line, entry.sequence, entry.insert_id or "-", time, entry.severity, entry.origin, job,
             entry.replica or "-", "-" if entry.attempt is None else entry.attempt, entry.node or "-")  # fmt: skip
    fields = json.dumps(entry.fields, ensure_ascii=False, sort_keys=True)
    return f"{' '.join(map(str, parts))} {json.dumps(entry.text, ensure_ascii=False)} {fields}"


def expected(path: Path) -> str:
    """What stands in the `.entries` file of a fixture."""
    return path.with_name(path.name + ".entries").read_text(encoding="utf-8")


def all_sources() -> Iterator[Source]:
    """The fixtures as sources."""
    yield from open_sources([str(path) for path in INPUTS], [])


def _write() -> None:
    for path in INPUTS + TABLES:
        text = "".join(written(entry) + "\n" for entry in read(path))
        path.with_name(path.name + ".entries").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _write()
