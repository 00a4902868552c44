"""Fuzzes a target with coverage as its guide: `python tests/fuzz/run.py TARGET CORPUS SECONDS`, where atheris is installed.

Only the packages that a target is about are instrumented, since counting all branches makes an execution ten times as
slow. Prints executions and coverage as libFuzzer does; an input that breaks a promise is written as `TARGET-crash-…`
into CORPUS's parent. What is worth keeping goes into `fixtures/fuzz/TARGET`, which the suite replays.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import atheris

ABOUT = {
    "read": ["formats"],
    "diagnosed": ["judge", "entries", "facts"],
    "stitched": ["stitch", "entries"],
    "matched": ["rulebook.match", "rulebook.conditions", "rulebook.prefilter"],
    "timeline": ["timeline"],
    "written": ["report"],
    "archive": ["sources"],
    "rule": ["rulebook.load", "rulebook.schema"],
    "saved": ["report"],
    "masked": ["redact", "pseudonyms"],
}
LONGEST = {"rule": 2000, "saved": 6000, "archive": 6000, "written": 400, "timeline": 150}
"""Bytes of an input; short ones run often."""

ROOT = Path(__file__).parents[2]
FILES = [path.relative_to(ROOT) for path in sorted((ROOT / "analyzer").rglob("*.py")) if path.stem != "__main__"]
MODULES = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in FILES]
WATCHED = [name for name in MODULES if f"{name}.".startswith(tuple(f"analyzer.{part}." for part in ABOUT[sys.argv[1]]))]

# All of them now, since what is imported only when it is called would not be instrumented.
with atheris.instrument_imports(include=["analyzer"], exclude=[name for name in MODULES if name not in WATCHED]):
    for module in WATCHED:
        importlib.import_module(module)

from targets import attempt  # noqa: E402  it imports what is instrumented above


def main() -> None:
    """Runs libFuzzer over one target."""
    name, corpus, seconds = sys.argv[1:4]
    Path(corpus).mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST.get(name, 1500)}",
        "-len_control=0",
        "-rss_limit_mb=2048",
        "-timeout=60",
        "-print_final_stats=1",
    ]
    prefix = f"-artifact_prefix={Path(corpus).parent}/{name}-"
    seeds = [str(path) for path in sorted((ROOT / "fixtures" / "fuzz").glob(name))]
    atheris.Setup([sys.argv[0], *options, prefix, corpus, *seeds], lambda data: attempt(name, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
