"""A job's row: what a table of thousands of jobs shows of each, taken from its diagnosis."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from analyzer.entries import Story
from analyzer.errors import UsageError
from analyzer.model import Diagnosis
from analyzer.model.fleet import JobRow
from analyzer.model.instant import Instant

_WHERE = re.compile(r"(?P<field>\w+)\s*(?P<test>!=|=|~|>=|<=|>|<)\s*(?P<value>.*)", re.DOTALL)
_HOUR = 3600.0


def row_of(diagnosis: Diagnosis, story: Story, report: str | None) -> JobRow:
    """The row of a diagnosed job; `report` is the address of its own page."""
    job, root, timeline = diagnosis.job, diagnosis.root_cause, diagnosis.timeline
    values = root.values if root else {}
    runs = [run for attempt in timeline.attempts for lane in attempt.replicas for run in lane.runs]
    timed = [(run.start, run.end) for run in runs if run.start is not None and run.end is not None]
    hours = sum(max(end.since(start), 0.0) for start, end in timed) / _HOUR
    cards = _cards(job.accelerator)
    return JobRow(
        id=job.id, platform=job.platform, project=job.project, region=job.region, display_name=job.display_name,
        machine_type=job.machine_type, accelerator=job.accelerator, image=_image(story), outcome=diagnosis.outcome,
        category=diagnosis.category, cause=diagnosis.cause, rule=root.rule if root else None,
        fingerprint=fingerprint(diagnosis), exception=values.get("exception"), user_frame=_frame(values),
        replica=root.replica if root else None, exit_code=root.exit_code if root else None,
        confidence=diagnosis.confidence, retry=diagnosis.retry.advice if diagnosis.retry else None,
        created=job.created, started=job.started or diagnosis.stats.first, ended=job.ended or diagnosis.stats.last,
        attempts=len(timeline.attempts), restarts_total=timeline.restarts_total,
        preemptions=sum(run.reason == "preempted" for run in runs), replicas=len(job.replicas),
        replica_hours=round(hours, 4) if runs else None, gpu_hours=round(hours * cards, 4) if runs and cards else None,
        lost_seconds=timeline.lost_seconds, summary=diagnosis.summary, report=report,
    )  # fmt: skip


def fingerprint(diagnosis: Diagnosis) -> str | None:
    """The same for failures of one kind: cause, exception, and place in the user's code; None where nothing failed."""
    if diagnosis.outcome not in ("failed", "cancelled"):
        return None
    values = diagnosis.root_cause.values if diagnosis.root_cause else {}
    kind = (diagnosis.category, diagnosis.cause, values.get("exception") or "", _frame(values) or "")
    return hashlib.sha256("\0".join(kind).encode("utf-8", "replace")).hexdigest()[:16]


def _frame(values: dict[str, str]) -> str | None:
    file, function = values.get("frame_file"), values.get("frame_function")
    return f"{file}:{function}" if file and function else None


def _image(story: Story) -> str | None:
    images = [entry.fields["image"] for entry in story.entries if entry.fields.get("image")]
    return str(images[-1]) if images else None


def _cards(accelerator: str | None) -> int:
    """How many accelerators a machine has, as the job's facts tell it (`8 × NVIDIA_H100`)."""
    count = (accelerator or "").split(" × ", 1)[0]
    return int(count) if count.isdecimal() else 1 if accelerator else 0


class Condition(msgspec.Struct, frozen=True):
    """One `--where`: a field of a row, a test, a value."""

    field: str
    test: str
    value: str

    @classmethod
    def parse(cls, text: str) -> Condition:
        """The condition that a text states.

        Raises:
            UsageError: if it states none, or the row has no such field.
        """
        found = _WHERE.fullmatch(text.strip())
        if found is None:
            raise UsageError(f"--where {text!r} is no condition", advice="write FIELD=VALUE (also !=, ~REGEX, <, >)")
        if found["field"] not in JobRow.__struct_fields__:
            known = ", ".join(JobRow.__struct_fields__)
            raise UsageError(f"--where {text!r}: a job has no field {found['field']!r}", advice=f"one of {known}")
        if found["test"] == "~":
            try:
                re.compile(found["value"])
            except re.error as error:
                raise UsageError(f"--where {text!r}: no regular expression ({error})", advice="check it") from error
        return cls(found["field"], found["test"], found["value"].strip())

    def holds(self, row: JobRow) -> bool:
        """Whether a row meets it. Numbers and times are compared as such; what is unknown meets only `!=`."""
        given = getattr(row, self.field)
        if given is None:
            return self.test == "!="
        if self.test == "~":
            return re.search(self.value, str(given)) is not None
        if self.test in ("=", "!="):
            return (str(given) == self.value) == (self.test == "=")
        left, right = _comparable(given, self.value)
        tests = {">": left > right, "<": left < right, ">=": left >= right, "<=": left <= right}
        return bool(tests[self.test])


def _comparable(given: Any, value: str) -> tuple[Any, Any]:
    if isinstance(given, Instant):
        parsed = Instant.parse(value if ":" in value else f"{value}T00:00:00Z")
        return (given, parsed) if parsed is not None else (str(given), value)
    if isinstance(given, int | float):
        try:
            return float(given), float(value)
        except ValueError:
            return str(given), value
    return str(given), value
