"""Writers of a report, one file a form. Nothing here judges; nothing here opens a file or a network."""

from __future__ import annotations

from msgspec.structs import replace

from analyzer.errors import UsageError
from analyzer.model.diagnosis import Report

FORMATS = ("text", "json", "html", "markdown", "sarif", "junit", "github")
ALL_FORMATS = (*FORMATS, "pdf")
"""The formats with those that are no text: `analyzer.report.pdf` makes them."""


def render(
    report: Report, format: str = "text", *, lang: str = "en", width: int | None = None, color: bool | None = None,
    explain: bool = False,
) -> str:  # fmt: skip
    """The report in one of `FORMATS`; the writer is imported only now. `width`, `color` and `explain` concern `text`.

    Raises:
        UsageError: if there is no such format.
    """
    if format == "json":
        from analyzer.report.json_report import render_json

        return render_json(report)
    if lang != "en" and report.notes:
        from analyzer.judge.retell import retold_notes

        report = replace(report, notes=retold_notes(report.notes, lang))
    if format == "text":
        from analyzer.report.terminal import render_text

        return render_text(report, width, color, lang=lang, explain=explain)
    if format == "html":
        from analyzer.report.html import render_html

        return render_html(report, lang=lang)
    return _render_for_tools(report, format, lang)


def _render_for_tools(report: Report, format: str, lang: str) -> str:
    if format == "markdown":
        from analyzer.report.markdown import render_markdown

        return render_markdown(report, lang=lang)
    if format == "sarif":
        from analyzer.report.sarif import render_sarif

        return render_sarif(report)
    if format == "junit":
        from analyzer.report.junit import render_junit

        return render_junit(report)
    if format == "github":
        from analyzer.report.github import render_github

        return render_github(report)
    raise UsageError(f"there is no report format {format!r}", advice=f"one of {', '.join(FORMATS)}")
