"""Checks the law *sift* on any logs: a diagnosis of what is kept is the very one that all of it gives.

The complete path keeps every entry in memory, some two kilobytes each. With `--scan` it is compared with a scan, which
reads a large file in ranges of bytes and puts together what they hold of a job. Exit status 1 if any job differs.

    python benchmarks/corpus.py corpus.ndjson --megabytes 1000 --jobs 2000
    python benchmarks/sifting.py corpus.ndjson [--scan]
    python benchmarks/sifting.py --each fixtures/casebook    # each folder in it is an input of its own
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from analyzer.entries import Options, Partials, Room, absorb, assemble, sift, sift_source
from analyzer.formats import read_source
from analyzer.model import Note
from analyzer.pipeline import diagnose_story
from analyzer.report.json_report import to_builtins
from analyzer.rulebook.cache import load_rulebook
from analyzer.rulebook.telling import telling
from analyzer.scanning import Settings, scan
from analyzer.scanning.database import Database
from analyzer.sources import open_sources

RULEBOOK = load_rulebook()
TELLS = telling(RULEBOOK)


def partials_of(path: Path, *, complete: bool) -> Partials:
    """All entries of a path by job, or those that are kept."""
    notes: list[Note] = []
    partials: Partials = {}
    room = Room()
    for source in open_sources([str(path)], notes):
        absorb(partials, sift(read_source(source, notes)) if complete else sift_source(source, notes, TELLS, room))
    return partials


def diagnoses_of(partials: Partials) -> Iterator[tuple[str, object]]:
    """Each job's name and all that a report says of it but how many entries were read."""
    for story in assemble(partials)[0]:
        told = to_builtins(diagnose_story(story, RULEBOOK, Options(redact=False)))
        told.pop("stats")
        yield "/".join((story.key.platform, story.key.project, story.key.id)), told


def diagnoses_of_scan(path: Path) -> Iterator[tuple[str, object]]:
    """The same as a scan records it."""
    with tempfile.TemporaryDirectory(prefix="diagnose-sifting-") as folder:
        scan([str(path)], Settings(output=Path(folder), redact=False))
        database = Database(Path(folder), create=False, write=False)
        for kept in database.jobs():
            told = msgspec.json.decode(kept.diagnosis, type=dict[str, object])
            told.pop("stats")
            yield kept.job.replace("\x1f", "/"), told
        database.close()


def compared(path: Path, *, by_scan: bool) -> tuple[int, int, int, int, list[str]]:
    """Bytes, entries, kept entries, jobs, and the names of jobs whose diagnoses differ."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    whole, thin = partials_of(path, complete=True), partials_of(path, complete=False)
    entries, kept = (sum(len(partial.entries) for partial in partials.values()) for partials in (whole, thin))
    found = diagnoses_of_scan(path) if by_scan else diagnoses_of(thin)
    jobs, different = 0, []
    for (name, told), (_, seen) in zip(diagnoses_of(whole), found, strict=True):
        jobs += 1
        if plain(told) != plain(seen):
            different.append(name)
    return size, entries, kept, jobs, different


def plain(told: object) -> object:
    """As JSON has it."""
    return msgspec.json.decode(msgspec.json.encode(told, enc_hook=str))


def main() -> int:
    """Prints a row for all inputs together, and the jobs that differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--each", action="store_true", help="take each file or folder in a folder for itself")
    parser.add_argument("--scan", action="store_true", help="compare with a scan")
    given = parser.parse_args()
    paths = [one for path in given.paths for one in (sorted(path.iterdir()) if given.each else [path])]
    size = entries = kept = jobs = 0
    different: list[str] = []
    for path in paths:
        more = compared(path, by_scan=given.scan)
        size, entries, kept, jobs = size + more[0], entries + more[1], kept + more[2], jobs + more[3]
        different += [f"{path}: {name}" for name in more[4]]
    print(f"| inputs | MB | entries | kept | jobs | mismatches |\n|{'---|' * 6}")
    print(f"| {len(paths):,} | {size / 1e6:,.1f} | {entries:,} | {kept:,} | {jobs:,} | {len(different)} |")
    print(*different, sep="\n", end="\n" if different else "")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
