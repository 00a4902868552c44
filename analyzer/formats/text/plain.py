"""Plain program output: every line is what it is. The head may tell which job the whole text is of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from analyzer.formats.text.dialect import Said
from analyzer.formats.text.service_job import job_named_in
from analyzer.model import JobKey

_SLURM = re.compile(r"^(?:\S+: )?(?:srun|slurmstepd|slurmd|sbatch|salloc|scontrol): ")
_SLURM_JOB = re.compile(r"\b(?:StepId=|STEP |JobId=|JOB |SLURM_JOB_ID=|Submitted batch job )(\d+)")
_SQUEUE = re.compile(r"^\s*JOBID +PARTITION +NAME +USER +ST\b")
_SQUEUE_ROW = re.compile(r"^\s*(\d+)(?:_\S+)? +\S+ +\S")
_SLURM_FILE = re.compile(r"\bslurm-(\d+)(?:_\d+)?\.(?:out|err|log)$")  # Slurm's own default name, slurm-%j.out


_REPLICA_FILE = re.compile(
    r"(?:^|[/\\._-])(?P<name>(?:worker|task|host|rank|node|master|chief|ps|launcher|executor|process)[-_]?\d+)"
    r"(?=[._-]|$)(?!.*[/\\])"
)
"""Names of files in which launchers and people keep one process's output each (`worker-3.log`, `rank0.out`)."""


_TORCHRUN_FILE = re.compile(
    r"(?:^|[/\\])attempt_(?P<attempt>\d{1,9})[/\\](?P<rank>\d{1,9})[/\\](?:stderr|stdout)\.log$"
)
"""Where torchrun keeps the output of each local rank (`--log-dir`, by default below the run's id)."""


def recognize_plain(head: Sequence[str], name: str) -> Plain:
    """The dialect of any other text."""
    slurm = [line for line in head if _SLURM.match(line) or "Submitted batch job" in line]
    listed = next((at for at, line in enumerate(head) if _SQUEUE.match(line)), None)
    if listed is not None:
        ids = {row[1] for line in head[listed + 1 :] if (row := _SQUEUE_ROW.match(line))}
        return Plain("slurm", JobKey("slurm", "", ids.pop()) if len(ids) == 1 else _slurm_job(slurm, name))
    if slurm or _SLURM_FILE.search(name):
        return Plain("slurm", _slurm_job(slurm, name))
    named = {job for line in head if (job := job_named_in(line)) is not None}
    job = named.pop() if len(named) == 1 else None
    return Plain(job.platform if job else None, job, *_process_of(name))


class Plain:
    """Gives every line as it stands, for the platform and job that the head tells."""

    def __init__(
        self, platform: str | None, job: JobKey | None, replica: str | None = None, attempt: int | None = None
    ) -> None:
        self._job, self._replica, self._attempt = job, replica, attempt
        self._fields = {"platform": platform} if platform else {}

    def read(self, line: str) -> Said | None:
        """The line."""
        return Said(text=line, job=self._job, replica=self._replica, attempt=self._attempt, fields=self._fields)


def _process_of(name: str) -> tuple[str | None, int | None]:
    """The replica and the attempt that a file's name tells."""
    torchrun = _TORCHRUN_FILE.search(name)
    if torchrun:
        return f"rank{torchrun['rank']}", int(torchrun["attempt"])
    found = _REPLICA_FILE.search(name)
    return (found["name"] if found else None), None


def _slurm_job(lines: Sequence[str], name: str) -> JobKey | None:
    ids = {found[1] for line in lines if (found := _SLURM_JOB.search(line))}
    if not ids and (named := _SLURM_FILE.search(name)):
        ids = {named[1]}
    return JobKey("slurm", "", ids.pop()) if len(ids) == 1 else None
