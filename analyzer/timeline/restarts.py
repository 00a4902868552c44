"""Counts restarts by kind, and how much of the platform's limits they used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import msgspec

from analyzer.model import Budgets, Restarts
from analyzer.timeline.attempts import Try
from analyzer.timeline.lives import Life
from analyzer.timeline.policy import Limits, Policy


class Count(msgspec.Struct):
    """Restarts of a job: by kind, by replica, and the most that one worker had within one attempt."""

    kinds: Restarts
    by_replica: dict[str, int]
    most_in_attempt: dict[str, int]


def count(tries: Sequence[Try], stated: Mapping[str, int], retries: int) -> Count:
    """Counts restarts.

    `stated`: restarts of a replica's container that a description or event counts itself; `retries`: the same for
    retries of the whole job.
    """
    kinds = Restarts(job_retries=max(len(tries) - 1, retries, 0))
    by_replica: dict[str, int] = {}
    most: dict[str, int] = {}
    for attempt in tries:
        for lives in attempt.lanes().values():
            counted = 0
            for before, life in pairwise(lives):
                kind = _kind(before, life)
                setattr(kinds, kind, getattr(kinds, kind) + 1)
                by_replica[life.replica] = by_replica.get(life.replica, 0) + 1
                counted += kind == "in_place"
            if counted:
                name = lives[-1].replica
                most[name] = max(most.get(name, 0), counted)
    for name, number in sorted(stated.items()):
        _add_stated(name, number, kinds, by_replica, most)
    _add_group_restarts(tries, kinds, by_replica)
    return Count(kinds, dict(sorted(by_replica.items())), dict(sorted(most.items())))


def _kind(before: Life, life: Life) -> str:
    if life.doomed:
        return "doomed"
    moved = before.node is not None and life.node is not None and before.node != life.node
    return "moved" if moved else "in_place"


def _add_stated(name: str, number: int, kinds: Restarts, by_replica: dict[str, int], most: dict[str, int]) -> None:
    missing = number - by_replica.get(name, 0)
    if missing > 0:
        kinds.in_place += missing
        by_replica[name] = number
        most[name] = max(most.get(name, 0), number)


def _add_group_restarts(tries: Sequence[Try], kinds: Restarts, by_replica: dict[str, int]) -> None:
    """Adds restarts of processes inside a container, where nothing else was restarted for them.

    All launchers of a job start their processes again together, so the most that one of them counts is the job's.
    """
    for attempt in tries:
        if any(len(lives) > 1 for lives in attempt.lanes().values()):
            continue
        counts = {life.replica: max(life.group_count, len(life.group_restarts)) for life in attempt.lives}
        name = max(sorted(counts), key=lambda n: counts[n], default=None)
        if name is not None and counts[name] and not by_replica:
            kinds.in_place += counts[name]
            by_replica[name] = by_replica.get(name, 0) + counts[name]


def budgets(tries: Sequence[Try], counted: Count, policy: Policy, limits: Limits, spot: bool) -> Budgets:
    """How much of each limit was used; "?" where the platform documents none and the job states none."""
    workers = {name: f"{used}/{_shown(limits.worker_restarts)}" for name, used in counted.most_in_attempt.items()}
    retries = counted.kinds.job_retries
    if not retries and limits.job_retries is None:
        return Budgets(worker_restarts=workers)
    return Budgets(worker_restarts=workers, job_retries=f"{retries}/{_shown(retry_limit(tries, policy, limits, spot))}")


def retry_limit(tries: Sequence[Try], policy: Policy, limits: Limits, spot: bool) -> int | None:
    """How often the job may be tried again, by what its attempts ended of."""
    reasons = {attempt.end_reason for attempt in tries}
    if "internal" in reasons and policy.internal_attempts is not None:
        return policy.internal_attempts - 1 if reasons <= {"internal", None} else limits.job_retries
    if (spot or "preemption" in reasons) and policy.spot_restarts is not None:
        return policy.spot_restarts
    return limits.job_retries


def _shown(limit: int | None) -> str:
    return "?" if limit is None else str(limit)
