"""The table of a fleet report: all rows as one block of JSON for the page's script, the failed ones as plain rows."""

from __future__ import annotations

import json
from typing import Any

from analyzer.model.diagnosis import CATEGORIES, OUTCOMES
from analyzer.model.fleet import JobRow
from analyzer.model.instant import SECOND
from analyzer.report.fleet_axis import row_time
from analyzer.report.fleet_rows import lost_hours, report_link
from analyzer.report.fleet_view import FleetView
from analyzer.report.language import CATEGORY_NAMES, OUTCOME_NAMES, PLATFORM_NAMES
from analyzer.report.neutral import shown_line

MOST_PLAIN_ROWS = 500
_TEXT = 220

# Columns whose values repeat: a row holds the number of the value in the column's list.
LISTED = (
    "outcome", "category", "cause", "platform", "project", "region", "machine_type", "accelerator", "image", "labels",
    "summary",
)  # fmt: skip
COLUMNS = (
    "id", "name", *LISTED, "group", "ended", "restarts", "preemptions", "attempts", "lost", "exit_code", "replica",
    "report",
)  # fmt: skip


class _List:
    """The values of a column in the order of first sight."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, value: str) -> int:
        return self.numbers.setdefault(value, len(self.numbers))


def table_json(view: FleetView) -> str:
    """All rows as JSON text that may stand in a script element: no `<`, `>` or `&` in it, every text harmless."""
    lists = {name: _List() for name in LISTED}
    rows = [_values(row, view, lists) for row in view.rows]
    say = view.words.say
    data: dict[str, Any] = {
        "columns": COLUMNS,
        "lists": {name: list(values.numbers) for name, values in lists.items()},
        "names": {
            "outcome": {name: say(OUTCOME_NAMES[name]) for name in OUTCOMES},
            "category": {name: say(CATEGORY_NAMES[name]) for name in CATEGORIES},
            "platform": {name: say(told) for name, told in PLATFORM_NAMES.items()},
        },
        "rows": rows,
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _values(row: JobRow, view: FleetView, lists: dict[str, _List]) -> list[Any]:
    labels = " ".join(f"{key}={value}" for key, value in sorted(row.labels.items()))
    listed = {
        "outcome": row.outcome, "category": row.category, "cause": f"{row.category}.{row.cause}",
        "platform": row.platform, "project": row.project, "region": row.region, "machine_type": row.machine_type,
        "accelerator": row.accelerator, "image": row.image, "labels": labels, "summary": row.summary,
    }  # fmt: skip
    time = row_time(row)
    return [
        shown_line(row.id, 120),
        shown_line(row.display_name or "", 120),
        *(lists[name].number(shown_line(value or "", _TEXT)) for name, value in listed.items()),
        view.group_numbers.get(row.fingerprint or "", 0) if row.outcome == "failed" else 0,
        None if time is None else int(time) // SECOND,
        row.restarts_total, row.preemptions, row.attempts, round(lost_hours(row), 2), row.exit_code,
        shown_line(row.replica or "", 80), report_link(row.report) or "",
    ]  # fmt: skip


def listed_failures(view: FleetView) -> list[tuple[JobRow, str, str, str | None]]:
    """The failed jobs for the plain table, at most 500: row, its category in words, its time, the report's address."""
    say = view.words.say
    return [
        (
            row,
            say(CATEGORY_NAMES.get(row.category, row.category)),
            view.words.moment(row_time(row)),
            report_link(row.report),
        )
        for row in view.failed[:MOST_PLAIN_ROWS]
    ]
