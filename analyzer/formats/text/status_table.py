"""Tables of states: `kubectl get pods`, and Slurm's `sacct`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from analyzer.formats.clock import any_instant
from analyzer.formats.identity import number
from analyzer.formats.part import Part, known
from analyzer.formats.text.table import Table, age_seconds, header_names
from analyzer.model import JobKey, Origin

_PODS = ("NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES")
_PODS_HEADER = re.compile(r"^(?:NAMESPACE\s+)?NAME\s+READY\s+STATUS\s+RESTARTS\s+AGE\b")
_PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown", "Completed")
_SACCT_HEADER = re.compile(r"^\s*JobID(?:Raw)?\s*[|\s].*\bState\b")
_SACCT = ("JobIDRaw", "JobID", "JobName", "Partition", "Account", "AllocCPUS", "State", "ExitCode", "DerivedExitCode",
          "Start", "End", "Elapsed", "NodeList", "MaxRSS", "ReqMem", "Submit", "User", "NNodes", "NCPUS", "Reason",
          "Timelimit", "MaxVMSize", "AllocTRES", "ReqTRES", "Comment", "Restarts", "Cluster")  # fmt: skip

Rows = Callable[[Sequence[str], int], Iterator[Part]]


def status_table(header: str) -> Rows | None:
    """The reader of the table that begins with this header line; None for a line that is none."""
    if _PODS_HEADER.match(header):
        return _pods
    return _sacct if _SACCT_HEADER.match(header) else None


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
        yield Part(
            text=line.strip(), fields=fields, job=JobKey("gke", "", row["NAME"]), replica=row["NAME"],
            node=node if node and node != "<none>" else None, line=place,
        )  # fmt: skip


def _sacct(lines: Sequence[str], first: int) -> Iterator[Part]:
    piped = "|" in lines[0]
    names = [name.strip() for name in lines[0].split("|")] if piped else header_names(lines[0], _SACCT)
    table = None if piped else Table(lines[0], names)
    for place, line in enumerate(lines[1:], first + 1):
        if set(line.strip()) <= set("- "):
            continue
        row = dict(zip(names, line.split("|"), strict=False)) if table is None else _cells(line, names, table)
        job_id = (row or {}).get("JobID") or (row or {}).get("JobIDRaw") or ""
        if row is not None and re.match(r"\d+", job_id.strip()):
            yield _step(row, job_id.strip(), line, place)


def _cells(line: str, names: Sequence[str], table: Table) -> dict[str, str] | None:
    parts = line.split()
    return dict(zip(names, parts, strict=True)) if len(parts) == len(names) else table.row(line)


def _step(row: dict[str, str], job_id: str, line: str, place: int) -> Part:
    job, _, step = job_id.partition(".")
    code, _, signal = row.get("ExitCode", "").strip().partition(":")
    state = row.get("State", "").strip()
    fields = known(
        kind="task" if step else "job",
        state=state.split(" ", 1)[0] or None,
        exit_code=number(code),
        signal=number(signal) or None,
        display_name=step or row.get("JobName", "").strip(),
        started=_stamp(row.get("Start")),
        finished=_stamp(row.get("End")),
        memory_limit=row.get("ReqMem", "").strip(),
        peak_memory=row.get("MaxRSS", "").strip(),
        platform="slurm",
    )
    nodes = row.get("NodeList", "").strip()
    return Part(
        text=line.strip(),
        fields=fields,
        job=JobKey("slurm", "", job.split("_", 1)[0]),
        node=nodes if nodes and "[" not in nodes and "," not in nodes else None,
        time=any_instant(_stamp(row.get("End"))),
        line=place,
        origin=Origin.CLUSTER,
    )


def _stamp(text: str | None) -> str | None:
    value = (text or "").strip()
    return value if any_instant(value) is not None else None
