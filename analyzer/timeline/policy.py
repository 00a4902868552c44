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
    `exit_reasons`: exit codes that the platform itself gives, as reasons of a run.
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
    sources: list[str] = []


class Limits(msgspec.Struct, frozen=True):
    """The limits that hold for one job: the platform's, or what the job's own description says."""

    worker_restarts: int | None
    job_retries: int | None
    spot: bool
    strategy_stated: bool = False
    timeout: float | None = None


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
    """The limits of a job, with what its descriptions say about retries and Spot."""
    scheduling: dict[str, Any] = {}
    retries = policy.job_retries
    for fields in descriptions:
        given = fields.get("scheduling")
        scheduling.update(given if isinstance(given, dict) else {})
        if isinstance(fields.get("restart_limit"), int):
            retries = fields["restart_limit"]
    strategy = str(scheduling.get("strategy") or scheduling.get("provisioning_model") or "").upper()
    if scheduling.get("disableRetries") is True:
        retries = 0
    return Limits(policy.worker_restarts, retries, strategy.endswith("SPOT"), bool(strategy), _timeout(scheduling))


def _timeout(scheduling: dict[str, Any]) -> float | None:
    for key in ("timeout", "maxRunningTime", "max_run_duration"):
        text = str(scheduling.get(key) or "").removesuffix("s")
        try:
            return float(text)
        except ValueError:
            continue
    return None
