"""Tables of states: `kubectl get pods` and of jobs of any kind, workflows and their steps, Slurm's `sacct`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from analyzer.formats.clock import any_instant
from analyzer.formats.identity import is_node_pod
from analyzer.formats.part import Part, known
from analyzer.formats.text.table import Table, age_seconds, header_names
from analyzer.model import JobKey, Origin
from analyzer.model.numbers import number

_PODS = ("NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES")
_PODS_HEADER = re.compile(r"^(?:NAMESPACE\s+)?NAME\s+READY\s+STATUS\s+RESTARTS\s+AGE(?!\S)")
_PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown", "Completed")
_STATE_COLUMNS = ("TERMINALSTATE", "STATE", "STATUS", "PHASE")
_JOB_STATES = (
    "SUCCEEDED", "COMPLETE", "COMPLETED", "FINISHED", "FAILED", "ERROR", "CANCELLED", "CANCELED", "RUNNING",
    "PENDING", "QUEUED",
)  # fmt: skip
_LISTED_BY = {"LOCATION": "batch", "ACCELERATOR_TYPE": "tpu"}
"""Columns by which the lists of `gcloud batch jobs` and `gcloud compute tpus` are known."""
_OTHER_OBJECTS = ("ROLES", "VOLUME", "CAPACITY", "CLUSTER-IP", "READY", "ENDPOINTS")
"""Columns of tables that list nodes, volumes or services: the states there are no job's."""
_SACCT_HEADER = re.compile(r"^\s*JobID(?:Raw)?(?=[|\s]).*\bState\b")
_SLURM_STATES = ("BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "DEADLINE", "FAILED", "NODE_FAIL",
                 "OUT_OF_MEMORY", "PENDING", "PREEMPTED", "REQUEUED", "RUNNING", "SUSPENDED", "TIMEOUT")  # fmt: skip

Rows = Callable[[Sequence[str], int], Iterator[Part]]


def status_table(header: str) -> Rows | None:
    """The reader of the table that begins with this header line; None for a line that is none."""
    if _PODS_HEADER.match(header):
        return _pods
    if _SACCT_HEADER.match(header):
        return _sacct
    columns = _cells(header)
    if columns[:1] == ["STEP"] and "PODNAME" in columns:
        return _steps
    is_jobs = "NAME" in columns and any(name in columns for name in _STATE_COLUMNS)
    return _jobs if is_jobs and not any(name in columns for name in _OTHER_OBJECTS) else None


def _cells(line: str) -> list[str]:
    return [
        cell.strip() for cell in (line.strip("| ").split("|") if "|" in line else re.split(r"\s{2,}", line.strip()))
    ]


_MARKS = {"✔": "Succeeded", "✖": "Failed", "⚠": "Error", "●": "Running", "◷": "Pending", "○": "Omitted"}
"""How `argo get` marks the phase of a node."""


def _steps(lines: Sequence[str], first: int) -> Iterator[Part]:
    """The steps of an Argo workflow that failed or ran in a pod, with the engine's message."""
    table = Table(lines[0], _cells(lines[0]))
    for place, line in enumerate(lines[1:], first + 1):
        row = table.row(line) or {}
        state = next((word for mark, word in _MARKS.items() if mark in row.get("STEP", "")), None)
        if state is None or not row["PODNAME"]:
            continue
        message = row.get("MESSAGE", "")
        fields = known(kind="task", state=state, pod=row["PODNAME"], display_name=row["STEP"].split()[-1])
        yield Part(text=message or line.strip(), fields=fields, replica=row["PODNAME"], line=place)


def _jobs(lines: Sequence[str], first: int) -> Iterator[Part]:
    """Jobs and executions with their state, by aligned columns or between bars."""
    columns = _cells(lines[0])
    state = next(columns.index(name) for name in _STATE_COLUMNS if name in columns)
    table = None if "|" in lines[0] else Table(lines[0], columns)
    platform = next((name for column, name in _LISTED_BY.items() if column in columns), "gke")
    for place, line in enumerate(lines[1:], first + 1):
        cells = _cells(line) if table is None else list((table.row(line) or {}).values())
        if len(cells) != len(columns) or cells[state].upper() not in _JOB_STATES:
            continue
        name = cells[columns.index("NAME")]
        fields = known(kind="job", state=cells[state], involved_name=name, listed=True, platform=platform)
        yield Part(text=line.strip(), fields=fields, line=place)


def _pods(lines: Sequence[str], first: int) -> Iterator[Part]:
    table = Table(lines[0], header_names(lines[0], _PODS))
    for place, line in enumerate(lines[1:], first + 1):
        row = table.row(line)
        if row is None or not re.fullmatch(r"\d+/\d+", row.get("READY", "")):
            continue
        status, node = row["STATUS"], row.get("NODE")
        fields = known(
            kind="pod",
            pod=row["NAME"],
            phase=status if status in _PHASES else None,
            reason=None if status in _PHASES else status.removeprefix("Init:"),
            restart_count=number(row["RESTARTS"].split(" ", 1)[0]),
            namespace=row.get("NAMESPACE"),
            age_seconds=age_seconds(row["AGE"]),
        )
        on = node if node and node != "<none>" else None
        if is_node_pod(row["NAME"], row.get("NAMESPACE")):
            yield Part(text=line.strip(), origin=Origin.NODE, node=on, line=place)
            continue
        job = JobKey("gke", "", row["NAME"])
        yield Part(text=line.strip(), fields=fields, job=job, replica=row["NAME"], node=on, line=place)


def _sacct(lines: Sequence[str], first: int) -> Iterator[Part]:
    cells = _piped(lines[0]) if "|" in lines[0] else _ruled(lines)
    for place, line in enumerate(lines[1:], first + 1):
        row = cells(line)
        job_id = row.get("JobID") or row.get("JobIDRaw") or ""
        if re.match(r"\d+", job_id):
            yield _step(row, job_id, line, place)


Cells = Callable[[str], dict[str, str]]


def _piped(header: str) -> Cells:
    names = [name.strip() for name in header.split("|")]
    return lambda line: dict(zip(names, (cell.strip() for cell in line.split("|")), strict=False))


def _ruled(lines: Sequence[str]) -> Cells:
    """Columns by the rule of dashes that sacct prints below its header; cells may be cut, but never run over."""
    rule = lines[1] if len(lines) > 1 and set(lines[1].strip()) == {"-", " "} else re.sub(r"\S", "-", lines[0])
    columns = [found.span() for found in re.finditer(r"-+", rule)]
    names = [lines[0][start:end].strip() for start, end in columns]
    return lambda line: {name: line[start:end].strip() for name, (start, end) in zip(names, columns, strict=True)}


def _step(row: dict[str, str], job_id: str, line: str, place: int) -> Part:
    job, _, step = job_id.partition(".")
    code, _, signal = row.get("ExitCode", "").partition(":")
    state = row.get("State", "")
    fields = known(
        kind="task" if step else "job",
        state=_whole(state.split(" ", 1)[0]) or None,
        exit_code=number(code),
        signal=number(signal) or None,
        display_name=step or row.get("JobName", ""),
        started=_stamp(row.get("Start")),
        finished=_stamp(row.get("End")),
        memory_limit=row.get("ReqMem", ""),
        peak_memory=row.get("MaxRSS", ""),
        platform="slurm",
    )
    nodes = row.get("NodeList", "")
    return Part(
        text=line.strip(),
        fields=fields,
        job=JobKey("slurm", "", job.split("_", 1)[0]),
        node=nodes if nodes and "[" not in nodes and "," not in nodes else None,
        time=any_instant(_stamp(row.get("End"))),
        line=place,
        origin=Origin.CLUSTER,
    )


def _whole(state: str) -> str:
    """A state in full, where the column was too narrow for it (`OUT_OF_ME+`)."""
    if not state.endswith("+"):
        return state
    return next((name for name in _SLURM_STATES if name.startswith(state[:-1])), state)


def _stamp(text: str | None) -> str | None:
    return text if any_instant(text) is not None else None
