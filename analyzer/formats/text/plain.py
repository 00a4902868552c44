"""Plain program output: every line is what it is. The head may tell which job the whole text is of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from analyzer.formats.text.dialect import Said
from analyzer.formats.text.service_job import job_named_in
from analyzer.model import JobKey

_SLURM = re.compile(r"^(?:\S+: )?(?:srun|slurmstepd|slurmd|sbatch|salloc|scontrol): ")
_SLURM_JOB = re.compile(r"\b(?:StepId=|STEP |JobId=|JOB |SLURM_JOB_ID=|Submitted batch job )(\d+)")
_SLURM_FILE = re.compile(r"\bslurm-(\d+)(?:_\d+)?\.(?:out|err|log)$")  # Slurm's own default name, slurm-%j.out


def recognize_plain(head: Sequence[str], name: str) -> Plain:
    """The dialect of any other text."""
    slurm = [line for line in head if _SLURM.match(line) or "Submitted batch job" in line]
    if slurm or _SLURM_FILE.search(name):
        return Plain("slurm", _slurm_job(slurm, name))
    named = {job for line in head if (job := job_named_in(line)) is not None}
    job = named.pop() if len(named) == 1 else None
    return Plain(job.platform if job else None, job)


class Plain:
    """Gives every line as it stands, for the platform and job that the head tells."""

    def __init__(self, platform: str | None, job: JobKey | None) -> None:
        self._job = job
        self._fields = {"platform": platform} if platform else {}

    def read(self, line: str) -> Said | None:
        """The line."""
        return Said(text=line, job=self._job, fields=self._fields)


def _slurm_job(lines: Sequence[str], name: str) -> JobKey | None:
    ids = {found[1] for line in lines if (found := _SLURM_JOB.search(line))}
    if not ids and (named := _SLURM_FILE.search(name)):
        ids = {named[1]}
    return JobKey("slurm", "", ids.pop()) if len(ids) == 1 else None
