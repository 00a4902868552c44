"""The documented restart rules of each platform, read from `rules/tables/restart_policies.yaml`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec

from analyzer.facts.tables import table


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a platform does when a container or a machine dies. A limit is null where the platform documents none.

    `worker_restarts`: restarts of one worker in one attempt before the whole job is tried again. `job_retries`: how
    often the whole job is tried again. `internal_attempts`: attempts in all where the service itself fails.
    `spot_restarts`: restarts of a preempted Spot job. `transient_exit_codes` lead to a new attempt of the whole job.
    `runner_signals`: built-in runners give a signal's bare number. `primary_exit_ends_job`: a service runs the job, and
    its primary replica's exit with 0 is its success. `moved_means`: the reason of a run that went on elsewhere.
    `replaced`: what another machine under the only replica means: a `retry` of the job, or a `move` within it.
    `exit_reasons`: exit codes that the platform itself gives, as reasons of a run. `timeout`, `flex_start_wait`: how
    long a job may run, and one of strategy FLEX_START wait for machines, where its description says nothing (seconds).
    """

    worker_restarts: int | None = None
    job_retries: int | None = None
    internal_attempts: int | None = None
    spot_restarts: int | None = None
    transient_exit_codes: list[int] = []
    runner_signals: bool = False
    primary_exit_ends_job: bool = False
    moved_means: str = "unknown"
    replaced: str = "move"
    exit_reasons: dict[int, str] = {}
    checkpoint_hours: float | None = None
    timeout: float | None = None
    flex_start_wait: float | None = None
    sources: list[str] = []


class Limits(msgspec.Struct, frozen=True):
    """The limits that hold for one job: the platform's, or what the job's own description says.

    `restart_job`: a worker's restart restarts the whole job. `retries_off`: the description switches retries off.
    `timeout`, `wait`: how long the job may run, and wait for machines, before the service ends it (seconds).
    """

    worker_restarts: int | None
    job_retries: int | None
    spot: bool
    strategy_stated: bool = False
    restart_job: bool = False
    retries_off: bool = False
    timeout: float | None = None
    wait: float | None = None


@cache
def policies() -> dict[str, Policy]:
    """All policies by platform.

    Raises:
        RuleError: where the table is not as it must be.
    """
    return table("restart_policies", dict[str, Policy])


def policy_of(platform: str) -> Policy:
    """The policy of a platform; that of a plain machine where the platform has none of its own."""
    known = policies()
    return known.get(platform) or known["local"]


def limits_of(policy: Policy, descriptions: Sequence[dict[str, Any]]) -> Limits:
    """The limits of a job, with what its descriptions say about retries, times and Spot."""
    scheduling: dict[str, Any] = {}
    retries = policy.job_retries
    for fields in descriptions:
        given = fields.get("scheduling")
        scheduling.update(given if isinstance(given, dict) else {})
        if isinstance(fields.get("restart_limit"), int):
            retries = fields["restart_limit"]
    strategy = str(scheduling.get("strategy") or scheduling.get("provisioning_model") or "").upper()
    off = scheduling.get("disableRetries") is True
    # `disableRetries` overrides `restartJobOnWorkerRestart` (documented); with the latter no restart stays a worker's.
    restart_job = scheduling.get("restartJobOnWorkerRestart") is True and not off
    wait = _seconds(scheduling, "maxWaitTime", "maxWaitDuration")
    if wait is None and strategy.endswith("FLEX_START"):
        wait = policy.flex_start_wait
    return Limits(
        worker_restarts=None if restart_job else policy.worker_restarts,
        job_retries=0 if off else None if restart_job else retries,
        spot=strategy.endswith("SPOT"),
        strategy_stated=bool(strategy),
        restart_job=restart_job,
        retries_off=off,
        timeout=_seconds(scheduling, "timeout", "maxRunningTime", "max_run_duration") or policy.timeout,
        wait=wait or None,  # documented: 0 waits without end
    )


def _seconds(scheduling: dict[str, Any], *keys: str) -> float | None:
    for key in keys:
        text = str(scheduling.get(key) or "").removesuffix("s")
        try:
            return float(text)
        except ValueError:
            continue
    return None
