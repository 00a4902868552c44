"""A scan's one file: what was read, what was kept of each job, diagnoses, and how failures were solved.

SQLite, since it is in Python's standard library, writes a unit of work whole or not at all whatever kills the process,
and lets workers read while the scan writes. DuckDB would be faster at questions over millions of rows, but those are
asked of the Parquet file, which any tool reads.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from analyzer.errors import RenderError, UsageError, way_to_write
from analyzer.model import Note
from analyzer.scanning.objects import Unit
from analyzer.scanning.parts import ANEW, Part

FILE = "scan.sqlite"
PATIENCE = 60.0
"""How long another process is waited for that holds the records (seconds)."""
UNREAD = "unread "
"""How the rules of a unit are recorded that could not be read to its end: it is read again."""
_STANDS = "what was recorded stands, and the same command goes on"
_HELD = ("SQLITE_BUSY", "SQLITE_LOCKED")
_FORBIDDEN = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")
_ODD = ("SQLITE_ERROR", "SQLITE_SCHEMA")  # tables of somebody else's
_FORM = "2"
_TABLES = """
CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS units(
    id TEXT PRIMARY KEY, object TEXT NOT NULL, stamp TEXT NOT NULL, rules TEXT NOT NULL, size INTEGER NOT NULL,
    entries INTEGER NOT NULL, notes BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS parts(unit TEXT NOT NULL, job TEXT NOT NULL, entries BLOB NOT NULL, ties BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS parts_of_job ON parts(job);
CREATE INDEX IF NOT EXISTS parts_of_unit ON parts(unit);
CREATE TABLE IF NOT EXISTS jobs(
    job TEXT PRIMARY KEY, inputs TEXT NOT NULL, scan INTEGER NOT NULL, fingerprint TEXT, row BLOB NOT NULL,
    diagnosis BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS solutions(job TEXT NOT NULL, text TEXT NOT NULL, noted TEXT NOT NULL);
"""
_OUTDATED = f"""
SELECT mine.id FROM main.units AS mine JOIN other.units AS theirs ON theirs.object = mine.object
WHERE theirs.rules NOT LIKE '{UNREAD}%'
AND (theirs.stamp <> mine.stamp OR (theirs.id = mine.id AND theirs.rules <> mine.rules))
"""
_notes = msgspec.json.Decoder(list[Note])


class Kept(msgspec.Struct, frozen=True):
    """A job's record: what it was diagnosed from, the scan that first saw it so, its row and its diagnosis as JSON."""

    job: str
    inputs: str
    scan: int
    fingerprint: str | None
    row: bytes
    diagnosis: bytes


@contextlib.contextmanager
def plainly(file: Path) -> Iterator[None]:
    """Turns what befalls a database's file into an error that says what to do."""
    try:
        yield
    except OSError as error:
        where, why = str(error.filename or file), error.strerror or str(error)
        raise _unusable(where, why, way_to_write(error, "--output")) from error
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(_HELD):
            raise RenderError(
                f"another process holds the scan's records ({error})", where=str(file), advice=f"let it end; {_STANDS}"
            ) from error
        if isinstance(error, sqlite3.OperationalError) and not name.startswith(_ODD):
            way = way_to_write(PermissionError(errno.EACCES, ""), "--output")
            way = way if name.startswith(_FORBIDDEN) else "make room or choose another --output"
            raise _unusable(str(file), str(error), way) from error
        raise RenderError(f"the scan's records are damaged ({error})", where=str(file), advice=ANEW) from error


def _unusable(where: str, why: str, way: str) -> RenderError:
    return RenderError(
        f"the scan's records cannot be read or written ({why})", where=where, advice=f"{way}; {_STANDS}"
    )


def _address(file: Path) -> str:
    """A database that is only read, be it where nobody may write: then nobody writes to it meanwhile either."""
    fixed = not os.access(file.parent, os.W_OK) and not file.with_name(f"{FILE}-wal").exists()
    return f"{file.resolve().as_uri()}?mode=ro{'&immutable=1' if fixed else ''}"


class Database:
    """The records of one output folder. Every writing method is one transaction.

    `create`: the folder may have none yet; else there is a UsageError. `write`: they are not only read.
    """

    def __init__(self, folder: Path, *, create: bool = True, write: bool = True) -> None:
        self.path = folder / FILE
        if not create and not self.path.is_file():
            raise UsageError("holds no scan", where=str(folder), advice="name the --output folder of `diagnose scan`")
        with plainly(self.path):
            if create:
                os.makedirs(folder, mode=0o700, exist_ok=True)
                os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
            self._db = sqlite3.connect(
                self.path.absolute() if write else _address(self.path), timeout=PATIENCE, isolation_level=None, uri=True
            )
            if write:
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA secure_delete=ON")
                self._db.execute("PRAGMA synchronous=NORMAL")
                self._db.executescript(_TABLES)
        form = self.meta("form")
        if form is None and write:
            self.set_meta("form", _FORM)
        elif form != _FORM:
            raise UsageError("holds a scan of another version", where=str(folder), advice="choose a new --output")

    def close(self) -> None:
        """Closes the file."""
        with plainly(self.path):
            self._db.close()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with plainly(self.path), self._db:  # which commits, or rolls back on an error
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db

    # -- settings

    def meta(self, name: str) -> str | None:
        """A value that was recorded by name."""
        with plainly(self.path):
            found = self._db.execute("SELECT value FROM meta WHERE name=?", (name,)).fetchone()
        return found[0] if found else None

    def set_meta(self, name: str, value: str) -> None:
        """Records a value by name."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES(?,?)", (name, value))

    # -- what was read

    def unread(self, units: Iterable[Unit], rules: str) -> list[Unit]:
        """The units that were not read yet, not as they stand now, or not with these rules."""
        with plainly(self.path):
            known = {row[0]: row[1:] for row in self._db.execute("SELECT id, stamp, rules FROM units")}
        return [unit for unit in units if known.get(unit.id) != (unit.stamp, rules)]

    def is_read(self, name: str, stamp: str, rules: str) -> bool:
        """Whether an object was read as it stands now, all of its units."""
        with plainly(self.path):
            found = self._db.execute(
                "SELECT count(*), coalesce(sum(size), 0), min(stamp), max(stamp), min(rules), max(rules) FROM units"
                " WHERE object=?", (name,)
            ).fetchone()  # fmt: skip
        size = int(stamp.split(" ", 1)[0])
        return bool(found[0]) and found[1:] == (size, stamp, stamp, rules, rules)

    def record(self, unit: Unit, rules: str, entries: int, notes: Sequence[Note], parts: Sequence[Part]) -> None:
        """Records a unit that was read; what an older state of its object gave goes.

        A unit that could not be read to its end gives what it has, and stays one to read.
        """
        if any(note.kind == "unreadable" for note in notes):
            rules = UNREAD + hashlib.sha256(b"".join(part.entries for part in parts)).hexdigest()
        with self._writing() as db:
            stale = [row[0] for row in db.execute(
                "SELECT id FROM units WHERE object=? AND (stamp<>? OR id=?)", (unit.name, unit.stamp, unit.id)
            )]  # fmt: skip
            for old in stale:
                db.execute("DELETE FROM parts WHERE unit=?", (old,))
                db.execute("DELETE FROM units WHERE id=?", (old,))
            row = (unit.id, unit.name, unit.stamp, rules, unit.size, entries, msgspec.json.encode(list(notes)))
            db.execute("INSERT INTO units VALUES(?,?,?,?,?,?,?)", row)
            db.executemany(
                "INSERT INTO parts VALUES(?,?,?,?)", ((unit.id, part.key, part.entries, part.ties) for part in parts)
            )

    def forget_unread(self, names: Iterable[str]) -> None:
        """Drops that these could not be read: folders that let nobody look into them, and now do."""
        with self._writing() as db:
            db.executemany(f"DELETE FROM units WHERE object=? AND rules LIKE '{UNREAD}%'", ((name,) for name in names))

    def adopt(self, other: Path) -> None:
        """Takes over what another folder's scan has read as it stands there; a unit of both counts once.

        What could not be read there does not take the place of what was.
        """
        with plainly(other / FILE):
            self._db.execute("ATTACH DATABASE ? AS other", (_address(other / FILE),))
        try:
            with self._writing() as db:
                for table, name in (("parts", "unit"), ("units", "id")):
                    db.execute(f"DELETE FROM main.{table} WHERE {name} IN ({_OUTDATED})")
                new = "SELECT id FROM other.units WHERE id NOT IN (SELECT id FROM main.units)"
                db.execute(f"INSERT INTO main.parts SELECT * FROM other.parts WHERE unit IN ({new})")
                db.execute(f"INSERT INTO main.units SELECT * FROM other.units WHERE id IN ({new})")
                noted = "SELECT * FROM other.solutions EXCEPT SELECT * FROM main.solutions"
                db.execute(f"INSERT INTO main.solutions {noted}")
        finally:
            with plainly(self.path):
                self._db.execute("DETACH DATABASE other")

    def forget_entries(self) -> None:
        """Drops what was kept of the jobs' entries, so that a later scan reads its objects anew."""
        with self._writing() as db:
            db.execute("DELETE FROM parts")
            db.execute("DELETE FROM units")
        with plainly(self.path):
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def totals(self) -> tuple[int, list[Note]]:
        """How many entries were read in all, and the notes on them."""
        with plainly(self.path):
            entries = self._db.execute("SELECT coalesce(sum(entries), 0) FROM units").fetchone()[0]
            rows = self._db.execute("SELECT notes FROM units ORDER BY object, id").fetchall()
        return entries, [note for row in rows for note in _notes.decode(row[0])]

    def ties(self) -> Iterator[tuple[str, str, bytes]]:
        """For every part: job, what identifies its unit and how that was read, and its ties; in a settled order."""
        with plainly(self.path):
            yield from self._db.execute(
                "SELECT parts.job, units.id || units.stamp || units.rules, parts.ties"
                " FROM parts JOIN units ON units.id = parts.unit"
                " ORDER BY parts.job, units.object, units.id, parts.rowid"
            )

    def parts(self, job: str) -> Iterator[bytes]:
        """The entries of a job's parts."""
        with plainly(self.path):
            for row in self._db.execute("SELECT entries FROM parts WHERE job=? ORDER BY unit, rowid", (job,)):
                yield row[0]

    # -- diagnoses

    def known_inputs(self) -> dict[str, str]:
        """For every job that was diagnosed what it was diagnosed from."""
        with plainly(self.path):
            return dict(self._db.execute("SELECT job, inputs FROM jobs"))

    def rows(self) -> Iterator[tuple[str, bytes]]:
        """The row of every job that was diagnosed."""
        with plainly(self.path):
            yield from self._db.execute("SELECT job, row FROM jobs")

    def keep(self, jobs: Iterable[Kept]) -> None:
        """Records diagnoses; the scan that first saw a job with the same fingerprint stays recorded."""
        with self._writing() as db:
            for job in jobs:
                before = db.execute("SELECT scan, fingerprint FROM jobs WHERE job=?", (job.job,)).fetchone()
                scan = before[0] if before and before[1] == job.fingerprint else job.scan
                row = (job.job, job.inputs, scan, job.fingerprint, job.row, job.diagnosis)
                db.execute("INSERT OR REPLACE INTO jobs VALUES(?,?,?,?,?,?)", row)

    def forget_except(self, jobs: Iterable[str]) -> None:
        """Drops records of jobs that are none any more, since they turned out to be part of another."""
        wanted = set(jobs)
        gone = [job for job in self.known_inputs() if job not in wanted]
        if gone:
            with self._writing() as db:
                db.executemany("DELETE FROM jobs WHERE job=?", ((job,) for job in gone))

    def jobs(self) -> Iterator[Kept]:
        """All records of jobs, in the order of their keys."""
        with plainly(self.path):
            for row in self._db.execute("SELECT job, inputs, scan, fingerprint, row, diagnosis FROM jobs ORDER BY job"):
                yield Kept(*row)

    # -- solutions

    def note(self, job: str, text: str, noted: str) -> None:
        """Remembers how a job's failure was solved; `noted` (RFC 3339) counts at least as late as any note before."""
        with self._writing() as db:
            last = "max(?, (SELECT coalesce(max(noted), '') FROM solutions))"  # a clock may have been put back
            db.execute(f"INSERT INTO solutions VALUES(?,?,{last})", (job, text, noted))

    def solutions(self) -> dict[str, str]:
        """The last note on each job, by its id."""
        with plainly(self.path):
            return dict(self._db.execute("SELECT job, text FROM solutions ORDER BY noted, rowid"))
