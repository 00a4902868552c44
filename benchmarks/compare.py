"""Compares scans with other programs on the same files: interleaved rounds, medians, ratios to one reference.

The reference is `rg -c --no-unicode -f rules.regex` on one thread, with the rulebook's own expressions. Needs ripgrep
on the path; jq is measured where it is there.

    python benchmarks/corpus.py corpus.ndjson --megabytes 1000 --jobs 2000
    python benchmarks/compare.py corpus.ndjson --rounds 5
"""

from __future__ import annotations

import argparse
import gzip
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import re2

PROGRAM = (sys.executable, "-m", "analyzer")
Prepare = Callable[[], None]


class Measured:
    """Wall and processor seconds and peak memory (MB) of the runs of one command."""

    def __init__(self, name: str, command: list[str], prepare: Prepare = lambda: None) -> None:
        self.name, self.command, self.prepare = name, command, prepare
        self.wall: list[float] = []
        self.processor: list[float] = []
        self.memory: list[float] = []

    def run(self) -> None:
        """One more run."""
        self.prepare()
        begin = time.perf_counter()
        process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            raise SystemExit(f"{self.name}: exit status {process.returncode}")
        self.wall.append(time.perf_counter() - begin)
        self.processor.append(used.ru_utime + used.ru_stime)
        self.memory.append(used.ru_maxrss / 1024)

    def line(self, reference: Measured, megabytes: float) -> str:
        """A row of the table: medians, and the median of the ratios of each round."""
        wall, processor = statistics.median(self.wall), statistics.median(self.processor)
        by_wall = statistics.median(a / b for a, b in zip(self.wall, reference.wall, strict=True))
        by_processor = statistics.median(a / b for a, b in zip(self.processor, reference.processor, strict=True))
        rate = f"{megabytes / wall:,.0f}" if megabytes else ""
        spread = f"{wall:.2f} ({min(self.wall):.2f}–{max(self.wall):.2f})"
        ratios = f"{by_wall:.2f} | {by_processor:.2f}"
        return f"| {self.name} | {spread} | {processor:.2f} | {rate} | {ratios} | {max(self.memory):.0f} |"


def expressions(place: Path, corpus: Path) -> Path:
    """The rulebook's regular expressions as ripgrep reads them, one line at a time.

    Left out is what it cannot read (line ends, letters beyond ASCII without Unicode), and what matches more than one
    line in twenty: such expressions are for parts of messages that others have chosen, and make counting trivial.
    """
    told = subprocess.run([*PROGRAM, "rules", "export"], capture_output=True, text=True, check=True).stdout
    for sign in "\"'<>@`%&=,;:!/_~":
        told = told.replace(f"\\{sign}", sign)
    told = re.sub(r"\(\?P<\w+>", "(?:", told)
    told = re.sub(r"(\[\^[^\]]*?)\\n", r"\1", told).replace("[^]", ".")
    usable = (line for line in told.splitlines() if line and line.isascii() and "\\n" not in line)
    with corpus.open("rb") as file:
        sample = [line for _, line in zip(range(200), file, strict=False)]
    place.write_text("\n".join(line for line in dict.fromkeys(usable) if not _is_common(line, sample)) + "\n")
    return place


def _is_common(expression: str, sample: list[bytes]) -> bool:
    options = re2.Options()
    options.log_errors = False
    try:
        pattern = re2.compile(expression.encode(), options)
    except re2.error:
        return True
    return sum(pattern.search(line) is not None for line in sample) > len(sample) // 20


def commands(corpus: Path, folder: Path) -> list[Measured]:
    """What is compared, the reference first."""
    regexes = expressions(folder / "rules.regex", corpus)
    output = folder / "report"
    packed = folder / f"{corpus.name}.gz"
    if not packed.exists():
        with corpus.open("rb") as plain, gzip.open(packed, "wb", 6) as out:
            shutil.copyfileobj(plain, out, 1 << 20)

    def anew() -> None:
        shutil.rmtree(output, ignore_errors=True)

    def scan(workers: int, path: Path) -> list[str]:
        return [*PROGRAM, "scan", str(path), "--output", str(output), "--workers", str(workers), "--quiet"]

    limits = ["--dfa-size-limit", "1G", "--regex-size-limit", "1G"]
    reference = ["rg", "-j1", "-c", "--no-unicode", *limits, "-f", str(regexes), str(corpus)]
    found = [
        Measured("rg -c, the rules' expressions, one thread", reference),
        Measured("diagnose scan, 1 process", scan(1, corpus), anew),
        Measured("diagnose scan, 2 processes", scan(2, corpus), anew),
        Measured("diagnose scan, one .gz, 1 process", scan(1, packed), anew),
        Measured("the same again (nothing new)", scan(1, packed)),
        Measured("diagnose --logs --format json", [*PROGRAM, "--logs", str(corpus), "--format", "json", "--quiet"]),
    ]
    if shutil.which("jq"):
        words = 'select(.severity == "ERROR")'
        found.append(Measured(f"jq -c {words}", ["jq", "-c", words, str(corpus)]))
    return found


def start_up(corpus: Path, folder: Path) -> list[Measured]:
    """Starts, with `python -c pass` as their reference."""
    small = folder / "small.ndjson"
    content = corpus.read_bytes()[: 1 << 20]
    small.write_bytes(content[: content.rfind(b"\n") + 1])
    return [
        Measured("python -c pass", [sys.executable, "-c", "pass"]),
        Measured("diagnose --help", [*PROGRAM, "--help"]),
        Measured("diagnose --logs, 1 MB", [*PROGRAM, "--logs", str(small), "--quiet"]),
    ]


def table(measured: list[Measured], megabytes: float, rounds: int) -> str:
    """Runs all in turn and gives the table."""
    for _ in range(rounds):
        for one in measured:
            one.run()
    names = ("what", "wall s (min–max)", "processor s", "MB/s", "× wall", "× processor", "peak MB")
    head = f"| {' | '.join(names)} |\n|{'---|' * len(names)}"
    return "\n".join([head, *(one.line(measured[0], megabytes) for one in measured)])


def main() -> None:
    """Prints both tables with the machine and its load."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    megabytes = given.corpus.stat().st_size / 1e6
    with tempfile.TemporaryDirectory(prefix="diagnose-benchmark-") as name:
        folder = Path(name)
        rg = subprocess.run(["rg", "--version"], capture_output=True, text=True, check=True).stdout.split("\n", 1)[0]
        machine = f"Python {platform.python_version()}, {rg}, {os.cpu_count()} processors"
        print(f"{machine}, load {os.getloadavg()[0]:.1f}, {megabytes:,.0f} MB\n")
        print(table(commands(given.corpus, folder), megabytes, given.rounds), "\n")
        print(table(start_up(given.corpus, folder), 0, max(given.rounds, 5)))


if __name__ == "__main__":
    main()
