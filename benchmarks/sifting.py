"""Checks the law *sift* on any logs: a diagnosis of what is kept is the very one that all of it gives.

The complete path keeps every entry in memory, some two kilobytes each. Exit status 1 if any job differs.

    python benchmarks/corpus.py corpus.ndjson --megabytes 1000 --jobs 2000
    python benchmarks/sifting.py corpus.ndjson
    python benchmarks/sifting.py --each fixtures/casebook    # each folder in it is an input of its own
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from analyzer.entries import Options, Partials, Room, absorb, assemble, sift, sift_source
from analyzer.formats import read_source
from analyzer.model import Note
from analyzer.pipeline import diagnose_story
from analyzer.report.json_report import to_builtins
from analyzer.rulebook.cache import load_rulebook
from analyzer.rulebook.telling import telling
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
        told = to_builtins(diagnose_story(story, RULEBOOK, Options()))
        told.pop("stats")
        yield "/".join((story.key.platform, story.key.project, story.key.id)), told


def compared(path: Path) -> tuple[int, int, int, int, list[str]]:
    """Bytes, entries, kept entries, jobs, and the names of jobs whose diagnoses differ."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    whole, thin = partials_of(path, complete=True), partials_of(path, complete=False)
    entries, kept = (sum(len(partial.entries) for partial in partials.values()) for partials in (whole, thin))
    expected, found = diagnoses_of(whole), diagnoses_of(thin)
    jobs, different = 0, []
    for (name, told), (_, seen) in zip(expected, found, strict=True):
        jobs += 1
        if told != seen:
            different.append(name)
    return size, entries, kept, jobs, different


def main() -> int:
    """Prints a row for all inputs together, and the jobs that differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--each", action="store_true", help="take each file or folder in a folder for itself")
    given = parser.parse_args()
    paths = [one for path in given.paths for one in (sorted(path.iterdir()) if given.each else [path])]
    size = entries = kept = jobs = 0
    different: list[str] = []
    for path in paths:
        more = compared(path)
        size, entries, kept, jobs = size + more[0], entries + more[1], kept + more[2], jobs + more[3]
        different += [f"{path}: {name}" for name in more[4]]
    print(f"| inputs | MB | entries | kept | jobs | mismatches |\n|{'---|' * 6}")
    print(f"| {len(paths):,} | {size / 1e6:,.1f} | {entries:,} | {kept:,} | {jobs:,} | {len(different)} |")
    print(*different, sep="\n", end="\n" if different else "")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
