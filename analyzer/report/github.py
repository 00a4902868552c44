"""GitHub workflow commands: an annotation a job, on one line each."""

from __future__ import annotations

from analyzer.model.diagnosis import Diagnosis, Report
from analyzer.model.order import in_order
from analyzer.report.neutral import shown_line
from analyzer.report.proof import proof_of

_LEVELS = {"failed": "error", "cancelled": "warning", "unknown": "warning"}


def render_github(report: Report) -> str:
    """The report as annotations. No log text can begin a command of its own: line ends and `%` are encoded."""
    return "".join(_annotation(diagnosis) + "\n" for diagnosis in in_order(report.diagnoses))


def _annotation(diagnosis: Diagnosis) -> str:
    proof = proof_of(diagnosis)
    properties = {}
    if proof is not None and proof.evidence.source and "://" not in proof.evidence.source:
        properties["file"] = proof.evidence.source
        if proof.evidence.line:
            properties["line"] = str(proof.evidence.line)
    kind = f"{diagnosis.category}.{diagnosis.cause}" if diagnosis.cause else diagnosis.category
    properties["title"] = f"{diagnosis.job.display_name or diagnosis.job.id}: {kind}"
    lines = [shown_line(diagnosis.summary, 600)]
    if proof is not None:
        lines.append(shown_line(proof.line, 600))
    if diagnosis.remediation:
        lines.append("→ " + shown_line(diagnosis.remediation[0].title, 300))
    head = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_LEVELS.get(diagnosis.outcome, 'notice')} {head}::{_data(chr(10).join(lines))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(shown_line(text, 300)).replace(":", "%3A").replace(",", "%2C")
