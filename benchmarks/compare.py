"""Compares scans with other programs on the same files: interleaved rounds, medians, ratios to one reference.

The reference is `rg -c --no-unicode -f rules.regex` on one thread, with the rulebook's own expressions as `diagnose
rules export` prints them. ripgrep gets slow with so many (a megabyte a second or less), so a large corpus is better
compared with `--reference literals`: `rg -c -i -F` with the words that the rules need. Needs ripgrep on the path; jq
and DuckDB are measured where they are there.

    python benchmarks/corpus.py corpus.ndjson --megabytes 30 --jobs 60
    python benchmarks/compare.py corpus.ndjson --rounds 5
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
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

from analyzer.rulebook.cache import load_rulebook
from analyzer.rulebook.export import line_expressions

PROGRAM = (sys.executable, "-m", "analyzer")
Prepare = Callable[[], None]
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""As a user has it: Python keeps what it has compiled."""


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
        process = subprocess.Popen(
            self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=_ENVIRONMENT
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            raise SystemExit(f"{self.name}: exit status {process.returncode}")
        self.wall.append(time.perf_counter() - begin)
        self.processor.append(used.ru_utime + used.ru_stime)
        self.memory.append(used.ru_maxrss / 1024)

    def warm_up(self) -> None:
        """One run that is not counted."""
        self.run()
        self.wall.clear(), self.processor.clear(), self.memory.clear()

    def line(self, reference: Measured, megabytes: float) -> str:
        """A row of the table: medians, and the median of the ratios of each round."""
        wall, processor = statistics.median(self.wall), statistics.median(self.processor)
        by_wall = statistics.median(a / b for a, b in zip(self.wall, reference.wall, strict=True))
        by_processor = statistics.median(a / b for a, b in zip(self.processor, reference.processor, strict=True))
        rate = f"{megabytes / processor:,.1f}" if megabytes else ""
        spread = f"{wall:.2f} ({min(self.wall):.2f}–{max(self.wall):.2f})"
        ratios = f"{by_wall:.2f} | {by_processor:.2f}"
        return f"| {self.name} | {spread} | {processor:.2f} | {rate} | {ratios} | {max(self.memory):.0f} |"


def written(place: Path, lines: list[str]) -> Path:
    """A file of patterns, one a line."""
    place.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return place


def reference(kind: str, corpus: Path, folder: Path) -> Measured:
    """What all is compared with."""
    rulebook = load_rulebook()
    if kind == "literals":
        words = written(folder / "rules.literals", [word for word in rulebook.telling_literals if "\n" not in word])
        command = ["rg", "-j1", "-c", "-i", "-F", "-f", str(words), str(corpus)]
        return Measured("rg -c -i -F, the rules' literals, one thread", command)
    regexes = written(folder / "rules.regex", line_expressions(rulebook.rules))
    limits = ["--dfa-size-limit", "1G", "--regex-size-limit", "1G"]
    command = ["rg", "-j1", "-c", "--no-unicode", *limits, "-f", str(regexes), str(corpus)]
    return Measured("rg -c, the rules' expressions, one thread", command)


def commands(kind: str, corpus: Path, folder: Path) -> list[Measured]:
    """What is compared, the reference first."""
    output = folder / "report"
    packed = folder / f"{corpus.name}.gz"
    with corpus.open("rb") as plain, gzip.open(packed, "wb", 6) as out:
        shutil.copyfileobj(plain, out, 1 << 20)

    def anew() -> None:
        shutil.rmtree(output, ignore_errors=True)

    def scan(workers: int, path: Path) -> list[str]:
        return [*PROGRAM, "scan", str(path), "--output", str(output), "--workers", str(workers), "--quiet"]

    alone = "import sys; sys.modules['ahocorasick_rs'] = None; from analyzer.cli import main; sys.exit(main())"
    without = [sys.executable, "-c", alone, *scan(1, corpus)[3:]]
    found = [
        reference(kind, corpus, folder),
        Measured("diagnose scan, 1 process", scan(1, corpus), anew),
        Measured("diagnose scan, 2 processes", scan(2, corpus), anew),
        Measured("diagnose scan, one .gz, 1 process", scan(1, packed), anew),
        Measured("diagnose scan again (nothing new)", scan(1, packed)),
        Measured("diagnose scan without the Aho-Corasick wheel", without, anew),
        Measured("diagnose --logs --format json", [*PROGRAM, "--logs", str(corpus), "--format", "json", "--quiet"]),
    ]
    if importlib.util.find_spec("duckdb"):
        query = f"select count(*) from read_json('{corpus}', format='newline_delimited') where severity = 'ERROR'"
        told = f"import duckdb; duckdb.sql('SET threads=1'); duckdb.sql({query!r}).fetchall()"
        found.append(Measured("DuckDB read_json, count of errors, one thread", [sys.executable, "-c", told]))
    told = "import pandas, sys; print(sum(len(f) for f in pandas.read_json(sys.argv[1], lines=True, chunksize=50_000)))"
    found.append(Measured("pandas read_json, in chunks", [sys.executable, "-c", told, str(corpus)]))
    if shutil.which("jq"):
        words = 'select(.severity == "ERROR")'
        found.append(Measured(f"jq -c {words}", ["jq", "-c", words, str(corpus)]))
    if shutil.which("lnav"):
        query = ";select count(*) from cloud_log where log_level = 'error'"
        command = ["lnav", "-n", "-I", lnav_format(folder), "-c", query, str(corpus)]
        found.append(Measured("lnav -n, count of errors", command))
    return found


def lnav_format(folder: Path) -> str:
    """A folder of settings in which lnav finds how log entries are to be read."""
    place = folder / "lnav" / "formats" / "cloud"
    place.mkdir(parents=True)
    line = [{"field": "__timestamp__"}, " ", {"field": "textPayload", "default-value": ""}]
    told = {"title": "Cloud Logging", "json": True, "timestamp-field": "timestamp", "level-field": "severity",
            "body-field": "textPayload", "hide-extra": True, "line-format": line}  # fmt: skip
    schema = "https://lnav.org/schemas/format-v1.schema.json"
    (place / "format.json").write_text(json.dumps({"$schema": schema, "cloud_log": told}))
    return str(folder / "lnav")


def start_up(corpus: Path, folder: Path) -> list[Measured]:
    """Starts, with `python -c pass` as their reference."""
    small = folder / "small.ndjson"
    with corpus.open("rb") as file:
        content = file.read(1 << 20)
    small.write_bytes(content[: content.rfind(b"\n") + 1])
    return [
        Measured("python -c pass", [sys.executable, "-c", "pass"]),
        Measured("diagnose --help", [*PROGRAM, "--help"]),
        Measured("diagnose --logs, 1 MB", [*PROGRAM, "--logs", str(small), "--quiet"]),
    ]


def table(measured: list[Measured], megabytes: float, rounds: int) -> str:
    """Runs all in turn and gives the table."""
    for one in measured:
        one.warm_up()
    for _ in range(rounds):
        for one in measured:
            one.run()
    names = ("what", "wall s (min–max)", "processor s", "MB a processor s", "× wall", "× processor", "peak MB")
    head = f"| {' | '.join(names)} |\n|{'---|' * len(names)}"
    return "\n".join([head, *(one.line(measured[0], megabytes) for one in measured)])


def main() -> None:
    """Prints both tables with the machine and its load."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--reference", choices=("expressions", "literals"), default="expressions")
    parser.add_argument("--rows", default="", help="measure only the names that this expression is found in")
    given = parser.parse_args()
    megabytes = given.corpus.stat().st_size / 1e6
    with tempfile.TemporaryDirectory(prefix="diagnose-benchmark-") as name:
        folder = Path(name)
        rg = subprocess.run(["rg", "--version"], capture_output=True, text=True, check=True).stdout.split("\n", 1)[0]
        machine = f"Python {platform.python_version()}, {rg}, {os.cpu_count()} processors"
        print(f"{machine}, load {os.getloadavg()[0]:.1f}, {megabytes:,.0f} MB\n")
        first, *others = commands(given.reference, given.corpus, folder)
        chosen = [first, *(one for one in others if re.search(given.rows, one.name))]
        print(table(chosen, megabytes, given.rounds), "\n")
        print(table(start_up(given.corpus, folder), 0, max(given.rounds, 11)))


if __name__ == "__main__":
    main()
