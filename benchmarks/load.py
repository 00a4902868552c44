"""Prints how time and memory grow with what is put in: a job's entries, its replicas, its failures, jobs, bytes.

Each row is a run of the program in a process of its own, on an input ten times as large as the row before. The last
column is how many times the processor seconds grew, the start of the program taken off: 10 is linear growth.

    python benchmarks/load.py entries 2000 20000 200000
    python benchmarks/load.py replicas 20 200 2000
    python benchmarks/load.py failures 200 2000 20000
    python benchmarks/load.py jobs 1000 10000 100000
    python benchmarks/load.py megabytes 10 100 1000
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from compare import PROGRAM, Measured
from corpus import FAILURES, Job, Line, corpus

_LINES_A_REPLICA = 100
_LINES_A_SMALL_JOB = 8
_PEER = "RuntimeError: [{n}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={n}, OpType=ALLREDUCE)"


class LargeJob(Job):
    """A failed job of so many lines and replicas: when one fails all others print that they lost it, and end, too."""

    def __init__(self, lines: int, replicas: int) -> None:
        super().__init__(0, random.Random(7), lines)
        self.lines, self.vertex, self.cause = lines, True, "out_of_memory.gpu"
        self.replicas = [self._name(number) for number in range(replicas)]

    def _end(self, time: float) -> Iterator[Line]:
        yield from super()._end(time)
        for number, name in enumerate(self.replicas[:-1]):
            yield time + 6, name, "ERROR", _PEER.format(n=number)
            yield time + 7, "service", "ERROR", f"The replica {name} exited with a non-zero status of 1."


class RestlessJob(LargeJob):
    """A job of eight replicas that prints a traceback again and again; each time the runner starts it anew."""

    def __init__(self, failures: int) -> None:
        super().__init__(0, 8)
        self.failures = failures

    def story(self) -> Iterator[Line]:
        """Failures, each with its step and its new start."""
        time, causes = self.begin, sorted(FAILURES)
        for number in range(self.failures):
            replica, time = self.replicas[number % 8], time + 9
            yield time, replica, "INFO", "Running module trainer.task."
            yield time + 1, replica, "INFO", f"step {number} loss {1 / (number + 1):.5f}"
            for place, text in enumerate(FAILURES[causes[number % len(causes)]]):
                yield time + 2 + place / 1000, replica, "ERROR", text
            yield time + 3, "service", "ERROR", f"The replica {replica} exited with a non-zero status of 1."
        yield from self._end(time + 4)


def entries_of(job: Job) -> Iterator[bytes]:
    """The export of one job, in the order of its story."""
    for number, line in enumerate(job.story()):
        yield json.dumps(job.entry(line, number), separators=(",", ":")).encode() + b"\n"


def small_jobs(count: int) -> Iterator[bytes]:
    """Many jobs of a few lines each."""
    return (line for line, _ in corpus(count, 0, 7, least=_LINES_A_SMALL_JOB))


def up_to(megabytes: int) -> Iterator[bytes]:
    """So many bytes of jobs of some 500 lines: the first ones of the day."""
    size = 0
    for line, _ in corpus(megabytes * 3, 500, 7):
        size += len(line)
        if size > megabytes * 1_000_000:
            return
        yield line


INPUTS: dict[str, Callable[[int], Iterable[bytes]]] = {
    "entries": lambda count: entries_of(LargeJob(count, 8)),
    "replicas": lambda count: entries_of(LargeJob(count * _LINES_A_REPLICA, count)),
    "failures": lambda count: entries_of(RestlessJob(count)),
    "jobs": small_jobs,
    "megabytes": up_to,
}


def command_for(kind: str, file: Path, folder: Path) -> list[str]:
    """The program on a file: one job's report, or a scan of all jobs by one process."""
    if kind in ("jobs", "megabytes"):
        return [*PROGRAM, "scan", str(file), "--output", str(folder / "report"), "--workers", "1", "--quiet"]
    return [*PROGRAM, "--logs", str(file), "--format", "html", "--quiet"]


def run(kind: str, size: int) -> tuple[Measured, int]:
    """One run, and the bytes that it read."""
    with tempfile.TemporaryDirectory(prefix="diagnose-load-") as place:
        file = Path(place) / "export.ndjson"
        with file.open("wb") as out:
            out.writelines(INPUTS[kind](size))
        measured = Measured(f"{size:,} {kind}", command_for(kind, file, Path(place)))
        measured.run()
        return measured, file.stat().st_size


def main() -> None:
    """Prints the curve of one kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=INPUTS)
    parser.add_argument("sizes", type=int, nargs="+")
    given = parser.parse_args()
    start = Measured("start", [*PROGRAM, "--help"])
    start.run()
    print("| input | MB | processor s | peak MB | × |\n|---|---|---|---|---|")
    run(given.kind, given.sizes[0])  # compiles what is not compiled yet
    before: float | None = None
    for size in given.sizes:
        measured, read = run(given.kind, size)
        used = measured.processor[0] - start.processor[0]
        grown = f"{used / before:.1f}" if before else ""
        print(f"| {measured.name} | {read / 1e6:.1f} | {used:.2f} | {measured.memory[0]:.0f} | {grown} |", flush=True)
        before = used


if __name__ == "__main__":
    sys.exit(main())
