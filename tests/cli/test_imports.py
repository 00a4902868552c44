"""A start imports what it uses and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "fixtures" / "demo" / "vertex-restart-then-failed.json"
HEAVY = ("pandas", "numpy", "pyspark", "google.cloud", "grpc", "jinja2", "yaml", "tarfile", "pydantic")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """With a cache that a first start has filled: compiling rules needs YAML."""
    filled = {**os.environ, "DIAGNOSE_CACHE": str(tmp_path_factory.mktemp("cache"))}
    command = [sys.executable, "-m", "analyzer", "--logs", str(DEMO), "--quiet"]
    subprocess.run(command, env=filled, capture_output=True, check=True, timeout=120)
    return filled


@pytest.mark.parametrize("arguments", [["--help"], ["--logs", str(DEMO)], ["--logs", str(DEMO), "--format", "json"]])
def test_no_heavy_import(arguments: list[str], environment: dict[str, str]) -> None:
    """`--help` and a small diagnosis as text or JSON load neither pandas nor a cloud client nor Spark nor templates, nor what reads other forms."""
    program = (
        "import sys; from analyzer.cli import main; sys.argv = ['diagnose', *sys.argv[1:]]; main();"
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr.strip().splitlines()[-1] == "[]"
