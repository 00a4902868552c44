"""JUnit XML, for CI systems: a test case a job; a job that did not succeed is a failure or is skipped."""

from __future__ import annotations

from xml.etree import ElementTree

from analyzer.model.diagnosis import Diagnosis, Report
from analyzer.model.order import in_order
from analyzer.report.neutral import clipped, shown, shown_line
from analyzer.report.proof import proof_of, steps_of


def render_junit(report: Report) -> str:
    """The report as one JUnit test suite. Cancelled and running jobs, and unknown outcomes, count as skipped."""
    diagnoses = in_order(report.diagnoses)
    failed = sum(diagnosis.outcome == "failed" for diagnosis in diagnoses)
    skipped = sum(diagnosis.outcome not in ("failed", "succeeded") for diagnosis in diagnoses)
    counts = {"tests": str(len(diagnoses)), "failures": str(failed), "errors": "0", "skipped": str(skipped)}
    name = shown_line(report.tool.name, 80)
    suites = ElementTree.Element("testsuites", {"name": name, **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": name, **counts})
    for diagnosis in diagnoses:
        _case(suite, diagnosis)
    ElementTree.indent(suites)
    body: str = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _case(suite: ElementTree.Element, diagnosis: Diagnosis) -> None:
    job = diagnosis.job
    case = ElementTree.SubElement(
        suite, "testcase",
        {
            "classname": shown_line(".".join(part for part in (job.platform, job.project) if part), 200),
            "name": shown_line(job.id, 200) or "–",
            "time": f"{_seconds(diagnosis):.3f}",
        },
    )  # fmt: skip
    kind = f"{diagnosis.category}.{diagnosis.cause}" if diagnosis.cause else diagnosis.category
    if diagnosis.outcome == "failed":
        attributes = {"type": shown_line(kind, 200), "message": shown_line(diagnosis.summary, 600)}
        ElementTree.SubElement(case, "failure", attributes).text = _body(diagnosis)
    elif diagnosis.outcome != "succeeded":
        ElementTree.SubElement(
            case, "skipped", {"message": shown_line(f"{diagnosis.outcome}: {diagnosis.summary}", 600)}
        )


def _body(diagnosis: Diagnosis) -> str:
    parts = []
    if (proof := proof_of(diagnosis)) is not None:
        parts.append(clipped(shown(proof.evidence.text), lines=60, characters=8000)[0])
    if diagnosis.remediation:
        remedy = diagnosis.remediation[0]
        parts.append("\n".join(shown_line(line, 600) for line in (remedy.title, *steps_of(remedy), *remedy.commands)))
    return "\n\n".join(parts)


def _seconds(diagnosis: Diagnosis) -> float:
    job = diagnosis.job
    began = job.started or job.created
    return max(job.ended.since(began), 0.0) if began is not None and job.ended is not None else 0.0
