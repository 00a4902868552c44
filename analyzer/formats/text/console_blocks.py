"""Copies of a training job's log in the console, in which time, speaker and message stand on lines of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from analyzer.formats.identity import REPLICA_NAME
from analyzer.formats.text.dialect import Said, share
from analyzer.formats.text.service_job import job_named_in, platform_named_in
from analyzer.model import Instant, JobKey, Origin

_TIME = re.compile(
    r"^(?P<time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?)"
    r"(?: ?(?P<zone>[A-Z]{3,4}|(?:UTC|GMT)[+-]\d{1,2}(?::\d\d)?))?\s*$",
    re.ASCII,
)
_OFFSET = re.compile(r"(?:UTC|GMT)(?P<sign>[+-])(?P<hours>\d{1,2})(?::(?P<minutes>\d\d))?", re.ASCII)
_ZONES = {
    "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "WEST": 1, "MSK": 3, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11,
    "EST": -5, "EDT": -4, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
}  # fmt: skip
"""Hours before UTC of zones that browsers name by letters (tz database); letters with several meanings are left out."""


def recognize_console_blocks(head: Sequence[str], name: str) -> ConsoleBlocks | None:
    """The dialect of a text in which at least a line in five is a time by itself, followed by a speaker."""
    times = [_TIME.match(line) for line in head]
    speakers = [_is_speaker(line) for line in head]
    follow = sum(1 for time, speaker in zip(times, speakers[1:], strict=False) if time and speaker)
    if share(times) < 0.2 or follow < 0.5 * sum(1 for time in times if time):
        return None
    job = next((job for line in head if (job := job_named_in(line))), None)
    return ConsoleBlocks(platform_named_in("\n".join(head)) or "vertex", job)


class ConsoleBlocks:
    """Reads blocks of a time, a speaker and a message; `job` is the job that the head of the text names."""

    def __init__(self, platform: str, job: JobKey | None) -> None:
        self._platform, self._job = platform, job
        self._time: Instant | None = None
        self._speaker: str | None = None
        self._begun = False

    def read(self, line: str) -> Said | None:
        """What a line says; None for a further line of a message."""
        time = _TIME.match(line)
        if time is not None:
            self._time, self._speaker, self._begun = _moment(time), None, False
            return Said(text="", time=self._time, spoken=False)
        if self._time is None or self._begun:
            return None
        if self._speaker is None and _is_speaker(line):
            self._speaker = line.strip()
            return Said(text="", time=self._time, spoken=False)
        self._begun = True
        service = self._speaker == "service"
        replica = None if service else self._speaker
        return Said(
            text=line,
            time=self._time,
            origin=Origin.SERVICE if service else Origin.REPLICA if replica else Origin.TEXT,
            job=self._job,
            replica=replica,
            fields={"platform": self._platform},
        )


def _is_speaker(line: str) -> bool:
    return line.strip() == "service" or REPLICA_NAME.fullmatch(line.strip()) is not None


def _moment(found: re.Match[str]) -> Instant | None:
    stated = Instant.parse(found["time"])
    offset = _OFFSET.fullmatch(found["zone"] or "")
    if offset is not None:
        seconds = int(offset["hours"]) * 3600 + int(offset["minutes"] or 0) * 60
        seconds = seconds if offset["sign"] == "+" else -seconds
    else:
        seconds = _ZONES.get(found["zone"] or "", 0) * 3600
    return None if stated is None else stated.plus(-seconds)
