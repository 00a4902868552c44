"""`gcloud … stream-logs`: severity, time, task (AI Platform: trial) and message in columns.

Format: gcloud's log_util.py and log_utils.py. The columns are parted by tabs; copies from a terminal have spaces up to
the next multiple of eight instead. A message of several lines becomes several rows, unless --allow-multiline-logs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from analyzer.formats.identity import REPLICA_NAME
from analyzer.formats.text.dialect import Said, share
from analyzer.formats.text.service_job import job_named_in, platform_named_in
from analyzer.model import Instant, JobKey, Origin
from analyzer.model.numbers import number

_SEVERITY = "DEFAULT|DEBUG|INFO|NOTICE|WARNING|ERROR|CRITICAL|ALERT|EMERGENCY"
_ROW = re.compile(
    rf"^(?P<severity>{_SEVERITY})(?:\t| +)(?P<time>\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [+-]\d{{4}})"
    r"(?P<gap1>\t| +)(?P<task>[\w.-]+)(?P<rest>(?:[\t ].*)?)$"
)
_TAB = 8
_ALIGNED = 3
"""So many rows that begin at the same place show where a column begins; fewer may all be indented."""
_TRIAL = re.compile(r"^\t\d{0,6}\t")


def recognize_stream_logs(head: Sequence[str], name: str) -> StreamLogs | None:
    """The dialect of a text of which at least a row in five is a row of stream-logs."""
    rows = [_ROW.match(line) for line in head]
    if share(rows) < 0.2:
        return None
    trials = any(row and row["rest"].startswith("\t\t") for row in rows)
    platform = platform_named_in("\n".join(head)) or ("ai_platform" if trials else "vertex")
    job = next((job for line in head if (job := job_named_in(line))), None)
    tabbed = [row["rest"] for row in rows if row and row["rest"].startswith("\t")]
    has_trials = platform == "ai_platform" or (len(tabbed) >= _ALIGNED and all(map(_TRIAL.match, tabbed)))
    dialect = StreamLogs(platform, job, has_trials)
    dialect.learn([row for row in rows if row])
    return dialect


class StreamLogs:
    """Reads rows of stream-logs; `job` is the job that the head of the text names.

    `has_trials`: a column of trials stands before the message, as AI Platform and tuning jobs of Vertex AI have it.
    """

    def __init__(self, platform: str, job: JobKey | None, has_trials: bool) -> None:
        self._has_trials = has_trials
        self._platform = platform
        self._job = job
        self._gaps: dict[tuple[int, str], int] = {}

    def learn(self, rows: Sequence[re.Match[str]]) -> None:
        """Learns how wide each task's gap is before a row is given: wider than tabs where columns are aligned."""
        seen: dict[tuple[int, str], Counter[int]] = {}
        for row in rows:
            bare = row["rest"].lstrip(" ")
            if bare and not row["rest"].startswith("\t"):
                key = (row.start("rest"), row["task"])
                seen.setdefault(key, Counter())[len(row["rest"]) - len(bare)] += 1
                self._gaps.setdefault(key, self._tab_gap(row))
        for key, gaps in seen.items():
            least = min(gaps)
            if least < self._gaps[key] or gaps[least] >= _ALIGNED:
                self._gaps[key] = least

    def read(self, line: str) -> Said | None:
        """What a row says; None for a line that is no row."""
        row = _ROW.match(line)
        if row is None:
            return None
        task = row["task"]
        trial, text = self._columns(row)
        service = task == "service"
        job = self._job or (job_named_in(text) if service else None)
        return Said(
            text=text,
            time=Instant.parse(row["time"]),
            severity=row["severity"],
            origin=Origin.SERVICE if service else Origin.REPLICA,
            job=job,
            replica=None if service or task == "unknown_task" else task,
            attempt=number(trial),
            fields={"platform": self._platform} | ({"trial": number(trial)} if trial else {}),
        )

    def _columns(self, row: re.Match[str]) -> tuple[str, str]:
        rest = row["rest"]
        if rest.startswith("\t"):
            if not self._has_trials:
                return "", rest[1:]
            trial, tab, text = rest[1:].partition("\t")
            return (trial, text) if tab and (not trial or trial.isdecimal()) else ("", rest[1:])
        bare = rest.lstrip(" ")
        gap = len(rest) - len(bare)
        key = (row.start("rest"), row["task"])
        usual = min(self._gaps.get(key, self._tab_gap(row)), gap or _TAB)
        if bare:
            self._gaps[key] = usual
        return "", rest[usual:]

    def _tab_gap(self, row: re.Match[str]) -> int:
        """The spaces that a terminal shows for the tab (AI Platform: two) behind the task."""
        column = row.start("rest")
        gap = _TAB - column % _TAB
        two = (self._platform == "ai_platform" and REPLICA_NAME.fullmatch(row["task"])) or row["task"] == "service"
        return gap + (_TAB if two and self._platform == "ai_platform" else 0)
