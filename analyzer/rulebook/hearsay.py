"""Who says a line counts as much as what it says: a container's words on what only others can know are hearsay.

A training container may print anything: the service's own sentences, a scheduler's, samples of a data set of logs. It
is a witness of what happens inside it. How the whole job ended, that others ended it, and that machines were taken away
or could not be had, others know and say in logs of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from analyzer.model import Message, Origin
from analyzer.rulebook.match import Finding
from analyzer.rulebook.schema import EVENTS, Role

OF_A_REPLICA = frozenset((
    "container_start", "container_waiting", "container_exit", "container_succeeded", "stopped", "training_started",
    "step", "checkpoint_saved", "checkpoint_restored", "no_checkpoint", "training_done", "worker_restart",
    "worker_group", "peer_lost",
))  # fmt: skip
"""Events that are about the life of one container; all others are about the job or a machine."""

_OUTSIDE = frozenset(EVENTS) - OF_A_REPLICA
_DECIDED_OUTSIDE = frozenset(("cancelled", "preemption", "quota", "stockout", "timeout"))
_OUTSIDERS = frozenset((Origin.SERVICE, Origin.CLUSTER, Origin.STATUS, Origin.AUDIT))
_ONE_OUTPUT = frozenset(("slurm", "local"))  # there the scheduler's daemons write into the output of the job


def mark_hearsay(findings: Iterable[Finding], messages: Sequence[Message], platform: str) -> list[Finding]:
    """The findings with those marked that a container says of what only others can know.

    Where none of these others speaks in the job's log, a container's word is all there is, and stays.
    """
    if platform in _ONE_OUTPUT or not any(message.origin in _OUTSIDERS for message in messages):
        return list(findings)
    return [msgspec.structs.replace(f, hearsay=True) if _is_hearsay(f) else f for f in findings]


def _is_hearsay(finding: Finding) -> bool:
    """By what the rule tells, or by whom else it takes for its speaker.

    An exception is no hearsay as a cause: a call that the program made itself was refused.
    """
    rule = finding.rule
    if finding.message.origin is not Origin.REPLICA or (finding.message.exceptions and rule.role is Role.ROOT):
        return False
    told_by_others = not _OUTSIDERS.isdisjoint(rule.from_)
    conclusion = rule.role is Role.VERDICT and rule.event == "stopped"  # not a signal's trace
    return rule.event in _OUTSIDE or (told_by_others and (conclusion or rule.category in _DECIDED_OUTSIDE))
