"""Gives findings the replica that they are about, spelled as the job's entries spell it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from analyzer.entries import Story
from analyzer.rulebook import Finding
from analyzer.timeline.names import Names


def name_replicas(findings: Iterable[Finding], story: Story) -> list[Finding]:
    """The findings with canonical names in their values.

    A service says "worker 2" where entries say `worker-replica-2`. Where it names only a pool, a pool of one replica is
    that replica; else the pool's name stands for its replicas until another line tells which of them ended.
    """
    described = {str(name) for fields in story.descriptions for name in fields.get("replica_names") or ()}
    names = Names([*described, *(entry.replica for entry in story.entries)])
    return [_named(finding, names) for finding in findings]


def _named(finding: Finding, names: Names) -> Finding:
    replica, pool = finding.values.get("replica"), finding.values.get("pool")
    if replica is None and pool is None:
        return finding
    settled = names.resolve(replica) if replica is not None else names.of_pool(str(pool).split(",")[0].strip())
    if settled is None or settled == replica:
        return finding
    return msgspec.structs.replace(finding, values={**finding.values, "replica": settled})
