"""Launcher prefixes: what torchrun, mpirun, Horovod, srun, Ray, kubectl, compose and pdsh write before each line.

Some are certain wherever they stand (`[rank3]:`, `[1,2]<stderr>:`, `(Worker pid=7)`). Others look like ordinary text
(`0: `, `node-5: `, `[0] `, a timestamp) and count only where the lines of one source agree on them: see `Labels`.
Sources: PyTorch elastic's `--tee` and rank prefix, OpenMPI and PRRTE `--tag-output`, Horovod's gloo runner, Slurm's
`srun --label`, MPICH `-prepend-rank`, Ray's log monitor, `kubectl logs --prefix` and `--timestamps`, Docker Compose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from analyzer.expressions import expression
from analyzer.model.numbers import number


class Prefixed(NamedTuple):
    """A line without its launcher prefix. `speaker` is who writes into the stream ("" where nobody is named)."""

    speaker: str
    rank: int | None
    text: str


_COLLECTOR_STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d):? "
_MPI_STAMP = r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}"
_SERVICES = r"(?:worker|master|chief|ps|evaluator|launcher|trainer|learner|replica|node|host|pod|gpu)"
_CERTAIN = expression(
    rf"(?:{_COLLECTOR_STAMP}|{_MPI_STAMP})?(?:"
    r"\[rank(?P<rank>\d{1,6})\]: ?"
    r"|\[(?:default|trainer|worker|actor|learner|train)_?(?P<role>\d{1,6})\]: ?"
    r"|\[prterun-[^\]\s]{1,120}[@,](?:\d+,)?(?P<prte>\d{1,6})\]<(?P<prte_channel>std\w+)>: ?"
    r"|\[\d+,(?:mpirank:)?(?P<mpi>\d{1,6})(?:,[\w.-]+)?\]<(?P<mpi_channel>std\w+)>:"
    r"|\[(?P<gloo>\d{1,6})\]<(?P<gloo_channel>std\w+)>:"
    r")"
    r"|\((?P<ray>(?:[^\n=]{1,120}? )?pid=\d+(?:, ip=[^)\n]{1,60})?(?:, [\w.]+=[^)\n]{1,60})?)\) ?"
    r"|\((?P<daemon>raylet|autoscaler|gcs_server|dashboard|log_monitor|scheduler)(?:(?:, ip=| )[^)\n]{1,60})?\) ?"
    r"|\[(?P<pod>pod/[^\]\s]+/[^\]\s]+)\] ?"
    rf"|(?P<service>{_SERVICES}[-_.]?\d{{1,6}}) *\|(?: |$)"
    r"|rank[-_ ]?(?P<bar>\d{1,6}) *\|(?: |$)"
)
_FIRST_OF_CERTAIN = frozenset("[(wmcpelrtnhg0123456789MTWFS")
_FIRST_OF_STAMP = frozenset("0123456789MTWFS")
_LONGEST_STAMP = 48
_MOST_PREFIXES = 4


def without_prefix(line: str) -> Prefixed | None:
    """The line without the certain prefixes it begins with; None if it has none."""
    first = line[:1]
    if first not in _FIRST_OF_CERTAIN or (first in _FIRST_OF_STAMP and "[" not in line[:_LONGEST_STAMP]):
        return None
    speakers: list[str] = []
    rank: int | None = None
    rest = line
    for _ in range(_MOST_PREFIXES):
        found = _CERTAIN.match(rest)
        if found is None:
            break
        named = {name: value for name, value in found.groupdict().items() if value is not None}
        for name, value in named.items():
            if name in ("rank", "role", "prte", "mpi", "gloo", "bar"):
                rank = int(value)
            else:
                speakers.append(value)
        rest = rest[found.end() :]
    return Prefixed("/".join(speakers), rank, rest) if rest is not line else None


_LABELS = {
    "stamp": expression(rf"(?P<label>{_COLLECTOR_STAMP})"),
    "task": expression(r" *(?P<label>\d{1,6}):(?: |$)"),
    "bracket": expression(r"\[(?P<label>\d{1,6})\](?: |$)"),
    "rank": expression(r"\[?[Rr]ank[ :=]{0,2}(?P<label>\d{1,6})\]?:(?: |$)"),
    "host": expression(r"(?P<label>[a-z][a-z0-9.-]{0,80}\d[a-z0-9.-]{0,80}):(?: |$)"),
    "service": expression(r"(?P<label>[a-z][\w.-]{0,80}[-_.]\d{1,6}) *\|(?: |$)"),
}
_FIRST_OF_LABELS = frozenset("0123456789 [Rabcdefghijklmnopqrstuvwxyz")
_NANOSECONDS = expression(r"\d\.\d{9}(?:Z|[+-])")
_NOT_HOSTS = expression(r"^(?:step|epoch|iter|batch|loss|layer|fold|trial)[-_.]?\d|^python\d|\.(?:py|cc|cu|cpp|h)$")
_LEAST_LINES = 3
_SHARE = 0.6


class Labels:
    """Which of the doubtful prefixes the lines of one source carry, learned from all its lines in order.

    A label counts where most lines from its first to its last occurrence carry it and each value stands on two lines
    or more on average, as it does where processes speak; a numbered list or a table of epochs does not look so.
    """

    def __init__(self) -> None:
        self._lines = 0
        self._seen: dict[str, Counter[str]] = {}
        self._first: dict[str, int] = {}
        self._last: dict[str, int] = {}
        self._continued = 0
        self._exact = 0

    def see(self, line: str) -> None:
        """Counts a line."""
        self._lines += 1
        first = line[:1]
        if first not in _FIRST_OF_LABELS:
            return
        if first.isdecimal():
            if line[4:5] != "-":
                self._count("task", line)
            elif line[10:11] == "T":
                self._stamp(line)
        elif first == " ":
            self._count("task", line)
        elif first == "[":
            self._count("bracket", line)
            self._count("rank", line)
        else:
            if first in "rR":
                self._count("rank", line)
            self._count("host", line)
            self._count("service", line)

    def _count(self, kind: str, line: str) -> None:
        found = _LABELS[kind].match(line)
        if found is None:
            return
        label = found["label"]
        if kind == "host" and _NOT_HOSTS.search(label):
            return
        self._seen.setdefault(kind, Counter())[label] += 1
        self._first.setdefault(kind, self._lines)
        self._last[kind] = self._lines

    def _stamp(self, line: str) -> None:
        found = _LABELS["stamp"].match(line)
        if found is None:
            return
        self._seen.setdefault("stamp", Counter())[""] += 1
        self._first.setdefault("stamp", self._lines)
        self._last["stamp"] = self._lines
        self._exact += _NANOSECONDS.search(found[0]) is not None
        self._continued += line[found.end() : found.end() + 1] in ("", " ", "\t")

    def patterns(self) -> tuple[re.Pattern[str], ...]:
        """The prefixes that count in this source, the outer first."""
        return tuple(_LABELS[kind] for kind in _LABELS if kind in self._seen and self._counts(kind))

    def _counts(self, kind: str) -> bool:
        seen = self._seen[kind]
        total = sum(seen.values())
        if total < _LEAST_LINES:
            return False
        if kind == "stamp":  # only what collects logs puts a stamp before lines that continue others
            return total >= 0.9 * self._lines and bool(self._continued or self._exact == total)
        return total >= 2 * len(seen) and total >= _SHARE * (self._last[kind] - self._first[kind] + 1)


def learn(lines: Iterable[str]) -> Labels:
    """The labels of a source, from its lines."""
    labels = Labels()
    for line in lines:
        labels.see(line)
    return labels


def without_label(line: str, patterns: Iterable[re.Pattern[str]]) -> Prefixed | None:
    """The line without the doubtful prefixes that its source is known to carry; None if it has none."""
    speakers: list[str] = []
    rank: int | None = None
    rest = line
    for pattern in patterns:
        found = pattern.match(rest)
        if found is None:
            continue
        rest = rest[found.end() :]
        label = found["label"]
        if (told := number(label)) is not None:
            rank = told
        elif pattern is not _LABELS["stamp"]:
            speakers.append(label)
    return Prefixed("/".join(speakers), rank, rest) if rest is not line else None
