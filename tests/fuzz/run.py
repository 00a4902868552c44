"""Fuzzes a target with coverage as its guide: `python tests/fuzz/run.py TARGET CORPUS SECONDS`, where atheris is installed.

Prints executions and coverage as libFuzzer does; an input that breaks a promise is written as `crash-…` into CORPUS's
parent. What is worth keeping goes into `fixtures/fuzz/TARGET`, which the suite replays.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["analyzer"]):
    from targets import attempt


def main() -> None:
    """Runs libFuzzer over one target."""
    name, corpus, seconds = sys.argv[1:4]
    Path(corpus).mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        "-max_len=20000",
        "-rss_limit_mb=2048",
        "-timeout=60",
        "-print_final_stats=1",
    ]
    prefix = f"-artifact_prefix={Path(corpus).parent}/{name}-"
    seeds = [str(path) for path in sorted((Path(__file__).parents[2] / "fixtures" / "fuzz").glob(name))]
    atheris.Setup([sys.argv[0], *options, prefix, corpus, *seeds], lambda data: attempt(name, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
