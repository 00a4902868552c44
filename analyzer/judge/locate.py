"""Where the root cause happened: the replica, and the process in it.

The proving line's speaker is not always the place: a coordinator names the host whose chip is bad, a kernel names no
process, Horovod's first rank names the one that it waits for. So whom the line blames comes before who says it, and
where it says neither, what tells of the same failure does: the machine, the process that failed of it, the launcher.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from analyzer.entries import Story
from analyzer.judge.candidates import Candidate, exit_code_of, rank_of
from analyzer.judge.course import Course
from analyzer.judge.replicas import names_of
from analyzer.judge.weigh import MACHINES, PEER_TROUBLE
from analyzer.model import Message, Origin
from analyzer.rulebook import Finding, Role
from analyzer.timeline.evidence import number_in
from analyzer.timeline.names import Names, pool_of

_WELL = frozenset(("stopped", "completed"))
_WAITED = "timeout.collective."


class Place(msgspec.Struct, frozen=True):
    """A replica as its entries spell it, and a global rank; None where it is not known."""

    replica: str | None = None
    rank: int | None = None


def locate(
    chosen: Candidate,
    explained: Sequence[Candidate],
    messages: Sequence[Message],
    findings: Sequence[Finding],
    story: Story,
    course: Course,
) -> Place:
    """Where the chosen cause happened; `explained` are the candidates that it explains."""
    finding, names = chosen.finding, names_of(story)
    rank = rank_of(finding)
    blamed = _blamed(finding, names, story, course)
    if blamed is not None:
        return Place(blamed, rank if finding.message.replica in (None, blamed) else None)
    if rank is not None and rank != finding.message.rank and (speaks := _replica_with(rank, messages)) is not None:
        return Place(speaks, rank)
    own = _ended_of_pool(chosen.replica, course) or _on_node(finding, story, names)
    if own is not None and rank is not None:
        return Place((_task_of(rank, messages, findings) if own == f"rank{rank}" else None) or own, rank)
    noticed = _noticed(chosen, explained)
    if own is not None and (task := _task_on(own, story, findings)) is not None:
        return task
    if own is not None:
        same = noticed is not None and (noticed.replica == own or _is_machine(own, story))
        return Place(own, noticed.rank if noticed is not None and same else None)
    if (part := _same_container(finding, findings)) is not None:
        return Place(part)
    found = noticed or _evicted(chosen, explained, story) or _first_to_fail(finding, findings)
    if found is not None:
        return found
    beside = _told_beside(finding, findings) or _the_failing(findings, story, course)
    return Place(beside or _only_container(finding, course, story), rank)


def _blamed(finding: Finding, names: Names, story: Story, course: Course) -> str | None:
    """Whom a line blames that another one says: a task, a host or a machine.

    A peer that could not be reached is not to blame where it is known to have worked on until it was stopped.
    """
    told = finding.values.get("culprit")
    if told is None:
        return None
    found = set(names.blamed(told)) or _on_machine(told, story)
    if not found:
        return told
    pair = course.run_at(finding.message.replica, finding.time)
    beside = {lane.name for lane in pair[0].replicas} if pair else set()
    replica = max(found & beside or found)
    well = finding.rule.category == "network" and _worked_on(replica, finding, course)
    return None if well else replica


def _worked_on(replica: str, finding: Finding, course: Course) -> bool:
    """Whether a replica is stated to have ended only after a message, and well or since the service stopped it."""
    pair = course.run_at(replica, finding.time)
    if pair is None or pair[1].end is None or finding.time is None:
        return False
    return pair[1].reason in _WELL and "end" not in pair[1].deduced and pair[1].end >= finding.time


def _on_machine(node: str, story: Story) -> set[str]:
    """The replicas whose lines come from a machine."""
    return {e.replica for e in story.entries if e.node == node and e.replica and e.replica != "service"}


def _replica_with(rank: int, messages: Sequence[Message]) -> str | None:
    """The only replica whose lines carry a rank."""
    found = {message.replica for message in messages if message.rank == rank and message.replica}
    return found.pop() if len(found) == 1 else None


def _ended_of_pool(replica: str | None, course: Course) -> str | None:
    """The replica whose end with an exit code is stated, where the platform names only its pool; else what it names."""
    failing = course.failing_run()
    if replica is None or failing is None or failing[0] == replica or pool_of(failing[0]) != replica:
        return replica
    return failing[0] if failing[2].exit_code is not None and "exit_code" not in failing[2].deduced else replica


def _on_node(finding: Finding, story: Story, names: Names) -> str | None:
    """The replica on the machine that the proving line speaks of; where machines are the replicas, the machine."""
    entry = finding.message.first
    node = finding.values.get("node") or entry.node or str(entry.fields.get("resource") or "").rsplit("/", 1)[-1]
    if not node:
        return None
    there = _on_machine(node, story)
    if len({names.stable(name) for name in there}) == 1:  # one, or one and its successors
        return min(there)
    return node if story.key.platform in ("slurm", "compute", "tpu", "local") and not there else None


def _is_machine(replica: str, story: Story) -> bool:
    """Whether a replica is only a machine's name."""
    return all(entry.replica != replica for entry in story.entries)


def _task_on(machine: str, story: Story, findings: Sequence[Finding]) -> Place | None:
    """The only task that ran on a machine, where a launcher tells of how tasks on it ended."""
    if not _is_machine(machine, story):
        return None
    ends = (f.values for f in findings if f.event == "task_exit" and f.values.get("task"))
    tasks = {values["task"].strip("[]") for values in ends if values.get("node") == machine}
    return Place(f"task {min(tasks)}") if len(tasks) == 1 and min(tasks).isdecimal() else None


def _noticed(chosen: Candidate, explained: Sequence[Candidate]) -> Place | None:
    """The first process that failed of what a machine's line tells."""
    if chosen.finding.message.origin not in MACHINES:
        return None
    failed = [
        other
        for other in explained
        if other.explained_by is chosen
        and other.finding.role is Role.ROOT
        and other.finding.message.origin not in MACHINES
        and other.finding.rule.category not in PEER_TROUBLE
        and (other.finding.message.replica or rank_of(other.finding) is not None)
    ]
    first = min(failed, key=lambda other: other.position, default=None)
    return None if first is None else Place(first.replica, rank_of(first.finding))


def _told_beside(finding: Finding, findings: Sequence[Finding]) -> str | None:
    """The replica that another finding on the same message names: a service quotes the program's last words."""
    same = (other.values.get("replica") for other in findings if other.message is finding.message)
    return next((name for name in same if name), None)


def _same_container(finding: Finding, findings: Sequence[Finding]) -> str | None:
    """Who ran in the YARN container that the proving line names, by another line that names both."""
    container = finding.values.get("container") or ""
    if not container.startswith("container_"):
        return None
    named = (f.values.get("replica") for f in findings if f.values.get("container") == container)
    return next((name for name in named if name), None)


def _the_failing(findings: Sequence[Finding], story: Story, course: Course) -> str | None:
    """The only replica that failed, where the proving line has no speaker: the platform says who ended so."""
    failing = course.failing_run()
    if failing is None or failing[0] == story.key.id:
        return None
    told = {finding.values.get("replica") for finding in findings} | {entry.replica for entry in story.entries}
    ends = {replica for _, replica, _ in course.deaths()}
    return failing[0] if failing[0] in told and ends <= {failing[0]} else None


def _only_container(finding: Finding, course: Course, story: Story) -> str | None:
    """The container that output without a speaker is of, where the job has only one, which a description names."""
    named = {entry.replica for entry in story.entries}
    names = {lane.name for attempt in course.timeline.attempts for lane in attempt.replicas} & named
    return names.pop() if len(names) == 1 and finding.message.origin is Origin.TEXT else None


def _task_of(rank: int, messages: Sequence[Message], findings: Sequence[Finding]) -> str | None:
    """Slurm's task that a rank is in: the one that failed, or the one of its number where each task is one rank."""
    ended = [f for f in findings if f.event == "task_exit" and exit_code_of(f) != 0]
    tasks = {task for f in ended if (task := number_in(f.values, "task")) is not None}
    ranks = {message.rank for message in messages if message.rank is not None}
    if len(tasks) == 1 and len({f.values.get("task") or f.values.get("tasks") for f in ended}) == 1:
        return f"task {tasks.pop()}"
    return f"task {rank}" if rank in tasks and ranks <= tasks else None


def _evicted(chosen: Candidate, explained: Sequence[Candidate], story: Story) -> Place | None:
    """The pod of the job that was moved off a machine which was taken away."""
    if chosen.finding.rule.category != "preemption":
        return None
    moved = [f for other in (chosen, *explained) for f in (other.finding, *other.others)]
    ours = {entry.replica for entry in story.entries}
    pods = [pod for f in moved if (pod := f.values.get("pod"))]
    return next((Place(pod) for pod in pods if pod in ours or pod.startswith(f"{story.key.id}-")), None)


def _first_to_fail(finding: Finding, findings: Sequence[Finding]) -> Place | None:
    """The process that a launcher names; not one that only waited in a collective for the one that failed by itself.

    Where all others waited for it, it is the one that is missing among them.
    """
    named = _named_by_launcher(findings)
    if finding.message.kind != "traceback" or finding.rule.category in PEER_TROUBLE or named is None:
        return named
    waited = {rank for f in findings if f.rule.id.startswith(_WAITED) and (rank := rank_of(f)) is not None}
    if named.replica not in {f"rank{rank}" for rank in waited}:
        return named
    missing = set(range(max(waited))) - waited
    return Place(f"rank{min(missing)}", min(missing)) if len(missing) == 1 else None


def _named_by_launcher(findings: Sequence[Finding]) -> Place | None:
    """The process that a launcher or scheduler names as the first to fail, where the proving line names none.

    A task of Slurm is a rank: srun counts its tasks over all machines of the step.
    """
    for finding in findings:
        if finding.role in (Role.VERDICT, Role.CASCADE) and exit_code_of(finding) != 0:
            rank = rank_of(finding) if "rank" in finding.values or "task" in finding.values else None
            local, task = finding.values.get("local_rank"), finding.values.get("task")
            if rank is None and local is not None:
                return Place(f"rank{local}")
            if rank is not None or task is not None:
                return Place(f"task {task}" if task is not None else f"rank{rank}", rank)
            if finding.values.get("replica") and exit_code_of(finding) is not None:
                return Place(finding.values["replica"])
    return None
