"""The stand-in for Cloud Logging reads queries as the language is documented."""

from __future__ import annotations

import pytest
from lql import BadFilter, parse

ENTRY = {
    "timestamp": "2026-03-11T08:00:00.5Z",
    "logName": "projects/p/logs/cloudaudit.googleapis.com%2Factivity",
    "severity": "ERROR",
    "resource": {"type": "ml_job", "labels": {"job_id": "42"}},
    "labels": {"ml.googleapis.com/job_id": "42"},
    "textPayload": 'a "quoted" word',
}


@pytest.mark.parametrize(
    "query",
    [
        "",
        'resource.type="ml_job" resource.labels.job_id="42"',
        'severity="no" OR severity=ERROR AND textPayload:QUOTED',  # OR binds closer than AND
        'NOT severity="INFO" AND labels."ml.googleapis.com/job_id"="42"',
        'log_id("cloudaudit.googleapis.com/activity")',
        'timestamp>="2026-03-11T08:00:00Z" AND timestamp<"2026-03-11T08:00:01Z"',
        'resource.type=("x" OR "ml_job")',
        r'textPayload=~"\"quoted\" w" AND resource.labels.job_id=~"^4"',
    ],
)
def test_holds(query: str) -> None:
    assert parse(query)(ENTRY)


@pytest.mark.parametrize(
    "query",
    [
        'severity="INFO" OR severity="ERROR" AND resource.type="x"',
        'labels.missing="42"',
        'NOT (severity="ERROR")',
        'timestamp<"2026-03-11T08:00:00Z"',
    ],
)
def test_does_not_hold(query: str) -> None:
    assert not parse(query)(ENTRY)


@pytest.mark.parametrize("query", ["severity=", 'a="b', "(a=b", "a=b)", "a ~ b"])
def test_is_no_query(query: str) -> None:
    with pytest.raises(BadFilter):
        parse(query)
