"""A packet for support: one zip with the report, the evidence, the timeline and the versions."""

from __future__ import annotations

import csv
import io
import platform
import zipfile
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version

from analyzer.model import Diagnosis, Evidence, Report
from analyzer.report import render
from analyzer.report.chart import run_rows
from analyzer.report.neutral import shown, shown_line

_PACKAGES = ("msgspec", "google-re2", "ahocorasick_rs", "pyyaml", "jinja2", "rich", "typer", "pandas")
_SOMETIME = (2026, 1, 1, 0, 0, 0)  # equal reports give equal packets
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def packet(report: Report, lang: str, redact: str) -> bytes:
    """The zip file: equal reports give equal bytes. The report must have been masked before."""
    files = {
        "README.txt": _readme(report, redact),
        "report.html": render(report, "html", lang=lang),
        "report.json": render(report, "json"),
        "report.md": render(report, "markdown", lang=lang),
        "evidence.txt": "\n\n".join(_evidence(diagnosis) for diagnosis in report.diagnoses) + "\n",
        "timeline.csv": _timeline(report.diagnoses),
        "versions.txt": "\n".join(_versions(report)) + "\n",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name, _SOMETIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text.encode("utf-8", "replace"))
    return buffer.getvalue()


def _readme(report: Report, redact: str) -> str:
    names = "Secrets, e-mail and IP addresses, project and bucket names are masked."
    secrets = "Secrets are masked; addresses and names of projects and buckets are not."
    jobs = "\n".join(f"  {shown_line(item.job.id, 120)}: {shown_line(item.summary, 300)}" for item in report.diagnoses)
    return (
        f"A diagnosis for support, made by {shown_line(f'{report.tool.name} {report.tool.version}', 120)}."
        f"\n\n{jobs}\n\n"
        "report.html   the whole report, opens in any browser, loads nothing\n"
        "report.json   the same for programs; `diagnose report report.json` renders it again\n"
        "report.md     the same for an issue\n"
        "evidence.txt  the lines that it rests on, and those around the proof\n"
        "timeline.csv  every run of every replica\n"
        f"versions.txt  what made it\n\n{names if redact == 'strict' else secrets} "
        "Read it before you send it: a log may hold what no program knows to be private.\n"
    )


def _evidence(diagnosis: Diagnosis) -> str:
    root, around = diagnosis.root_cause, diagnosis.context
    parts = [f"# {shown_line(diagnosis.job.id, 120)}: {shown_line(diagnosis.summary, 600)}"]
    parts += [_told("proof", item) for item in (root.evidence if root is not None else [])]
    parts += [_told(f"follows: {item.rule}", item.evidence) for item in diagnosis.symptoms]
    parts += [_told("before", item) for item in around.before] + [_told("after", item) for item in around.after]
    return "\n\n".join(parts)


def _told(role: str, item: Evidence) -> str:
    place = f"{item.source}:{item.line}" if item.source and item.line else item.source or ""
    head = " · ".join(part for part in (role, str(item.time or ""), item.replica or "", place) if part)
    return f"--- {shown_line(head, 300)}\n{shown(item.text)}"


def _timeline(diagnoses: Iterable[Diagnosis]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(
        ("job", "attempt", "replica", "start", "end", "exit_code", "signal", "reason", "node", "doomed", "deduced")
    )
    for diagnosis in diagnoses:
        for row in run_rows(diagnosis.timeline):
            run = row.run
            writer.writerow(_cells((
                diagnosis.job.id, row.attempt, row.replica, run.start, run.end, run.exit_code, run.signal, run.reason,
                run.node, run.doomed, " ".join(run.deduced),
            )))  # fmt: skip
    return buffer.getvalue()


def _cells(values: Sequence[object]) -> list[str]:
    """Values as cells that no spreadsheet takes for a formula; numbers stay numbers."""
    cells = ["" if value is None else shown_line(str(value), 300) for value in values]
    return [f"'{cell}" if cell.startswith(_FORMULA) and not cell.lstrip("-").isdecimal() else cell for cell in cells]


def _versions(report: Report) -> list[str]:
    lines = [
        f"{report.tool.name} {report.tool.version}", f"rulebook {report.tool.rulebook_version}",
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}",
    ]  # fmt: skip
    for package in _PACKAGES:
        try:
            lines.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            lines.append(f"{package} is not installed")
    return [shown_line(line, 120) for line in lines]
