"""The job that service messages of AI Platform and Vertex AI name in their own words and links."""

from __future__ import annotations

import re

from analyzer.formats.identity import is_vertex_id
from analyzer.model import JobKey

_NAMED = (
    re.compile(r"\bJob (?P<id>[A-Za-z]\w*) is queued\."),
    re.compile(r"\bJob \[(?P<id>[A-Za-z]\w*)\] submitted successfully"),
    re.compile(r"logs/viewer\?project=(?P<project>[\w-]+)&resource=ml_job%2Fjob_id%2F(?P<id>\w+)"),
    re.compile(
        r"Jobs? \[?projects/(?P<project>[\w-]+)/locations/[\w-]+/"
        r"(?:customJobs|hyperparameterTuningJobs|trainingPipelines)/(?P<id>\d+)"
    ),
)
_SIGN = re.compile(
    r"is queued\.|submitted successfully|ml_job%2Fjob_id|customJobs/|hyperparameterTuningJobs/|trainingPipelines/"
)


def job_named_in(text: str) -> JobKey | None:
    """The job that a service message names; None where it names none."""
    if not _SIGN.search(text):
        return None
    for pattern in _NAMED:
        found = pattern.search(text)
        if found:
            platform = "vertex" if is_vertex_id(found["id"]) else "ai_platform"
            return JobKey(platform, found.groupdict().get("project") or "", found["id"])
    return None
