"""Names of replicas: a service's message says "worker 2" where its log entries say `worker-replica-2`."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.expressions import expression

_SPOKEN = expression(r"(master|chief|worker|ps|evaluator)(?:[ -]replica)?[ -](\d+)")
_POOL = expression(r"(workerpool\d+|master-replica|worker-replica|ps-replica|evaluator-replica|chief-replica)(?:-\d+)?")


class Names:
    """The names of a job's replicas as its entries spell them."""

    def __init__(self, names: Iterable[str | None]) -> None:
        self.known = {name for name in names if name and name != "service"}
        self._by_fold = {_fold(name): name for name in sorted(self.known)}

    def resolve(self, name: str | None) -> str | None:
        """The name as the entries spell it; for one that no entry has, the spelling of the platform's task names."""
        if name is None or name == "service" or name in self.known:
            return None if name == "service" else name
        spoken = _SPOKEN.fullmatch(name)
        return self._by_fold.get(_fold(name)) or (f"{spoken[1]}-replica-{spoken[2]}" if spoken else name)


def pool_of(name: str) -> str:
    """The pool that a replica's name begins with; the name itself where it names none."""
    found = _POOL.match(name)
    return found[1].removesuffix("-replica") if found else name


def _fold(name: str) -> str:
    spoken = _SPOKEN.fullmatch(name.lower())
    return f"{spoken[1]}-{spoken[2]}" if spoken else name.lower()
