"""Strict masking: names of people and places become pseudonyms, the story keeps its sense."""

from __future__ import annotations

import pytest
from hostile import PAYLOADS, hostile_report
from hypothesis import given
from hypothesis import strategies as st

from analyzer.model import Diagnosis, Evidence, Job, JobRow, Report, RootCause
from analyzer.pseudonyms import Pseudonyms, strict_job, strict_report
from analyzer.report.json_report import render_json

_MASKS = Pseudonyms(["acme-ml-prod"], ["acme-data"])


@pytest.mark.parametrize("name", [
    "alice.b@acme.io", "sa-1@acme-ml-prod.iam.gserviceaccount.com", "10.12.0.6", "2001:db8::1", "acme-ml-prod", "acme-data",
])  # fmt: skip
def test_names_and_addresses_are_masked_wherever_they_stand(name: str) -> None:
    """Alone, in brackets, in a URL, behind an equals sign; each time by the same pseudonym."""
    masked = [_MASKS.mask(text.replace("§", name)) for text in ("§", "x (§) y", "--for=§ z", "at §: refused")]
    assert not [text for text in masked if name in text]
    assert len({text.replace("x (", "").replace(") y", "").replace("--for=", "").replace(" z", "")
                .replace("at ", "").replace(": refused", "") for text in masked}) == 1  # fmt: skip


@pytest.mark.parametrize("text", [
    "12:34:56.789 step 3", "nvidia-cublas-cu12==12.1.3.1", "libfoo-1.2.3.4.so", "version 1.2.3.4.5", "std::vector::at",
    "127.0.0.1:8080", "0.0.0.0:22", "numpy@1.26.4", "acme-ml-prod-2", "a decorator @tf.function here", "300.1.2.3",
    "tensor a::b::c", "loss=0.1.2", "gs:// is no bucket",
])  # fmt: skip
def test_what_only_looks_like_a_name_stays(text: str) -> None:
    """Versions, times and code are evidence."""
    assert _MASKS.mask(text) == text


@pytest.mark.parametrize(("text", "kind"), [
    ("gs://other-bucket/x", "bucket"), ("https://storage.googleapis.com/other-bucket/x", "bucket"),
    ("s3://other-bucket/x", "bucket"), ("/gcs/other-bucket/x", "bucket"), ("projects/other-proj/jobs/1", "project"),
    ("gcloud --project=other-proj x", "project"), ("gcr.io/other-proj/image", "project"),
    ("europe-docker.pkg.dev/other-proj/image", "project"),
])  # fmt: skip
def test_names_are_known_by_where_they_stand(text: str, kind: str) -> None:
    """A bucket or project need not be told beforehand; once seen it is masked alone as well."""
    masks = Pseudonyms.of(Report(diagnoses=[_job(text, "other-proj and other-bucket again")]))
    masked = masks.mask(text)
    assert "other" not in masked
    assert f"{kind}-" in masked


def test_a_report_loses_names_links_and_folders_but_not_its_sense() -> None:
    """Evidence keeps its words, the category its name; ids of jobs stay."""
    diagnosis = _job("cannot read gs://acme-data/train from 10.0.0.7", "retry")
    masked = strict_report(Report(diagnoses=[diagnosis])).diagnoses[0]
    evidence = masked.root_cause.evidence[0]  # type: ignore[union-attr]
    assert (masked.category, masked.job.id, masked.job.platform) == ("storage", "77", "vertex")
    assert (masked.job.project or "").startswith("project-")
    assert evidence.text.startswith("cannot read gs://bucket-")
    assert (evidence.link, evidence.source) == (None, "log.json")


def test_a_scans_row_is_masked_with_the_pseudonyms_of_its_report() -> None:
    """So that pages of jobs and the index speak of the same project."""
    row = JobRow(id="77", platform="vertex", project="acme-ml-prod", summary="in acme-ml-prod", report="jobs/1.html")
    diagnosis, masked = strict_job(_job("x", "y"), row)
    assert masked.project == diagnosis.job.project
    assert masked.summary == f"in {masked.project}"
    assert masked.report == "jobs/1.html"


def test_a_key_changes_the_pseudonyms() -> None:
    """So that nobody without it can check a guess."""
    assert Pseudonyms(["acme-ml"]).mask("acme-ml") != Pseudonyms(["acme-ml"], key=b"k").mask("acme-ml")


@given(st.text(st.sampled_from("ab1.@:/-g s"), max_size=60))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    """Pseudonyms are no names."""
    once = _MASKS.mask(text)
    assert _MASKS.mask(once) == once


def test_hostile_length_is_no_trouble() -> None:
    """A line of a megabyte is masked in one pass."""
    text = "a." * 250_000 + "1.2.3." * 80_000
    assert len(_MASKS.mask(text)) == len(text)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_reports_are_masked_and_still_written(payload: str) -> None:
    """Whatever a log holds, also half of a surrogate pair."""
    masked = strict_report(hostile_report(_job("gs://acme-data/x", "y"), PAYLOADS[payload]))
    render_json(masked).encode("utf-8")


def _job(text: str, more: str) -> Diagnosis:
    evidence = [
        Evidence(text=text, source="/home/alice/log.json", link="https://console.example/?project=acme-ml-prod")
    ]
    return Diagnosis(
        job=Job(id="77", platform="vertex", project="acme-ml-prod"), outcome="failed", category="storage", cause="bucket",
        summary=more, root_cause=RootCause(rule="storage.x", evidence=evidence),
    )  # fmt: skip
