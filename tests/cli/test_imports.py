"""A start imports what it uses and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "fixtures" / "demo" / "vertex-restart-then-failed.json"
HEAVY = ("pandas", "numpy", "pyspark", "google.cloud", "grpc", "jinja2")


@pytest.mark.parametrize("arguments", [["--help"], ["--logs", str(DEMO)], ["--logs", str(DEMO), "--format", "json"]])
def test_no_heavy_import(arguments: list[str]) -> None:
    """`--help` and a small diagnosis as text or JSON load neither pandas nor a cloud client nor Spark nor templates."""
    program = (
        "import sys; from analyzer.cli import main; sys.argv = ['diagnose', *sys.argv[1:]]; main();"
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr.strip().splitlines()[-1] == "[]"
