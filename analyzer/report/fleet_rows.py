"""What can be said of single rows of a fleet, and how rows are put together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from urllib.parse import quote, urlsplit

from analyzer.model.fleet import JobRow
from analyzer.report.fleet_axis import row_time
from analyzer.report.neutral import web_link


def lost_hours(row: JobRow) -> float:
    """The work that a job lost, in hours of all its replicas together."""
    return (row.lost_seconds or 0.0) / 3600 * max(row.replicas, 1)


def lost_gpu_hours(row: JobRow) -> float:
    """The work that a job lost, in hours of its accelerators; 0 where it has none."""
    return lost_hours(row) * row.gpu_hours / row.replica_hours if row.gpu_hours and row.replica_hours else 0.0


def total(values: Iterable[float | None]) -> float:
    """The sum of the values that are known."""
    return sum(value for value in values if value is not None)


def label_of(row: JobRow, key: str) -> str:
    """`key=value` of a user label; empty where the job has none."""
    return f"{key}={row.labels[key]}" if row.labels.get(key) else ""


def grouped(rows: Iterable[JobRow], key: Callable[[JobRow], str]) -> dict[str, list[JobRow]]:
    """The rows by a text of theirs, each group in the given order."""
    found: dict[str, list[JobRow]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


def by_size(groups: dict[str, list[JobRow]]) -> list[tuple[str, list[JobRow]]]:
    """The groups, the largest first."""
    return sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))


def by_number(names: Iterable[str]) -> list[str]:
    """The names once each, the most frequent first."""
    return [name for name, _ in sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))]


def failed_first_newest_first(row: JobRow) -> tuple[bool, int, str, str, str]:
    """The sorting key of the table: failed jobs first, then the newest."""
    return (row.outcome != "failed", -int(row_time(row) or 0), row.platform, row.project or "", row.id)


def report_link(address: str | None) -> str | None:
    """The address of a report if it is a plain relative path (then quoted) or an http(s) one, else None."""
    if not address:
        return None
    if _is_web(address):
        return web_link(address)
    if address.startswith(("/", "\\")) or ".." in address.split("/"):
        return None
    path, mark, anchor = address.partition("#")
    quoted = quote(path, safe="/", errors="replace")
    return quoted + (f"#{quote(anchor, safe='', errors='replace')}" if mark else "")


def _is_web(address: str) -> bool:
    try:
        return urlsplit(address).scheme in ("http", "https")
    except ValueError:
        return False
