"""SARIF and JUnit XML are valid in the eyes of others: the standard's own schema, another project's reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hostile import PAYLOADS, hostile_report
from samples import ALL, report

from analyzer.report import render

_SCHEMA = Path(__file__).parents[2] / "fixtures" / "schemas" / "sarif-2.1.0-rtm.5.json"


@pytest.fixture(scope="module")
def sarif() -> Any:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed: SARIF goes unchecked")
    return jsonschema.Draft4Validator(json.loads(_SCHEMA.read_text(encoding="utf-8")))


def test_sarif_fits_the_schema_of_its_standard(sarif: Any) -> None:
    """Every kind of diagnosis, alone and together."""
    jobs = [make() for make in ALL.values()]
    for shown in ([], jobs, *([job] for job in jobs)):
        found = json.loads(render(report(*shown), "sarif"))
        assert [error.message for error in sarif.iter_errors(found)] == []


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_text_leaves_sarif_valid(sarif: Any, payload: str) -> None:
    """Whatever a log holds."""
    for make in ALL.values():
        found = json.loads(render(hostile_report(make(), PAYLOADS[payload]), "sarif"))
        assert [error.message for error in sarif.iter_errors(found)] == []


@pytest.mark.parametrize("payload", ["harmless", *PAYLOADS])
def test_junit_is_read_by_another_program(payload: str, tmp_path: Path) -> None:
    """A case a job; failed ones are failures with the full name of the cause."""
    junitparser = pytest.importorskip("junitparser", reason="junitparser is not installed: JUnit XML goes unchecked")
    file = tmp_path / "junit.xml"
    diagnoses = [make() for make in ALL.values()]
    text = PAYLOADS.get(payload)
    for diagnosis in diagnoses:
        shown = report(diagnosis) if text is None else hostile_report(diagnosis, text)
        file.write_text(render(shown, "junit"), encoding="utf-8")
        cases = [case for suite in junitparser.JUnitXml.fromfile(str(file)) for case in suite]
        assert len(cases) == 1
        failed = [result for result in cases[0].result if isinstance(result, junitparser.Failure)]
        assert len(failed) == (diagnosis.outcome == "failed")
