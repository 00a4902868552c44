"""Documents know where their parts stand."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from test_json_split import VALUES

from analyzer.formats.located import NotADocument, json_document, yaml_document

POD = {"metadata": {"name": "a"}, "status": {"state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}}


@given(VALUES, st.sampled_from([None, 1, 2]))
def test_json_reads_as_the_standard_library_reads_it(value, indent):
    """The value is the same."""
    assert json_document(json.dumps(value, indent=indent)).value == json.loads(json.dumps(value))


@given(VALUES, st.integers(0, 200))
def test_cut_json_gives_what_is_there_or_is_refused(value, cut):
    """No cut ends in anything but a document or a refusal."""
    try:
        json_document(json.dumps(value)[:cut])
    except NotADocument:
        return


@pytest.mark.parametrize("indent", [None, 2, 4])
def test_part_of_json_is_quoted_as_it_stands(indent):
    """The quote is the key with its value, without the indentation around it."""
    document = json_document(json.dumps(POD, indent=indent), line=10)
    state = document.value["status"]["state"]
    quote = document.quote(state, "terminated")
    assert json.loads("{" + quote + "}") == {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    assert document.place(state, "terminated") == (10 if indent is None else 16)


def test_part_of_yaml_is_quoted_as_it_stands():
    """The quote is the key with its block, without the indentation around it."""
    document = yaml_document(yaml.safe_dump(POD), line=10)
    state = document.value["status"]["state"]
    assert document.quote(state, "terminated") == "terminated:\n  exitCode: 137\n  reason: OOMKilled"
    assert document.place(state, "terminated") == 14


def test_yaml_times_stay_text():
    """A timestamp without quotes is not made into something else."""
    assert yaml_document("a: 2026-03-11T08:15:03Z\nb: 08:15\nc: 12\nd: ~\ne: yes").value == {
        "a": "2026-03-11T08:15:03Z", "b": "08:15", "c": 12, "d": None, "e": True,
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", "no json", "{'a': 1}", "{1: 2}", "[1 2 x]", "[" * 5000 + "]" * 5000])
def test_what_is_no_json_is_refused(text):
    """Anything else is told apart."""
    with pytest.raises(NotADocument):
        json_document(text)


@pytest.mark.parametrize("text", ["", "a: [", "a: b: c", "&a [*a]", "- " * 3000 + "x"])
def test_what_is_no_yaml_is_refused(text):
    """Broken, endless and too deep texts are told apart."""
    with pytest.raises(NotADocument):
        yaml_document(text)
