"""A job's whole log comes over, within the quota and through outages, and says what a file of it would say."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import msgspec
import pytest
from api_server import ApiServer
from live_jobs import JOB, PROJECT, START, custom_job, entry, failed_job, vertex_path
from logging_server import Fault, LoggingServer
from still_clock import StillClock

from analyzer.entries import Options
from analyzer.errors import NothingToDiagnose, RemoteError
from analyzer.model import Report
from analyzer.pipeline import diagnose_paths
from analyzer.rulebook import Matcher

Diagnose = Callable[..., Report]
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
QUOTA = "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute'"
DOWN = Fault(grpc.StatusCode.UNAVAILABLE, "the service is currently unavailable")


def told(report: Report) -> Any:
    """What a diagnosis says beside where its lines came from."""
    built = report.diagnoses[0].to_dict()
    for evidence in built["root_cause"]["evidence"]:
        evidence.pop("source")
    return {name: built[name] for name in ("job", "cause", "summary", "root_cause", "timeline", "confidence")}


def test_every_entry_comes_over(diagnose: Diagnose, logging_server: LoggingServer) -> None:
    """All pages are read, of a thousand entries each, the newest first."""
    logging_server.add(*failed_job(2500))
    report = diagnose()
    assert report.diagnoses[0].stats.entries == 2506
    assert [query.page_size for query in logging_server.queries] == [1000] * 3
    assert {query.order_by for query in logging_server.queries} == {"timestamp desc"}


def test_every_query_limits_its_time(diagnose: Diagnose, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """Queries begin with a timestamp: the job's creation where that is known, else thirty days back."""
    logging_server.add(*failed_job())
    api_server.jobs[vertex_path()] = custom_job()
    diagnose()
    diagnose(region="us-central1")
    begins = [query.filter.partition(" AND ")[0] for query in logging_server.queries]
    assert begins == ['timestamp>="2026-02-10T08:00:00Z"', 'timestamp>="2026-03-11T07:58:30Z"']


def test_a_saved_download_says_the_same(
    diagnose: Diagnose, logging_server: LoggingServer, api_server: ApiServer, rulebook: Matcher, tmp_path: Path
) -> None:
    """The saved file, read again as any export, gives the same diagnosis; nobody else may read it."""
    logging_server.add(*failed_job(300))
    api_server.jobs[vertex_path()] = custom_job()
    saved = tmp_path / "job.jsonl"
    live = diagnose(save=saved)
    assert told(diagnose_paths([str(saved)], rulebook, Options(job_id=JOB))) == told(live)
    assert told(diagnose()) == told(live)
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    assert len(saved.read_bytes().splitlines()) == 307


def test_empty_pages_are_followed(diagnose: Diagnose, logging_server: LoggingServer) -> None:
    """A page without entries is not the end while it comes with a token."""
    logging_server.add(*failed_job(1500))
    logging_server.empty = {1, 3}
    assert diagnose().diagnoses[0].stats.entries == 1506
    assert len(logging_server.queries) == 4


def test_nanoseconds_are_kept(diagnose: Diagnose, logging_server: LoggingServer, tmp_path: Path) -> None:
    """Times come over to the last digit."""
    logging_server.add(*failed_job())
    root = diagnose().diagnoses[0].root_cause
    assert root is not None
    assert str(root.evidence[0].time) == "2026-03-11T08:00:23.000000023Z"


def test_split_entries_are_joined(diagnose: Diagnose, logging_server: LoggingServer) -> None:
    """The parts of an entry that was too large come together again."""
    whole = "RuntimeError: " + "x" * 100 + " CUDA out of memory. Tried to allocate 2.00 GiB"
    for index, text in enumerate((whole[:60], whole[60:])):
        part = entry(5, text) | {"split": {"uid": "u1", "index": index, "totalSplits": 2}, "insertId": f"s{index}"}
        logging_server.add(part)
    logging_server.add(entry(1, "Job is running.", "service"))
    root = diagnose().diagnoses[0].root_cause
    assert root is not None
    assert root.evidence[0].text == whole


def test_the_quota_is_kept(diagnose: Diagnose, logging_server: LoggingServer, clock: StillClock) -> None:
    """No minute sees more than sixty requests."""
    logging_server.add(*failed_job())
    logging_server.empty = set(range(1, 130))
    diagnose()
    assert len(logging_server.queries) == 130
    assert clock.waits == [60.0, 60.0]


def test_passing_refusals_are_waited_for(diagnose: Diagnose, logging_server: LoggingServer, clock: StillClock) -> None:
    """A used-up quota and an outage pass: the waits grow, and nothing is lost or doubled."""
    logging_server.add(*failed_job(1500))
    busy = Fault(EXHAUSTED, QUOTA)
    logging_server.faults = [busy, DOWN, None, DOWN, busy, busy, busy]
    assert diagnose().diagnoses[0].stats.entries == 1506
    assert len(logging_server.queries) == 8
    first, grown = clock.waits[0], clock.waits[-1]
    assert 2.5 <= first <= 5 < 10 <= grown <= 20


def test_a_lasting_outage(diagnose: Diagnose, logging_server: LoggingServer) -> None:
    """A service that stays away is an error of its own once waiting has been in vain."""
    logging_server.faults = [DOWN] * 20
    with pytest.raises(RemoteError, match=r"UNAVAILABLE: .*try again in a few minutes"):
        diagnose()
    assert len(logging_server.queries) == 9


def test_an_outage_on_the_way_keeps_what_was_read(diagnose: Diagnose, logging_server: LoggingServer) -> None:
    """What came before the pages broke off is diagnosed, and the gap is named."""
    logging_server.add(*failed_job(2500))
    logging_server.faults = [None, *[DOWN] * 20]
    report = diagnose()
    assert report.diagnoses[0].cause == "import_error"
    note = next(note for note in report.notes if note.kind == "truncated")
    assert "1000 entries were read" in note.text
    assert "older than 2026-03-11T08:25:0" in note.text


def test_no_such_job(diagnose: Diagnose, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """Neither log nor description: the error says where it looked, and that logs are not kept for ever."""
    logging_server.add(*failed_job(job="111"))
    with pytest.raises(NothingToDiagnose) as caught:
        diagnose()
    assert str(caught.value).startswith(f"project {PROJECT}: no log entry and no description of a job '{JOB}'")
    assert "30 days" in str(caught.value)
    assert caught.value.exit_status == 3


def test_retention_has_passed(diagnose: Diagnose, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """An old job of which only the description is left is diagnosed by that, and the reason is told."""
    api_server.jobs[vertex_path()] = custom_job() | {"createTime": str(START.plus(-40 * 86_400))}
    report = diagnose(region="us-central1")
    note = next(note for note in report.notes if note.kind == "no_log")
    assert "entries are kept for 30 days" in note.text
    assert report.diagnoses[0].outcome == "failed"


def test_a_description_that_may_not_be_read(
    diagnose: Diagnose, logging_server: LoggingServer, api_server: ApiServer
) -> None:
    """The log is enough; the role that would give the rest is named once."""
    logging_server.add(*failed_job())
    api_server.refuse_all = (403, "PERMISSION_DENIED", "Permission 'aiplatform.customJobs.get' denied")
    report = diagnose()
    assert report.diagnoses[0].cause == "import_error"
    assert ["roles/aiplatform.viewer" in note.text for note in report.notes if note.kind == "no_description"] == [True]


def test_an_api_that_is_not_in_use(diagnose: Diagnose, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """An API that the project has not enabled describes none of its jobs, which is nothing to tell."""
    logging_server.add(*failed_job())
    api_server.refuse_all = (403, "PERMISSION_DENIED", "Vertex AI API has not been used in project 1 before")
    assert diagnose().notes == []


def test_files_beside_the_live_log(
    logging_server: LoggingServer, rulebook: Matcher, clock: StillClock, tmp_path: Path
) -> None:
    """A description that is at hand as a file joins the live log."""
    from analyzer.live.progress import Silent
    from analyzer.live.run import diagnose_live
    from analyzer.live.target import target_of

    logging_server.add(*failed_job())
    path = tmp_path / "job.json"
    path.write_bytes(msgspec.json.encode(custom_job()))
    target = target_of(JOB, PROJECT, None)
    report = diagnose_live(target, rulebook, Options(), Silent(), paths=[str(path)], clock=clock)
    assert report.diagnoses[0].job.machine_type == "n1-standard-8"
