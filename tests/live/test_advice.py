"""Each refusal of the cloud comes out as one sentence that says what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest
from api_server import ApiServer
from live_jobs import failed_job
from logging_server import Fault, LoggingServer

from analyzer.errors import RemoteError, UsageError
from analyzer.live.connection import connect
from analyzer.live.endpoints import Endpoints, endpoints
from analyzer.live.target import target_of

STATUS = grpc.StatusCode
REFUSALS = {
    "no permission": (
        Fault(STATUS.PERMISSION_DENIED, "Permission 'logging.logEntries.list' denied.", "IAM_PERMISSION_DENIED"),
        ["roles/logging.viewer", "gcloud projects add-iam-policy-binding acme-ml", "check --project"],
    ),
    "API not enabled": (
        Fault(
            STATUS.PERMISSION_DENIED,
            "Cloud Logging API has not been used in project 1234 before or it is disabled.",
            "SERVICE_DISABLED",
        ),
        ["gcloud services enable logging.googleapis.com --project=acme-ml"],
    ),
    "wrong project": (
        Fault(STATUS.PERMISSION_DENIED, "Project 'acme-ml' not found or deleted.", "CONSUMER_INVALID"),
        ["there is no project 'acme-ml'", "gcloud projects list"],
    ),
    "no such project": (Fault(STATUS.NOT_FOUND, "The project acme-ml was not found."), ["gcloud projects list"]),
    "no quota project": (
        Fault(STATUS.PERMISSION_DENIED, "The logging.googleapis.com API requires a quota project, which is not set."),
        ["gcloud auth application-default set-quota-project acme-ml"],
    ),
    "gcloud's own project": (
        Fault(STATUS.RESOURCE_EXHAUSTED, "Quota exceeded for consumer 'project_number:764086051850'."),
        ["set-quota-project acme-ml"],
    ),
    "expired": (
        Fault(STATUS.UNAVAILABLE, "Getting metadata from plugin failed with error: ('invalid_grant: Bad Request')"),
        ["gcloud auth application-default login"],
    ),
    "not signed in": (
        Fault(STATUS.UNAUTHENTICATED, "Request had invalid authentication credentials."),
        ["gcloud auth application-default login"],
    ),
    "bad query": (Fault(STATUS.INVALID_ARGUMENT, "Unparseable filter"), ["check --project and the job's id"]),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_of_the_log(diagnose: Any, logging_server: LoggingServer, name: str) -> None:
    """A refusal that will not pass is not asked again, and the advice names the command that helps."""
    fault, words = REFUSALS[name]
    logging_server.faults = [fault]
    with pytest.raises(RemoteError) as caught:
        diagnose()
    assert [word for word in words if word not in str(caught.value)] == []
    assert caught.value.exit_status == 4
    assert len(logging_server.queries) == 1


def test_a_quota_that_stays_used_up(diagnose: Any, logging_server: LoggingServer) -> None:
    """After minutes of waiting the advice is to copy the log instead."""
    logging_server.faults = [Fault(STATUS.RESOURCE_EXHAUSTED, "Quota exceeded")] * 30
    with pytest.raises(RemoteError, match="gcloud logging copy"):
        diagnose()
    assert len(logging_server.queries) == 13


def test_no_credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without credentials nothing is sent, and both ways to get some are named."""
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "missing.json"))
    with pytest.raises(RemoteError, match=r"gcloud auth application-default login.*GOOGLE_APPLICATION_CREDENTIALS"):
        connect(Endpoints())


def test_credentials_refused_by_an_api(diagnose: Any, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """What only the description's API refuses is a note: the log is enough for a diagnosis."""
    logging_server.add(*failed_job())
    api_server.refuse_all = (401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
    report = diagnose()
    assert report.diagnoses[0].cause == "import_error"
    assert ["gcloud auth application-default login" in note.text for note in report.notes] == [True]


@pytest.mark.parametrize(
    ("job", "project", "region", "words"),
    [
        (None, "acme-ml", None, "no job is named"),
        ("1234", None, None, "add --project"),
        ("1234", "Acme ML", None, "no project id"),
        ("1234", "acme-ml", "us-central1-b", "no region"),
        ('x" OR 1=1 --', "acme-ml", None, "no job id"),
        ("a/b", "acme-ml", None, "no job id"),
    ],
)
def test_words_that_name_nothing(job: str | None, project: str | None, region: str | None, words: str) -> None:
    """What can be no id, project or region is refused before anything is asked."""
    with pytest.raises(UsageError, match=words):
        target_of(job, project, region)


@pytest.mark.parametrize(
    "environment",
    [
        {"DIAGNOSE_LOGGING_ENDPOINT": "http://logging.example.com"},
        {"DIAGNOSE_API_ENDPOINT": "http://api.example.com"},
        {"DIAGNOSE_LOGGING_ENDPOINT": "127.0.0.1:1", "DIAGNOSE_API_ENDPOINT": "https://api.example.com"},
    ],
)
def test_credentials_are_not_sent_in_plain_text(environment: dict[str, str]) -> None:
    """An address across a network has to be encrypted, and this machine is not mixed with another."""
    with pytest.raises(UsageError, match="DIAGNOSE_"):
        endpoints(environment)


def test_addresses_in_use() -> None:
    """Private endpoints are used with credentials, those on this machine without."""
    assert endpoints({}) == Endpoints()
    private = endpoints({"DIAGNOSE_LOGGING_ENDPOINT": "logging-psc.p.googleapis.com"})
    assert (private.logging, private.local, private.describes) == ("logging-psc.p.googleapis.com", False, True)
    here = endpoints({"DIAGNOSE_LOGGING_ENDPOINT": "localhost:8080"})
    assert (here.logging, here.local, here.describes) == ("localhost:8080", True, False)
