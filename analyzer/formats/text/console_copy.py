"""Copies of the log viewers: Logs Explorer's plain text, the old console's list with a severity letter."""

from __future__ import annotations

import re
from collections.abc import Sequence

from analyzer.formats.clock import rfc3339
from analyzer.formats.identity import REPLICA_NAME, is_vertex_id
from analyzer.formats.text.dialect import Said
from analyzer.formats.text.service_job import job_named_in
from analyzer.model import Instant, JobKey, Origin

_EXPLORER = re.compile(
    r"^(?P<severity>DEFAULT|DEBUG|INFO|NOTICE|WARNING|ERROR|CRITICAL|ALERT|EMERGENCY)\s+"
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)\s(?P<labels>(?:\[(?:resource\.)?labels\.[^\]]*\]\s?)*)(?P<text>.*)$"
)
_LABEL = re.compile(r"\[(?:resource\.)?labels\.(\w+): ([^\]]*)\]")
_LETTERS = {"D": "DEBUG", "I": "INFO", "N": "NOTICE", "W": "WARNING", "E": "ERROR", "C": "CRITICAL", "F": "CRITICAL",
            "A": "ALERT", "*": "DEFAULT"}  # fmt: skip
_LISTED = re.compile(
    r"^(?P<letter>[DINWECFA*])  (?:(?P<time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\S*(?: [+-]\d{4})?)\s+)?(?P<text>\S.*)$"
)
_SUFFIX = re.compile(rf"  ({REPLICA_NAME.pattern}|service)\s*$")


def recognize_explorer(head: Sequence[str], name: str) -> Explorer | None:
    """The dialect of text copied out of Logs Explorer."""
    rows = [found for line in head if (found := _EXPLORER.match(line))]
    if len(rows) < 0.3 * len(head) or not any(row["labels"] for row in rows):
        return None
    return Explorer(next((job for line in head if (job := job_named_in(line))), None))


class Explorer:
    """Reads rows of Logs Explorer's plain text."""

    def __init__(self, job: JobKey | None) -> None:
        self._job = job

    def read(self, line: str) -> Said | None:
        """What a row says; None for a line that is no row."""
        row = _EXPLORER.match(line)
        if row is None:
            return None
        labels = dict(_LABEL.findall(row["labels"]))
        task, pod = labels.get("taskName") or labels.get("task_name"), labels.get("podName") or labels.get("pod_name")
        service = task == "service"
        replica = pod or (None if service else task)
        job = _labelled_job(labels, task, pod) or self._job or job_named_in(row["text"])
        vertex = bool(task and task.startswith("workerpool")) or bool(job and job.platform == "vertex")
        platform = "gke" if pod else "vertex" if vertex else "ai_platform" if task and not service else None
        return Said(
            text=row["text"],
            time=rfc3339(row["time"]),
            severity=row["severity"],
            origin=Origin.SERVICE if service else Origin.REPLICA if replica else Origin.TEXT,
            job=job,
            replica=replica,
            fields={"platform": platform} if platform else {},
        )


def _labelled_job(labels: dict[str, str], task: str | None, pod: str | None) -> JobKey | None:
    job_id, project = (
        labels.get("jobId") or labels.get("job_id"),
        labels.get("projectId") or labels.get("project_id") or "",
    )
    if job_id:
        return JobKey("vertex" if is_vertex_id(job_id, task) else "ai_platform", project, job_id)
    return JobKey("gke", project, pod) if pod else None


def recognize_list(head: Sequence[str], name: str) -> SeverityList | None:
    """The dialect of text copied out of the console's list of a training job."""
    rows = [found for line in head if (found := _LISTED.match(line))]
    if len(rows) < 0.3 * len(head) or not any(REPLICA_NAME.search(line) for line in head):
        return None
    return SeverityList(next((job for line in head if (job := job_named_in(line))), None))


class SeverityList:
    """Reads rows `I  [time] [replica] message  [replica]`; a row without replica is the service's."""

    def __init__(self, job: JobKey | None) -> None:
        self._job = job

    def read(self, line: str) -> Said | None:
        """What a row says; None for a line that is no row."""
        row = _LISTED.match(line)
        if row is None:
            return None
        text, replica = row["text"], None
        suffix = _SUFFIX.search(text)
        if suffix:
            text, replica = text[: suffix.start()], suffix[1]
        first, _, rest = text.partition(" ")
        if REPLICA_NAME.fullmatch(first):
            text, replica = rest, first
        replica = None if replica == "service" else replica
        vertex = bool(replica and replica.startswith("workerpool"))
        platform = self._job.platform if self._job else "vertex" if vertex else "ai_platform"
        return Said(
            text=text,
            time=Instant.parse(row["time"]) if row["time"] else None,
            severity=_LETTERS[row["letter"]],
            origin=Origin.REPLICA if replica else Origin.SERVICE,
            job=self._job,
            replica=replica,
            fields={"platform": platform},
        )
