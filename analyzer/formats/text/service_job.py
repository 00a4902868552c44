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

_AI_PLATFORM = re.compile(r"-replica-\d+|Validating job requirements|Job \w+ is queued\.|^jobId: ", re.MULTILINE)
_VERTEX = re.compile(r"\bworkerpool\d|Vertex AI is |Agent Platform is |/customJobs/|-aiplatform\.googleapis\.com")


def platform_named_in(text: str) -> str | None:
    """The training service whose words a text has; None where they fit both."""
    if _VERTEX.search(text):
        return "vertex"
    return "ai_platform" if _AI_PLATFORM.search(text) else None


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
