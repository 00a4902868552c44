"""The page of a whole scan: what fails in a fleet, where, since when, and what it costs; one HTML file."""

from __future__ import annotations

from markupsafe import Markup
from msgspec.structs import replace

from analyzer.judge.retell import retold_notes
from analyzer.model.fleet import Fleet
from analyzer.report.fleet_table import listed_failures, table_json
from analyzer.report.fleet_view import FleetView
from analyzer.report.html import asset, page_environment, policy
from analyzer.report.language import language


def render_fleet(fleet: Fleet, lang: str = "en") -> str:
    """The fleet as one self-contained HTML page: charts, groups of like failures, and a table of all jobs.

    The table's rows are one block of JSON that the page's script draws in slices; without JavaScript the failed jobs
    stand in a plain table. Each row's `report` becomes a link if it is a relative path or an http(s) address.
    """
    words = language(lang)
    fleet = replace(fleet, notes=retold_notes(fleet.notes, words.code))
    view = FleetView(fleet, words)
    style, script = asset("page.css") + asset("fleet.css"), asset("fleet.js")
    data = table_json(view)
    return page_environment().get_template("fleet.html.j2").render(
        lang=words.code, say=words.say, count=words.count, words=words, fleet=fleet, view=view,
        listed=listed_failures(view), style=Markup(style), script=Markup(script), data=Markup(data),
        policy=policy([style], [script, data]),
    )  # fmt: skip
