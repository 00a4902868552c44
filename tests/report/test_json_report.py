"""The JSON form keeps to its contract."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from hostile import PAYLOADS, hostile_report
from samples import ALL, host_oom, many_replicas, report, running

from analyzer.errors import NothingToDiagnose
from analyzer.model import CATEGORIES, OUTCOMES, RETRY_ADVICE
from analyzer.model.timeline import RUN_REASONS
from analyzer.report.json_report import json_schema, load_report, render_json, to_builtins
from analyzer.resources import data_folder

_LEAST = {"outcome": "failed", "category": "image", "cause": "pull", "summary": "s"}
_NO_TIME = json.dumps({"diagnoses": [{"job": {"id": "a", "platform": "b", "created": "noon"}, **_LEAST}]}).encode()


@pytest.mark.parametrize("name", ALL)
def test_every_report_fits_the_published_schema(name: str) -> None:
    """What is written validates against the schema file, checked by another's validator."""
    schema = json.loads((data_folder("reports") / "diagnosis.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(render_json(report(ALL[name]()))), schema, cls=jsonschema.Draft202012Validator)


def test_the_published_schema_is_current() -> None:
    """`reports/diagnosis.schema.json` says what the program's types say."""
    published = (data_folder("reports") / "diagnosis.schema.json").read_text(encoding="utf-8")
    assert published == json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def test_the_schema_holds_the_closed_lists() -> None:
    """Outcomes, categories, advice and both lists of reasons are enumerations."""
    definitions = json_schema()["$defs"]
    assert definitions["Outcome"]["enum"] == list(OUTCOMES)
    assert definitions["Category"]["enum"] == list(CATEGORIES)
    assert definitions["RetryAdvice"]["enum"] == list(RETRY_ADVICE)
    assert definitions["RunReason"]["enum"] == list(RUN_REASONS)
    assert definitions["EndReason"]["enum"] == [*CATEGORIES, "crash", "restarts_exhausted"]


def test_a_word_outside_a_closed_list_does_not_validate() -> None:
    """The enumerations bind."""
    wrong = json.loads(render_json(report(host_oom())))
    wrong["diagnoses"][0]["timeline"]["attempts"][0]["replicas"][0]["runs"][0]["reason"] = "died"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, json_schema())


@pytest.mark.parametrize("name", ALL)
def test_a_saved_report_loads_as_it_was(name: str) -> None:
    """Writing, loading and writing again changes nothing."""
    written = render_json(report(ALL[name]()))
    assert json.loads(render_json(load_report(written.encode()))) == json.loads(written)


def test_a_report_of_an_earlier_version_loads() -> None:
    """Fields that came later have their defaults."""
    job = {"job": {"id": "a", "platform": "vertex"}, **_LEAST}
    old = json.dumps({"schema_version": 1, "diagnoses": [job]}).encode()
    assert load_report(old).diagnoses[0].timeline.restarts_total == 0


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"\xff\xfe", b'{"diagnoses": 3}', b'{"schema_version": 9}', _NO_TIME]
)
def test_what_is_no_report_is_refused_in_one_sentence(data: bytes) -> None:
    """Any other file gives a domain error, never a crash."""
    with pytest.raises(NothingToDiagnose) as caught:
        load_report(data)
    assert "\n" not in str(caught.value)


def test_failed_jobs_come_first_then_each_by_time() -> None:
    """The order does not depend on the order of the input."""
    jobs = [make() for make in ALL.values()]
    written = json.loads(render_json(report(*reversed(jobs))))
    assert [job["outcome"] for job in written["diagnoses"]] == ["failed"] * 4 + ["succeeded", "running"]
    assert render_json(report(*jobs)) == render_json(report(*reversed(jobs)))


def test_times_are_rfc3339_and_unknown_values_null() -> None:
    """Nanoseconds are kept; nothing is guessed."""
    built = to_builtins(running())
    assert built["timeline"]["attempts"][0]["replicas"][0]["runs"][0]["start"] == "2026-03-11T09:00:05Z"
    assert built["timeline"]["attempts"][0]["replicas"][0]["runs"][0]["end"] is None
    assert built["job"]["region"] is None


@pytest.mark.parametrize("name", PAYLOADS)
def test_evidence_stays_verbatim_and_the_file_harmless(name: str) -> None:
    """A reader gets the very text back, while no raw control or direction mark stands in the file."""
    text = PAYLOADS[name]
    written = render_json(hostile_report(host_oom(), text))
    assert not set(written) & {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), 0x202E, 0x200B, 0xFEFF)} - {
        "\n"
    }
    found = json.loads(written)["diagnoses"][0]["root_cause"]["evidence"][0]["text"]
    assert (
        found == text.encode("utf-8", "replace").decode().replace("?", "\ufffd")
        if name == "surrogate"
        else found == text
    )


def test_writing_json_imports_neither_rich_nor_jinja2() -> None:
    """Scripts do not pay for what they do not use."""
    code = (
        "import sys\nfrom analyzer.model import Report\nfrom analyzer.report import render\n"
        "render(Report(), 'json')\nprint(sorted({'rich', 'jinja2', 'pandas'} & set(sys.modules)))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "[]"


def test_two_thousand_replicas_are_written() -> None:
    """Size is no reason to drop anything."""
    built = json.loads(render_json(report(many_replicas())))["diagnoses"][0]
    assert len(built["timeline"]["attempts"][0]["replicas"]) == 2000
    assert len(built["symptoms"]) == 1999
