"""Small exports for scans, out of the benchmarks' corpus: many jobs, two files and a late addendum."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

from analyzer.scanning import ScanResult, Settings, scan

ROOT = Path(__file__).parents[2]


def corpus_module() -> ModuleType:
    """The benchmarks' corpus generator."""
    name = "benchmark_corpus"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / "corpus.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def write_exports(folder: Path, jobs: int = 12, lines: int = 260, seed: int = 5, hours: int = 3) -> Path:
    """Exports of some jobs as a sink names them, cut by time."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = [line for line, _ in corpus_module().corpus(jobs, lines, seed)]
    size = -(-len(whole) // hours)
    for hour in range(hours):
        part = whole[hour * size : (hour + 1) * size]
        (folder / f"{hour:02d}:00:00_{hour:02d}:59:59_S0.json").write_bytes(b"".join(part))
    return folder


def run(paths: list[Path], output: Path, **options: object) -> ScanResult:
    """A scan in this process unless told otherwise."""
    return scan(paths, Settings(output=output, **options))  # type: ignore[arg-type]


def digest(output: Path) -> str:
    """A digest of everything that a scan says of jobs, whichever run saw them first."""
    rows = [json.loads(line) for line in (output / "jobs.jsonl").read_text().splitlines()]
    for row in rows:
        del row["is_new"]
    pages = {page.name: hashlib.sha256(page.read_bytes()).hexdigest() for page in sorted((output / "jobs").glob("*"))}
    return hashlib.sha256(json.dumps([rows, pages], sort_keys=True).encode()).hexdigest()
