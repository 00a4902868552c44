"""How often the diagnosis of a casebook's cases is right: by column, by half, by how sure it said it was.

    python benchmarks/accuracy.py fixtures/casebook            # the shares, and the table of confusions
    python benchmarks/accuracy.py fixtures/casebook --misses   # each case with a miss

A case is a folder with `case.json` (the right answer) and its `input*` files. Columns: the category (or one that it
accepts beside it); `root`: the proving line stands in the evidence; `headline`: it stands in the first one; exit code,
replica and restarts where the case names them. The halves are every other case in the order of names: rules are
developed on one while the other only measures, so the difference tells what was learnt by heart.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from analyzer.entries import Options
from analyzer.model import Diagnosis
from analyzer.pipeline import diagnose_paths
from analyzer.rulebook.cache import load_rulebook

COLUMNS = ("category", "root", "headline", "exit_code", "replica", "restarts")
BANDS = ((0.9, "0.9 and more"), (0.7, "0.7 to 0.9"), (0.0, "below 0.7"))

Row = dict[str, Any]


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("casebook", type=Path)
    parser.add_argument("--misses", action="store_true", help="name each case with a miss")
    options = parser.parse_args()
    rows = [measured(path.parent) for path in sorted(options.casebook.glob("*/case.json"))]
    if not rows:
        parser.error(f"{options.casebook} holds no case")
    if options.misses:
        for row in rows:
            wrong = [name for name in COLUMNS if row[name] is False]
            if wrong:
                print(f"{row['id']}: wanted {row['wanted']}, said {row['said']} ({', '.join(wrong)})")
    for name, some in (("all", rows), ("odd half", rows[0::2]), ("even half", rows[1::2])):
        print(f"{name:10} {len(some):4} cases  " + "  ".join(f"{column} {_share(some, column)}" for column in COLUMNS))
    print("\nsaid to be sure       cases  category right")
    for band, some in _by_band(rows):
        print(f"{band:20} {len(some):6}  {_share(some, 'category')}")
    print("\nwanted -> said: cases")
    wrong_pairs = Counter((row["wanted"], row["said"]) for row in rows if not row["category"])
    for (wanted, said), count in sorted(wrong_pairs.items(), key=lambda item: (-item[1], item[0])):
        print(f"{wanted} -> {said}: {count}")
    slowest = max(rows, key=lambda row: float(row["seconds"]))
    print(f"\nslowest: {slowest['id']}, {slowest['seconds']:.2f} s for {slowest['bytes'] / 1e6:.2f} MB")


def measured(case: Path) -> Row:
    """One case's answer beside the right one; None in a column that the case does not name."""
    truth = json.loads((case / "case.json").read_text(encoding="utf-8"))
    inputs = sorted(case.glob("input*"))
    begun = time.perf_counter()
    report = diagnose_paths([str(path) for path in inputs], load_rulebook(), Options())
    seconds = time.perf_counter() - begun
    said = report.diagnoses[0] if report.diagnoses else None
    row: Row = {"id": case.name, "wanted": truth["category"], "said": said.category if said else "nothing",
                "confidence": said.confidence if said else 0.0, "seconds": seconds,
                "bytes": sum(path.stat().st_size for path in inputs)}  # fmt: skip
    return row | (judged(truth, said) if said else dict.fromkeys(COLUMNS, False))


def judged(truth: Row, said: Diagnosis) -> Row:
    """The columns of one case."""
    right = said.category in truth.get("category_accepted", [truth["category"]])
    root = said.root_cause
    if truth["category"] == "success":
        return {"category": right, "root": right and root is None, "headline": right and root is None} | dict.fromkeys(
            COLUMNS[3:]
        )
    texts = [_folded(item.text) for item in root.evidence] if root else []
    wanted = [_folded(text) for text in (truth["evidence"], *truth.get("evidence_accepted", ()))]
    loud = [_folded(text) for text in truth.get("not_root", ())]
    first = texts[0] if texts else ""
    bare = first
    for line in wanted:
        bare = bare.replace(line, "")
    replica = _same_replica(root.replica if root else None, root.rank if root else None, truth.get("replica"))
    return {
        "category": right,
        "root": any(line in text for text in texts for line in wanted),
        "headline": bare != first and not any(text in bare for text in loud),
        "exit_code": _named(truth.get("exit_code"), root.exit_code if root else None),
        "replica": replica,
        "restarts": _named(truth.get("restarts"), said.timeline.restarts_total),
    }


def _named(wanted: int | None, said: int | None) -> bool | None:
    return None if wanted is None else wanted == said


def _same_replica(said: str | None, rank: int | None, wanted: str | None) -> bool | None:
    if wanted is None:
        return None
    fold = re.compile(r"replica|[^a-z0-9]")
    names = [fold.sub("", name.lower()) for name in (said, None if rank is None else f"rank{rank}") if name]
    return any(name.endswith(fold.sub("", wanted.lower())) for name in names)


def _folded(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)).strip()


def _share(rows: Sequence[Row], column: str) -> str:
    counted = [row[column] for row in rows if row[column] is not None]
    return f"{sum(counted) / len(counted):.3f}" if counted else "-"


def _by_band(rows: Sequence[Row]) -> Iterable[tuple[str, list[Row]]]:
    above = 2.0
    for least, name in BANDS:
        yield name, [row for row in rows if least <= float(row["confidence"]) < above]
        above = least


if __name__ == "__main__":
    main()
