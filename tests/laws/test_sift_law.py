"""The law *sift* where there is much to leave out: cases among thousands of chatter lines, and hostile exports."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cases import CASES, entries_of, rulebook

from analyzer.entries import Options, Partials, Sifter, absorb, sift, sift_source
from analyzer.formats import read_source
from analyzer.model import SECOND, Entry, Instant, Origin
from analyzer.pipeline import report_on
from analyzer.report.json_report import to_builtins
from analyzer.rulebook.telling import telling
from analyzer.sources import open_sources

sys.path.insert(0, str(Path(__file__).parents[1] / "scanning"))
from exports import write_exports

SAMPLE = CASES[::6]
CHATTER = (
    "step {n} loss 0.{n:04d} lr 1e-4", "2026-03-11 08:21:{s:02d},512 INFO trainer.data: loaded shard {n} of 90000",
    "cache hit ratio 0.{n} after {n} lookups", "{p}%|####      | {n}/90000 [01:22<10:03, 3.1it/s]",
)  # fmt: skip


def among_chatter(entries: tuple[Entry, ...], lines: int = 150) -> list[Entry]:
    """The entries with chatter of every replica before each tenth of its lines that names a time."""
    padded: list[Entry] = []
    counts: dict[str, int] = {}
    for entry in sorted(entries, key=lambda entry: entry.order):
        if entry.replica and entry.time is not None and entry.origin is Origin.REPLICA and not entry.fields.get("kind"):
            number = counts[entry.replica] = counts.get(entry.replica, 0) + 1
            if number % 10 == 2:
                padded += [_chat(entry, number * lines + n, lines - n) for n in range(lines)]
        padded.append(entry)
    return sorted(padded, key=lambda entry: entry.order)


def _chat(before: Entry, number: int, away: int) -> Entry:
    text = CHATTER[number % 4].format(n=number, s=number % 60, p=number % 100)
    assert before.time is not None
    return Entry(
        text=text, time=Instant(before.time - away * SECOND // 100), severity="INFO", origin=before.origin, job=before.job,
        replica=before.replica, rank=before.rank, node=before.node, source=before.source, attempt=before.attempt, insert_id=f"chat-{number:06d}", fields=before.fields,
    )  # fmt: skip


def diagnoses(partials: Partials) -> list[object]:
    """All that a report says of each job, counts included."""
    return [to_builtins(diagnosis) for diagnosis in report_on(partials, rulebook(), Options(), []).diagnoses]


def kept(partials: Partials) -> int:
    """How many entries were kept."""
    return sum(len(partial.entries) for partial in partials.values())


@pytest.mark.parametrize("case", SAMPLE, ids=lambda path: path.name)
def test_a_case_among_chatter(case: Path) -> None:
    """What is kept of a case among chatter gives the very diagnosis that all of it gives."""
    entries = among_chatter(entries_of(case))
    thin = sift(entries, telling(rulebook()))
    assert diagnoses(thin) == diagnoses(sift(entries))


def test_hostile_exports(tmp_path: Path) -> None:
    """Escapes, quotes, huge lines, NUL bytes, progress bars, tracebacks across files: nothing that is needed is lost."""
    folder = write_exports(tmp_path, jobs=4, lines=5000)
    broken = folder / "00:00:00_00:59:59_S0.json"
    broken.write_bytes(broken.read_bytes().replace(b"}\n", b"}\r\n", 50) + b'{"insertId": "cut", "textPay\n\xff\xfe\n')
    notes: list[object] = []
    full: Partials = {}
    thin: Partials = {}
    for source in open_sources([str(folder)], []):
        absorb(full, sift(read_source(source, notes)))  # type: ignore[arg-type]
        absorb(thin, sift_source(source, notes, telling(rulebook())))  # type: ignore[arg-type]
    assert kept(thin) < kept(full) * 0.8
    assert diagnoses(thin) == diagnoses(full)


def test_a_million_steps_leave_little() -> None:
    """Of a job's endless steps only some are kept, and their number is."""
    sifter = Sifter(telling(rulebook()))
    made = entries_of(CASES[0])[0]
    for number in range(30_000):
        sifter.entry(_chat(Entry(text="", time=Instant((1_770_000_000 + number) * SECOND), origin=Origin.REPLICA, replica="w",
                                 job=made.job), number, 0))  # fmt: skip
    partials = sifter.finish([])
    entries = [entry for partial in partials.values() for entry in partial.entries.values()]
    assert len(entries) < 2000
    assert sum(1 + sum(count for _, count in entry.skipped) for entry in entries) == 30_000


def test_endless_tracebacks_leave_samples_and_counts() -> None:
    """Of a job that prints a traceback a second for hours the first and the last are kept, and all are counted."""
    text = 'Traceback (most recent call last):\n  File "/app/train.py", line 9, in <module>\n    pull({n})\nConnectionResetError: [Errno 104] {n}'
    job = entries_of(CASES[0])[0].job
    entries = [
        Entry(text=text.format(n=n), time=Instant((1_770_000_000 + n) * SECOND), severity="ERROR", origin=Origin.REPLICA,
              job=job, replica=f"w-{n % 2}", source="a", line=n, insert_id=f"{n:06d}")
        for n in range(20_000)
    ]  # fmt: skip
    partials = sift(entries, telling(rulebook()))
    thin = [entry for partial in partials.values() for entry in partial.in_order()]
    assert len(thin) < 1000
    assert (thin[0], thin[-1].insert_id) == (entries[0], entries[-1].insert_id)
    assert sum(1 + sum(count for _, count in entry.skipped) for entry in thin) == len(entries)
