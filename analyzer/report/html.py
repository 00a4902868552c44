"""The page a person reads: one self-contained HTML file that opens offline and loads nothing.

Log text is hostile. Three walls hold it: every value that a template prints is made harmless (`neutral.shown`), then
escaped (autoescape), and the page's content security policy allows only the style and script whose hashes it names.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import lru_cache
from html import escape

import jinja2
from markupsafe import Markup

from analyzer.model.diagnosis import Report
from analyzer.model.order import in_order
from analyzer.report.job_view import JobView
from analyzer.report.language import language
from analyzer.report.neutral import clipped, shown, shown_line, web_link
from analyzer.report.proof import source_of, steps_of
from analyzer.resources import data_folder

_FRAME = (
    '<iframe sandbox="allow-scripts allow-popups" srcdoc="{page}" width="100%" height="720" '
    'title="{title}" referrerpolicy="no-referrer"></iframe>'
)


def render_html(report: Report, lang: str = "en") -> str:
    """The report as one HTML page: one job in full, or an index and a section a job, failed ones first."""
    words = language(lang)
    diagnoses = in_order(report.diagnoses)
    style, script = asset("page.css") + asset("job.css"), asset("job.js")
    jobs = [
        JobView(diagnosis, words, f"j{number}-", alone=len(diagnoses) == 1)
        for number, diagnosis in enumerate(diagnoses, 1)
    ]
    return page_environment().get_template("page.html.j2").render(
        lang=words.code, say=words.say, count=words.count, words=words, report=report, jobs=jobs,
        failed=sum(diagnosis.outcome == "failed" for diagnosis in diagnoses),
        style=Markup(style), script=Markup(script), policy=policy([style], [script]),
    )  # fmt: skip


def notebook_frame(html: str, title: str = "diagnose") -> str:
    """The page in a sandboxed frame, so that its style and policy do not meet those of a notebook."""
    return _FRAME.format(page=escape(html, quote=True), title=escape(title, quote=True))


def policy(styles: Sequence[str], scripts: Sequence[str]) -> str:
    """A content security policy under which only these styles and scripts count, and nothing is loaded."""
    allowed = [" ".join(f"'{_digest(text)}'" for text in texts) for texts in (styles, scripts)]
    return f"default-src 'none'; style-src {allowed[0]}; script-src {allowed[1]}; base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@lru_cache(maxsize=8)
def asset(name: str) -> str:
    """The text of a style sheet or script of the pages."""
    return (data_folder("reports") / name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def page_environment() -> jinja2.Environment:
    """The templates' environment: everything that is printed is made harmless and escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(data_folder("reports")), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined, finalize=_harmless, auto_reload=False,
    )  # fmt: skip
    environment.filters.update(line=shown_line, clip=_clip, link=web_link, steps=steps_of, place=source_of)
    return environment


def _harmless(value: object) -> object:
    return shown(value) if type(value) is str else value


def _clip(text: str, lines: int = 60, characters: int = 8000) -> str:
    return clipped(shown(text), lines=lines, characters=characters)[0]
