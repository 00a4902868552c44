"""Names of replicas: a service's message says "worker 2" where its log entries say `worker-replica-2`."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SPOKEN = re.compile(r"(master|chief|worker|ps|evaluator)(?:[ -]replica)?[ -](\d+)")
_POOL = re.compile(r"(workerpool\d+|master-replica|worker-replica|ps-replica|evaluator-replica|chief-replica)(?:-\d+)?")
_HOST = re.compile(
    r"\bcmle-training-(?P<pool>workerpool\d+|master|chief|worker|ps|evaluator)-[0-9a-f]+-(?P<number>\d+):"
)
"""A host in the cluster specification that the training service's runner prints at each start."""


class Names:
    """The names of a job's replicas as its entries spell them.

    `declared` are those that the job's description or its cluster specification says it has.
    """

    def __init__(self, names: Iterable[str | None], declared: Iterable[str] = ()) -> None:
        self.declared = frozenset(declared)
        self.known = {name for name in names if name and name != "service"}
        self._by_fold = {_fold(name): name for name in sorted(self.known)}

    def resolve(self, name: str | None) -> str | None:
        """The name as the entries spell it; for one that no entry has, the spelling of the platform's task names."""
        if name is None or name == "service" or name in self.known:
            return None if name == "service" else name
        spoken = _SPOKEN.fullmatch(name)
        return self._by_fold.get(_fold(name)) or (f"{spoken[1]}-replica-{spoken[2]}" if spoken else name)

    def of_pool(self, pool: str) -> str:
        """The replica that a pool consists of; the pool's name where it has several, or where none of it is known."""
        members = [name for name in sorted(self.known) if name != pool and pool_of(name) == pool]
        return members[0] if len(members) == 1 else pool


def cluster_of(text: str) -> set[str]:
    """The replicas in a cluster specification."""
    return {
        f"{host['pool']}{'' if host['pool'].startswith('workerpool') else '-replica'}-{host['number']}"
        for host in _HOST.finditer(text)
    }


def pool_of(name: str) -> str:
    """The pool that a replica's name begins with; the name itself where it names none."""
    found = _POOL.match(name)
    return found[1].removesuffix("-replica") if found else name


def _fold(name: str) -> str:
    spoken = _SPOKEN.fullmatch(name.lower())
    return f"{spoken[1]}-{spoken[2]}" if spoken else name.lower()
