"""Copies of the log viewers: Logs Explorer's plain text, the old console's list, and its stacked rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from analyzer.formats.clock import rfc3339
from analyzer.formats.identity import REPLICA_NAME, is_vertex_id
from analyzer.formats.part import Part
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
_STACKED = re.compile(rb"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}(?: [A-Z]{2,5})?\s*$")
_SPEAKER = re.compile(rb"^(?:service|" + REPLICA_NAME.pattern.encode() + rb")\s*$")
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


def is_stacked(lines: Sequence[bytes | None]) -> bool:
    """Whether a row begins with these lines of which each cell stands on its own: time, speaker, message."""
    told = [line for line in lines if line and line.strip()]
    return len(told) > 1 and _STACKED.match(told[0]) is not None and _SPEAKER.match(told[1]) is not None


def stacked_rows(lines: Sequence[str], first: int) -> Iterator[Part]:
    """The rows of a copied table, oldest first: the console shows the newest on top unless told otherwise."""
    begins = [at for at in range(len(lines)) if is_stacked([line.encode() for line in lines[at : at + 4]])]
    job = next((found for line in lines if (found := job_named_in(line))), None)
    rows = []
    for at, end in zip(begins, [*begins[1:], len(lines)], strict=True):
        stamp, speaker, *text = (place for place in range(at, end) if lines[place].strip())
        replica = None if lines[speaker].strip() == "service" else lines[speaker].strip()
        rows.append(
            Part(
                text="\n".join(lines[place] for place in text), job=job, replica=replica,
                time=Instant.parse(lines[stamp][:23].replace(" ", "T") + "Z"), line=first + (text or [stamp])[0],
                origin=Origin.REPLICA if replica else Origin.SERVICE,
            )
        )  # fmt: skip
    newest_first = len(rows) > 1 and (rows[0].time or 0) > (rows[-1].time or 0)
    yield from (row for row in (reversed(rows) if newest_first else rows) if row.text)


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
