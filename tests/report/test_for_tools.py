"""SARIF, JUnit and GitHub annotations hold what their readers expect."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from hostile import PAYLOADS, hostile_report
from samples import ALL, host_oom, report, stockout, unknown

from analyzer.errors import UsageError
from analyzer.report import FORMATS, render
from analyzer.report.sarif import file_uri


def test_sarif_has_a_result_a_job_with_its_evidence() -> None:
    """Level, rule, location by file and line, snippet, replica, and a fingerprint that stays."""
    run = json.loads(render(report(host_oom()), "sarif"))["runs"][0]
    result = run["results"][0]
    assert (result["level"], result["kind"], result["ruleId"]) == ("error", "fail", "out_of_memory.host")
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "out_of_memory.host"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "exports/ml_job.json"
    assert place["region"]["startLine"] == 48211
    assert place["region"]["snippet"]["text"] == host_oom().root_cause.evidence[0].text  # type: ignore[union-attr]
    assert (
        result["partialFingerprints"]
        == json.loads(render(report(host_oom()), "sarif"))["runs"][0]["results"][0]["partialFingerprints"]
    )


def test_sarif_tells_success_as_a_pass_without_level() -> None:
    """The standard wants level `none` for everything that is not a failure."""
    results = json.loads(render(report(*(make() for make in ALL.values())), "sarif"))["runs"][0]["results"]
    assert {(item["kind"], item["level"]) for item in results} == {("fail", "error"), ("pass", "none")}


@pytest.mark.parametrize(("source", "uri"), [
    ("exports/05:00:00_05:59:59_S0.json", "exports/05%3A00%3A00_05%3A59%3A59_S0.json"), ("a b.log", "a%20b.log"),
    ("/var/x.log", "file:///var/x.log"), ("gs://bucket/a:b.json", "gs://bucket/a%3Ab.json"),
    ("javascript:alert(1)", "javascript%3Aalert%281%29"),
])  # fmt: skip
def test_names_of_files_become_uris(source: str, uri: str) -> None:
    """Sink objects have colons in their names, which must not look like a scheme."""
    assert file_uri(source) == uri


def test_junit_counts_failures_and_skips() -> None:
    """A case a job; the failure's type is the full name of the cause."""
    suites = ElementTree.fromstring(render(report(*(make() for make in ALL.values())), "junit"))
    assert (suites.get("tests"), suites.get("failures"), suites.get("skipped")) == ("6", "4", "1")
    types = {
        case.get("name"): failure.get("type") for case in suites.iter("testcase") for failure in case.iter("failure")
    }
    assert types["5501882340019437568"] == "out_of_memory.host"
    assert types["console"] == "unknown.no_convincing_line"


def test_github_annotations_are_one_line_each() -> None:
    """Errors for failed jobs, notices for the others; commas and colons of properties are encoded."""
    lines = render(report(host_oom(), stockout(), unknown()), "github").splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(
        "::error file=exports/ml_job.json,line=48211,title=bert-large-pretrain%3A out_of_memory.host::"
    )
    assert "%0A→ Use a machine type with more memory" in lines[0]


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("name", ALL)
def test_hostile_text_breaks_no_format(name: str, payload: str) -> None:
    """Each form stays well formed and one job stays one result."""
    hostile = hostile_report(ALL[name](), PAYLOADS[payload])
    assert len(json.loads(render(hostile, "sarif"))["runs"][0]["results"]) == 1
    assert len(list(ElementTree.fromstring(render(hostile, "junit")).iter("testcase"))) == 1
    lines = render(hostile, "github").split("\n")
    assert len(lines) == 2
    assert lines[0].startswith(("::error ", "::notice ", "::warning "))
    assert lines[0].split("::", 2)[1].count(",") <= 2


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("format", FORMATS)
def test_every_form_can_be_encoded(format: str, payload: str) -> None:
    """No half of a surrogate pair is left to break the writing of a file."""
    for make in ALL.values():
        render(hostile_report(make(), PAYLOADS[payload]), format, lang="de", width=100, color=False).encode("utf-8")


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    """The error names what there is."""
    with pytest.raises(UsageError, match="text, json, html, markdown, sarif, junit, github"):
        render(report(), "docx")


@pytest.mark.parametrize("format", FORMATS)
def test_an_empty_report_is_written_in_every_form(format: str) -> None:
    """Nothing found is a report too."""
    assert isinstance(render(report(), format, width=80, color=False), str)
