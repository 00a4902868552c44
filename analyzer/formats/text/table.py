"""Tables with aligned columns, as kubectl and Slurm print them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_GAP = re.compile(r"\s{2,}")


class Table:
    """Knows the columns of a header line and cuts rows at them."""

    def __init__(self, header: str, names: Sequence[str]) -> None:
        """`names` are the header's names, left to right; each must stand in the header."""
        self.names = list(names)
        self._starts = []
        position = 0
        for name in names:
            position = header.index(name, position)
            self._starts.append(position)
            position += len(name)

    def row(self, line: str) -> dict[str, str] | None:
        """The cells of a row by column; None for a line that is no row of this table."""
        if not line.strip():
            return None
        parts = _GAP.split(line.strip(), maxsplit=len(self.names) - 1)
        if len(parts) == len(self.names):
            return dict(zip(self.names, (part.strip() for part in parts), strict=True))
        return self._by_place(line)

    def _by_place(self, line: str) -> dict[str, str] | None:
        cells = {}
        for index, (name, start) in enumerate(zip(self.names, self._starts, strict=True)):
            end = self._starts[index + 1] if index + 1 < len(self._starts) else len(line)
            if 0 < start < len(line) and line[start - 1] != " ":
                return None  # a cell crosses the column's edge: not aligned to this header
            cells[name] = line[start:end].strip()
        return cells if cells[self.names[0]] else None


def header_names(line: str, known: Sequence[str]) -> list[str]:
    """Those of the known column names that a header line has, in its order; longer names are found first."""
    found: list[tuple[int, str]] = []
    taken = [False] * len(line)
    for name in sorted(known, key=len, reverse=True):
        for match in re.finditer(rf"(?<!\S){re.escape(name)}(?!\S)", line):
            if not any(taken[match.start() : match.end()]):
                taken[match.start() : match.end()] = [True] * len(name)
                found.append((match.start(), name))
                break
    return [name for _, name in sorted(found)]


_UNIT_SECONDS = {"d": 86_400, "h": 3600, "m": 60, "s": 1, "y": 31_536_000}
_AGE = re.compile(r"(\d{1,9})([ydhms])")
_REPEATED = re.compile(r"\(x(\d{1,9}) over ([^)]*)\)")


def age_seconds(text: str) -> int | None:
    """The seconds of an age as kubectl prints it (`3m9s`, `2d`); None for anything else."""
    parts = _AGE.findall(text.split(" ", 1)[0])
    return sum(int(amount) * _UNIT_SECONDS[unit] for amount, unit in parts) if parts else None


def repetitions(age: str) -> tuple[int | None, int | None]:
    """Count and age of the first time out of `100s (x5 over 3m)`."""
    found = _REPEATED.search(age)
    return (int(found[1]), age_seconds(found[2])) if found else (None, None)
