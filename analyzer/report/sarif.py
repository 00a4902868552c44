"""SARIF 2.1.0, for code-scanning views: a result a job, the evidence as its locations."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any
from urllib.parse import quote

from analyzer.model.diagnosis import Diagnosis, Evidence, Report
from analyzer.model.order import in_order
from analyzer.report.language import CATEGORY_NAMES
from analyzer.report.neutral import escaped_json, shown, shown_line, web_link, without_lone_surrogates
from analyzer.report.proof import proof_of

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_HOME = "https://example.invalid/training-job-analyzer"
_LEVELS = {"failed": ("error", "fail"), "cancelled": ("warning", "fail"), "unknown": ("warning", "fail")}
_LINK_SIGNS = re.compile(r"([\\\[\]])")


def render_sarif(report: Report) -> str:
    """The report as SARIF. Jobs that did not fail are results of the kind `pass`."""
    diagnoses = in_order(report.diagnoses)
    rules: dict[str, dict[str, Any]] = {}
    for diagnosis in diagnoses:
        rules.setdefault(_rule_id(diagnosis), _rule(diagnosis))
    order = {name: number for number, name in enumerate(rules)}
    driver = {
        "name": report.tool.name, "version": report.tool.version or "0", "informationUri": _HOME,
        "rules": list(rules.values()),
    }  # fmt: skip
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(diagnosis, order[_rule_id(diagnosis)]) for diagnosis in diagnoses],
    }
    if len(diagnoses) == 1:
        job = diagnoses[0].job
        run["automationDetails"] = {"id": shown_line(f"{job.platform}/{job.project or ''}/{job.id}/", 200)}
    whole = without_lone_surrogates({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})
    return escaped_json(json.dumps(whole, ensure_ascii=False, indent=2)) + "\n"


def _rule_id(diagnosis: Diagnosis) -> str:
    return f"{diagnosis.category}.{diagnosis.cause}" if diagnosis.cause else diagnosis.category


def _rule(diagnosis: Diagnosis) -> dict[str, Any]:
    text = CATEGORY_NAMES.get(diagnosis.category, diagnosis.category)
    rule: dict[str, Any] = {"id": _rule_id(diagnosis), "shortDescription": {"text": f"{text} ({_rule_id(diagnosis)})"}}
    if diagnosis.remediation:
        rule["help"] = {"text": _message(diagnosis.remediation[0].title)}
        address = next((link for link in map(web_link, diagnosis.remediation[0].sources) if link), None)
        if address:
            rule["helpUri"] = address
    return rule


def _result(diagnosis: Diagnosis, rule_index: int) -> dict[str, Any]:
    level, kind = _LEVELS.get(diagnosis.outcome, ("none", "pass"))
    root = diagnosis.root_cause
    evidence = root.evidence if root is not None else []
    result: dict[str, Any] = {
        "ruleId": _rule_id(diagnosis), "ruleIndex": rule_index, "level": level, "kind": kind,
        "message": {"text": _message(diagnosis.summary)},
        "partialFingerprints": {"diagnosis/v1": _fingerprint(diagnosis)},
        "properties": {
            "jobId": diagnosis.job.id, "platform": diagnosis.job.platform, "project": diagnosis.job.project,
            "confidence": diagnosis.confidence, "retry": diagnosis.retry.advice,
        },
    }  # fmt: skip
    places = [_location(item, root.replica if root is not None else None) for item in evidence]
    if places:
        result["locations"] = places[:1]
    if places[1:]:
        result["relatedLocations"] = [{**place, "id": number} for number, place in enumerate(places[1:], 1)]
    if not places:
        result["locations"] = [{"logicalLocations": [{"name": shown_line(diagnosis.job.id, 200), "kind": "resource"}]}]
    return result


def _location(evidence: Evidence, replica: str | None) -> dict[str, Any]:
    place: dict[str, Any] = {}
    if evidence.source:
        physical: dict[str, Any] = {"artifactLocation": {"uri": file_uri(evidence.source)}}
        if evidence.line:
            physical["region"] = {"startLine": evidence.line, "snippet": {"text": evidence.text}}
        place["physicalLocation"] = physical
    else:
        place["message"] = {"text": _message(evidence.text)}
    if name := evidence.replica or replica:
        place["logicalLocations"] = [{"name": shown_line(name, 200), "kind": "resource"}]
    return place


def _fingerprint(diagnosis: Diagnosis) -> str:
    """The same failure of the same job keeps its fingerprint over runs of the program."""
    root, proof = diagnosis.root_cause, proof_of(diagnosis)
    parts = [
        diagnosis.job.platform, diagnosis.job.project or "", diagnosis.job.id, _rule_id(diagnosis),
        (root.replica or "") if root is not None else "", proof.line if proof is not None else "",
    ]  # fmt: skip
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def _message(text: str) -> str:
    """Plain text in which SARIF sees no embedded link."""
    return _LINK_SIGNS.sub(r"\\\1", shown(text)) or "–"


def file_uri(source: str) -> str:
    """A file's name or address as a URI; names with colons or blanks stay one relative path."""
    scheme, separator, rest = source.partition("://")
    if separator and scheme in ("gs", "http", "https", "file"):
        return f"{scheme}://{quote(rest, safe='/', errors='replace')}"
    path = quote(source.replace("\\", "/"), safe="/", errors="replace")
    return f"file://{path}" if path.startswith("/") else path
