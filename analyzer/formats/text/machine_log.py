"""Logs of machines and of batch schedulers: kernel, journal, syslog, serial console, slurmctld and slurmd."""

from __future__ import annotations

import re
from collections.abc import Sequence

from analyzer.formats.text.dialect import Said, share
from analyzer.model import JobKey, Origin

_UPTIME = re.compile(r"^(?:<\d+>)?\[ *\d{1,8}\.\d{6}\] ")
_ASCTIME = re.compile(r"^\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\] ")
_SYSLOG = re.compile(
    r"^(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)"
    r" (?P<host>[\w.-]+) (?P<unit>[\w./@()-]+?)(?:\[\d+\])?: "
)
_SCRIPT = re.compile(
    r"^.{0,120}?\b(?:google_metadata_script_runner(?:_adapt)?|startup-script|GCEMetadataScripts)(?:\[\d+\])?: "
    r"(?:\S+ GCEMetadataScripts: )?(?:INFO )?startup-script(?:-url)?: (?P<text>.*)$"
)
"""What a VM's startup script prints: the program's own output, that the guest agent writes into the machine's log."""
_OF_A_PROCESS = re.compile(r"^(?:\[rank\d{1,6}\]: ?|\[\d{1,9},\d{1,6}\]<std(?:out|err)>:)")
"""What launchers put before a process's own output, which people paste among a machine's lines."""
_PROMPT = re.compile(
    r"^(?:\[?[\w.-]+@(?P<at>[\w-]+)[\w.-]*[ :][^\]#$]{0,80}\]?)?[#$] (?:sudo )?"
    r"(?:ssh (?:-\S+ )*(?:[\w.-]+@)?(?P<to>[\w-]+)[\w.-]* |(?P<here>\S))"
)
"""A shell's prompt with a command, which names the machine that the lines below it are of: its own, or that of ssh."""
_UNITS = re.compile(
    r"^(?:kernel|kubelet|containerd|dockerd|systemd[\w-]*|sshd|node-problem-detector|google_\w+|crond?|audit.*"
    r"|nvidia[\w.-]*|rsyslogd|slurmd|dhclient|chronyd|snapd|NetworkManager|mcelog|rasdaemon)$",
    re.IGNORECASE,
)
_SLURM_TIME = re.compile(r"^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?\] ")
_SLURM_WORD = re.compile(
    r"\b(?:JobId=\d+|_?slurm_rpc|slurmctld|sched: |_?job_complete|update_node|node_did_resp|requeue)", re.I
)
_SLURMD_WORD = re.compile(
    r"\bStepId=\d+|\[job \d+\]|\b[Jj]ob \d+\b|\] \[\d+\.(?:batch|extern|interactive|\d+)\]|task/(?:affinity|cgroup)"
    r"|\bslurmd\b|\b(?:prolog|epilog)\b"
)
_SLURM_JOB = re.compile(r"\b(?:JobId=|StepId=|[Jj]ob )(\d+)|\] \[(\d+)\.(?:batch|extern|interactive|\d+)\]")
_SLURMD_FILE = re.compile(r"(?:^|[/\\.])slurmd[._-](?P<node>[A-Za-z0-9][\w-]*)(?:\.log)?$")
"""`SlurmdLogFile` with the machine's name in it (`%h`, `%n`; source: slurm.conf(5))."""


def recognize_machine(head: Sequence[str], name: str) -> Machine | None:
    """The dialect of a machine's own log: at least a third of the lines are the kernel's or a system service's."""
    return Machine() if share([_is_machine_line(line) for line in head]) > 0.33 else None


def recognize_slurm_daemon(head: Sequence[str], name: str) -> SlurmDaemon | None:
    """The dialect of Slurm's controller, or of its daemon on a machine."""
    if share([_SLURM_TIME.match(line) for line in head]) <= 0.6:
        return None
    if share([_SLURM_WORD.search(line) for line in head]) > 0.2:
        return SlurmDaemon(Origin.CLUSTER)
    if share([_SLURMD_WORD.search(line) for line in head]) <= 0.2:
        return None
    file = _SLURMD_FILE.search(name)
    return SlurmDaemon(Origin.NODE, file["node"] if file else None)


class Machine:
    """Reads lines of a machine's log; all are the machine's but what its startup script or a process printed."""

    def __init__(self) -> None:
        self._host: str | None = None

    def read(self, line: str) -> Said | None:
        """What a line says."""
        row = _SYSLOG.match(line)
        prompt = None if row else _PROMPT.match(line)
        if row:
            self._host = row["host"]
        elif prompt:
            self._host = prompt["to"] or prompt["at"] or self._host
        script = _SCRIPT.match(line)
        if script:
            return Said(text=script["text"], origin=Origin.REPLICA, replica=self._host, node=self._host)
        origin = Origin.TEXT if _OF_A_PROCESS.match(line) else Origin.NODE
        return Said(text=line, origin=origin, node=self._host)


class SlurmDaemon:
    """Reads lines of slurmctld.log or slurmd.log; a line that names a job is that job's. `node`: slurmd's machine."""

    def __init__(self, origin: Origin, node: str | None = None) -> None:
        self._origin, self._node = origin, node

    def read(self, line: str) -> Said | None:
        """What a line says; None for one without the daemon's time."""
        if not _SLURM_TIME.match(line):
            return None
        job = _SLURM_JOB.search(line)
        return Said(
            text=line,
            severity="ERROR" if "] error:" in line else "INFO",
            origin=self._origin,
            job=JobKey("slurm", "", job[1] or job[2]) if job else None,
            node=self._node,
            fields={"platform": "slurm"},
        )


def _is_machine_line(line: str) -> bool:
    if _UPTIME.match(line) or _ASCTIME.match(line):
        return True
    row = _SYSLOG.match(line)
    return row is not None and _UNITS.match(row["unit"]) is not None
