"""Names of replicas: a service's message says "worker 2" where its log entries say `worker-replica-2`."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.expressions import expression

_SPOKEN = expression(r"(master|chief|worker|ps|evaluator)(?:[ -]replica)?[ -](\d+)")
_TASK = expression(r"/?job:(?P<job>\w+)(?:/replica:\d+)?/task:(?P<task>\d+)(?:/.*)?")
"""How TensorFlow names a task of its cluster."""
_RANDOM = expression(r"-(?=[a-z0-9]{5}$)(?:[b-df-hj-np-tv-z0-9]+|[a-z0-9]*[0-9][a-z0-9]*)$")
"""The ending that a controller gives to a pod: five letters and digits, without vowels or with a digit."""
_ENDS_WITH_INDEX = expression(r"-\d+$")
_INDEXED = expression(r"(?P<child>.*-\d+)-(?P<index>\d+)")
_GRID = expression(r"(?P<stem>.*?)(?:-(?P<child>\d{1,6}))?-(?P<index>\d{1,6})")
_POOL = expression(r"(workerpool\d+|master-replica|worker-replica|ps-replica|evaluator-replica|chief-replica)(?:-\d+)?")
_HOST = expression(
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
        self._single = _single_children(self.known)

    def resolve(self, name: str | None) -> str | None:
        """The name as the entries spell it; for one that no entry has, the spelling of the platform's task names."""
        if name is None or name == "service" or name in self.known:
            return None if name == "service" else name
        task = _TASK.fullmatch(name)
        if task:
            name = f"{task['job']} {task['task']}"
        spoken = _SPOKEN.fullmatch(name)
        same = self._by_fold.get(_fold(name)) or self._only_pod(name)
        return same or (f"{spoken[1]}-replica-{spoken[2]}" if spoken else name)

    def stable(self, name: str) -> str:
        """A pod's name without its random ending, where an index stands before it: the one that its successor keeps.

        Where each Job below a JobSet has a single pod, the Job's index says all: `set-w-3` for `set-w-3-0-x7k2q`.
        """
        stem = _RANDOM.sub("", name)
        if stem == name or not _ENDS_WITH_INDEX.search(stem):
            return name
        indexed = _INDEXED.fullmatch(stem)
        return indexed["child"] if indexed and self._single and indexed["index"] == "0" else stem

    def _only_pod(self, name: str) -> str | None:
        """The only pod whose name ends as a task is spoken of: `recsys-ps-0` for `ps 0`."""
        spoken = _SPOKEN.fullmatch(name.lower())
        ends = f"-{spoken[1]}-{spoken[2]}" if spoken else None
        pods = [known for known in self.known if ends and self.stable(known).endswith(ends)]
        return pods[0] if len(pods) == 1 else None

    def blamed(self, told: str) -> list[str]:
        """The replicas that a line means which names another one: its host, or its task in the cluster of the job.

        A host is a pod's name without its random ending, with or without the domain; all pods of that name are given.
        """
        task = _TASK.fullmatch(told)
        if task is None:
            host = told.partition(".")[0]
            return sorted(name for name in self.known if host in (name, _RANDOM.sub("", name)))
        if task["job"] == "jax_worker":
            only = self._only_pod(f"worker {task['task']}")
            return [only] if only else self._of_process(int(task["task"][:9]))
        resolved = self.resolve(told)
        return [resolved] if resolved in self.known else []

    def _of_process(self, number: int) -> list[str]:
        """The pods of a process of JAX, which counts the pods of a job, or those of a JobSet's jobs in their order.

        Nothing is known where pods are missing among several jobs, since their number is not told.
        """
        grid: dict[tuple[int, int], list[str]] = {}
        stems = set()
        for name in sorted(self.known):
            found = _GRID.fullmatch(_RANDOM.sub("", name))
            if found is None or found[0] == name:
                return []
            stems.add(found["stem"])
            grid.setdefault((int(found["child"] or 0), int(found["index"])), []).append(name)
        if len(stems) != 1:
            return []
        children = {child for child, _ in grid}
        if len(children) == 1:
            return grid.get((min(children), number), [])
        width = 1 + max(index for _, index in grid)
        whole = sorted(grid) == [(n // width, n % width) for n in range(len(grid))]
        return grid.get((number // width, number % width), []) if whole else []


def _single_children(names: Iterable[str]) -> bool:
    """Whether all pods with two indices are the only ones of their Job, and there are such pods."""
    indexed = [found for name in names if (found := _INDEXED.fullmatch(_RANDOM.sub("", name))) and found[0] != name]
    return bool(indexed) and all(found["index"] == "0" for found in indexed)


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
