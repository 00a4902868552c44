"""The fleet report: counts that add up, a page that is safe, light and complete, in both languages."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from fleet_samples import hostile_fleet, simulated_fleet
from hostile import PAYLOADS
from msgspec.structs import replace

from analyzer.model import Fleet, Instant, JobRow, Note
from analyzer.report.fleet import render_fleet
from analyzer.report.fleet_axis import axis_of
from analyzer.report.fleet_rows import lost_gpu_hours, lost_hours, report_link
from analyzer.report.fleet_view import FleetView
from analyzer.report.language import language


def _view(fleet: Fleet) -> FleetView:
    return FleetView(fleet, language("en"))


def _data(html: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_categories_causes_and_groups_count_every_failed_job_once() -> None:
    """No failure is lost between the parts of the page."""
    view = _view(simulated_fleet(800))
    assert sum(row.whole.jobs for row in view.categories) == len(view.failed)
    assert all(sum(cause.jobs for cause in row.causes) == row.whole.jobs for row in view.categories)
    assert sum(group.jobs for group in view.groups) == len(view.failed)
    assert sum(sum(numbers) for _, numbers in view.time_table) == 800


def test_the_page_does_not_depend_on_the_order_of_rows() -> None:
    """A scan may hand over its jobs in any order."""
    fleet = simulated_fleet(200)
    assert render_fleet(replace(fleet, rows=fleet.rows[::-1])) == render_fleet(fleet)


def test_new_is_what_an_earlier_scan_had_not_seen() -> None:
    """Without an earlier scan nothing is called new."""
    fleet = simulated_fleet(300)
    prints = sorted({row.fingerprint for row in fleet.rows if row.fingerprint})
    view = _view(replace(fleet, known=prints[1:]))
    assert [group.first_row.fingerprint for group in view.groups if group.is_new] == prints[:1]
    assert view.new_groups == 1
    assert not any(group.is_new for group in _view(replace(fleet, known=None)).groups)


def test_lost_work_counts_all_replicas_and_their_accelerators() -> None:
    """An hour of a job of four replicas with two accelerators each is four and eight hours."""
    row = JobRow(id="j", platform="vertex", replicas=4, lost_seconds=3600, replica_hours=40.0, gpu_hours=80.0)
    assert (lost_hours(row), lost_gpu_hours(row)) == (4.0, 8.0)


@pytest.mark.parametrize("days", [0.01, 1, 30, 400, 4000])
def test_bars_are_of_round_lengths_and_not_too_many(days: float) -> None:
    """From minutes to years."""
    axis = axis_of(simulated_fleet(50, days).rows)
    assert axis is not None
    assert 1 <= axis.number <= 56
    assert axis.size % 60 == 0


@pytest.mark.parametrize("lang", ["en", "de"])
def test_the_data_holds_every_row(lang: str) -> None:
    """All rows, failed ones first, with values told by their number in a list."""
    data = _data(render_fleet(simulated_fleet(150), lang))
    outcome = data["columns"].index("outcome")
    told = [data["lists"]["outcome"][row[outcome]] for row in data["rows"]]
    assert len(told) == 150
    assert told == sorted(told, key=lambda name: name != "failed")


def test_without_javascript_the_failed_jobs_are_a_table() -> None:
    """Each with the link to its report."""
    fleet = simulated_fleet(60)
    html = render_fleet(fleet)
    plain = re.search(r"<noscript>(.*?)</noscript>", html, re.DOTALL)
    assert plain is not None
    failed = [row for row in fleet.rows if row.outcome == "failed"]
    assert plain[1].count("<tr>") == len(failed) + 1
    assert all(f'href="{row.report}"' in plain[1] for row in failed)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_of_a_row_becomes_markup(payload: str) -> None:
    """Hostile text gives the same tags as harmless text, and its block of data cannot be left."""
    hostile = render_fleet(hostile_fleet(PAYLOADS[payload]))
    harmless = render_fleet(hostile_fleet(re.sub(r"\S", "w", PAYLOADS[payload])))
    assert re.findall(r"<[a-z!/][a-z0-9]*", hostile) == re.findall(r"<[a-z!/][a-z0-9]*", harmless)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]", hostile)
    block = re.findall(r'id="data">(.*?)</script>', hostile, re.DOTALL)[0]
    assert not set("<>&") & set(block)


@pytest.mark.parametrize(("address", "link"), [
    ("jobs/a b:1.html", "jobs/a%20b%3A1.html"), ("javascript:alert(1)", "javascript%3Aalert%281%29"),
    ("../up.html", None), ("/etc/passwd", None), ("//evil.example/x", None), ("https://h.example/a", "https://h.example/a"),
    ("", None), (None, None), ("a.html#j1-job", "a.html#j1-job"),
])  # fmt: skip
def test_reports_are_linked_by_harmless_addresses_only(address: str | None, link: str | None) -> None:
    """A job's name cannot smuggle another scheme or place into a link."""
    assert report_link(address) == link


def test_an_empty_fleet_and_rows_without_times_are_shown() -> None:
    """Nothing found is a report too."""
    assert "0 jobs" in render_fleet(Fleet())
    assert "1 job, 1 failed" in render_fleet(Fleet(rows=[JobRow(id="j", platform="local", outcome="failed")]))


def test_ten_thousand_jobs_weigh_less_than_two_megabytes() -> None:
    """Values that repeat are written once."""
    assert len(render_fleet(simulated_fleet(10_000)).encode()) < 2_000_000


def test_notes_are_told_in_the_language_of_the_page() -> None:
    """The steps that make notes speak English."""
    note = Note("duplicate", "entries with the same insertId and time were counted once", count=3)
    assert "wurden einmal gezählt" in render_fleet(Fleet(notes=[note]), "de")


def test_a_bar_begins_where_its_label_says() -> None:
    """Bars of weeks begin on Mondays."""
    first = Instant.parse("2026-03-04T10:00:00Z")
    assert first is not None
    rows = [JobRow(id=str(n), platform="local", ended=first.plus(n * 86_400)) for n in range(0, 300, 10)]
    axis = axis_of(rows)
    assert axis is not None
    assert (axis.size, axis.told(0)) == (7 * 86_400, "2026-03-02")
