"""What a scan leaves for people and programs: jobs.jsonl, jobs.parquet, and the page of the whole fleet."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from analyzer import __version__
from analyzer.errors import UsageError
from analyzer.model import Note, Tool
from analyzer.model.fleet import Fleet, JobRow
from analyzer.model.instant import Instant
from analyzer.scanning.rows import Condition
from analyzer.scanning.settings import Settings
from analyzer.scanning.worker import encoded, write_whole

if TYPE_CHECKING:
    import pandas

LINES, TABLE, INDEX = "jobs.jsonl", "jobs.parquet", "index.html"
_TIMES = ("created", "started", "ended", "first_seen")
_WHOLE, _NUMBERS = ("exit_code",), ("confidence", "replica_hours", "gpu_hours", "lost_seconds")
_TRUTHS, _COUNTS = ("is_new",), ("attempts", "restarts_total", "preemptions", "replicas", "seen")
_COLUMNS = (*JobRow.__struct_fields__, "seen", "first_seen", "solution", "is_new")
_ROW_GROUP = 10_000
"""Rows of the table that are made at once."""


class Line(msgspec.Struct, kw_only=True):
    """A job's row with what earlier jobs tell of its failure.

    `seen` counts jobs that failed in the same way before it, the first of them at `first_seen`; `solution` is the last
    note on how such a failure was solved. `is_new`: no earlier scan into this folder had seen the job so.
    """

    row: JobRow
    seen: int = 0
    first_seen: Instant | None = None
    solution: str | None = None
    is_new: bool = True

    def flat(self) -> dict[str, Any]:
        """The line as one flat object."""
        flat = msgspec.to_builtins(self.row, enc_hook=str)
        first = None if self.first_seen is None else str(self.first_seen)
        return {**flat, "seen": self.seen, "first_seen": first, "solution": self.solution, "is_new": self.is_new}


def lines_of(rows: Sequence[tuple[JobRow, bool]], solutions: dict[str, str]) -> list[Line]:
    """The lines of all jobs, failed ones first, then by time; `rows` are in the order of their keys."""
    lines = [Line(row=row, is_new=new) for row, new in rows]
    alike: dict[str, list[Line]] = {}
    for line in sorted(lines, key=_by_end):
        if line.row.fingerprint is None:
            continue
        before = alike.setdefault(line.row.fingerprint, [])
        if before:
            line.seen, line.first_seen = len(before), before[0].row.ended
        before.append(line)
    for group in alike.values():
        told = [solutions[line.row.id] for line in group if line.row.id in solutions]
        for line in group:
            line.solution = told[-1] if told else None
    return sorted(lines, key=lambda line: (line.row.outcome != "failed", int(line.row.started or 0), line.row.id))


def _by_end(line: Line) -> tuple[int, str, str, str]:
    return (int(line.row.ended or 0), line.row.id, line.row.platform, line.row.project or "")


def chosen(lines: Sequence[Line], settings: Settings) -> list[Line]:
    """The lines that the settings ask for."""
    conditions = [Condition.parse(text) for text in settings.where]
    found = [
        line
        for line in lines
        if (settings.project is None or line.row.project == settings.project)
        and (not settings.only_failed or line.row.outcome == "failed")
        and all(condition.holds(line.row) for condition in conditions)
    ]
    return found[: settings.limit]


def write_outputs(
    lines: Sequence[Line], settings: Settings, version: str, notes: Sequence[Note], known: list[str] | None
) -> list[str]:
    """Writes all files, the index last, and names them. Each is written whole or not at all."""
    from analyzer.report.fleet import render_fleet

    folder = settings.output
    write_whole(folder / LINES, b"".join(encoded(line.flat()) + b"\n" for line in lines))
    files = [LINES]
    table = _parquet(lines)
    if table is not None:
        write_whole(folder / TABLE, table)
        files.append(TABLE)
    fleet = Fleet(
        rows=[line.row for line in lines], tool=Tool(version=__version__, rulebook_version=version),
        notes=list(notes), known=known, files=files,
    )  # fmt: skip
    write_whole(folder / INDEX, render_fleet(fleet, settings.lang).encode("utf-8", "replace"))
    return [*files, INDEX]


def frame_of(lines: Sequence[Line], columns: Sequence[str] = _COLUMNS) -> pandas.DataFrame:
    """The lines as a DataFrame, a row a job; times are timestamps in UTC. `columns`: only these."""
    import pandas

    rows = (line.flat() for line in lines)
    frame = pandas.DataFrame([[row[name] for name in columns] for row in rows], columns=list(columns))
    for name in columns:
        if name in _TIMES:
            frame[name] = pandas.to_datetime(frame[name], utc=True, format="ISO8601")
        elif name in _WHOLE or name in _NUMBERS:
            frame[name] = frame[name].astype("Int64" if name in _WHOLE else "Float64")
    return frame


def has_parquet() -> bool:
    """Whether the package is there that writes Parquet."""
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None


def _parquet(lines: Sequence[Line]) -> bytes | None:
    """The lines as Parquet, labels as JSON text, one group of rows after the other.

    Arrow reads the rows as JSON, since to make columns out of Python values it would import pandas.
    """
    if not has_parquet():
        return None
    from pyarrow import json, parquet

    schema, buffer = _schema(), io.BytesIO()
    parsing = json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    with parquet.ParquetWriter(buffer, schema) as writer:
        for begin in range(0, len(lines), _ROW_GROUP):
            rows = b"\n".join(map(_table_row, lines[begin : begin + _ROW_GROUP]))
            reading = json.ReadOptions(use_threads=False, block_size=len(rows) + 1)
            writer.write_table(json.read_json(io.BytesIO(rows), reading, parsing).cast(schema))
    return buffer.getvalue()


def _table_row(line: Line) -> bytes:
    flat = line.flat()
    return encoded({**flat, "labels": msgspec.json.encode(flat["labels"]).decode()})


def _schema() -> Any:
    """The table's columns; with them pandas' own note that numbers with gaps are to stay what they are."""
    import pyarrow

    kinds = {
        **dict.fromkeys(_TIMES, pyarrow.timestamp("ns", tz="UTC")),
        **dict.fromkeys((*_WHOLE, *_COUNTS), pyarrow.int64()),
        **dict.fromkeys(_NUMBERS, pyarrow.float64()),
        **dict.fromkeys(_TRUTHS, pyarrow.bool_()),
    }
    gaps = [(name, "int64", "Int64") for name in _WHOLE] + [(name, "float64", "Float64") for name in _NUMBERS]
    columns = [
        {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": own, "metadata": None}
        for name, kind, own in gaps
    ]
    note = msgspec.json.encode({"index_columns": [], "column_indexes": [], "columns": columns})
    fields = [pyarrow.field(name, kinds.get(name, pyarrow.string())) for name in _COLUMNS]
    return pyarrow.schema(fields, metadata={b"pandas": note})


def check(settings: Settings) -> None:
    """Refuses settings that are off, before anything is read.

    Raises:
        UsageError: if a condition is none, or numbers make no sense.
    """
    for text in settings.where:
        Condition.parse(text)
    if settings.workers < 1:
        raise UsageError("--workers must be 1 or more", advice="leave it out for one a processor")
    if settings.limit is not None and settings.limit < 1:
        raise UsageError("--limit must be 1 or more", advice="leave it out for all jobs")
