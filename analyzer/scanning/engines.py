"""Who does the work: this process, or a pool of processes. Cluster engines have modules of their own.

All give the same result: what is to do is settled before, and results are put together in no order that matters.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType
from typing import Protocol, TypeVar

from analyzer.errors import DiagnoseError
from analyzer.scanning.parts import Done, Part

Task = TypeVar("Task")
Result = TypeVar("Result")
Read = tuple[Done, list[Part]]
Trace = TracebackType | None


class Engine(Protocol):
    """Runs a function over tasks. `is_remote`: elsewhere, so that tasks carry all that they need."""

    is_remote: bool

    def read(self, work: Callable[[Task], Read], units: Iterable[Task]) -> Iterator[Read]:
        """Reads units, in any order."""
        ...

    def run(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """The results, in any order."""
        ...

    def __enter__(self) -> Engine: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Trace) -> None: ...


class InProcess:
    """Does one task after the other."""

    is_remote = False

    def read(self, work: Callable[[Task], Read], units: Iterable[Task]) -> Iterator[Read]:
        """Reads one unit after the other."""
        return self.run(work, units)

    def run(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """The results in order."""
        return map(work, tasks)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Trace) -> None:
        return None


class Pool:
    """Several processes, each started anew, so that they share nothing by accident; few tasks are under way at once."""

    is_remote = False

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Engine:
        anew = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(self._workers, mp_context=anew, initializer=_serve)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Trace) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=error is None, cancel_futures=True)

    def read(self, work: Callable[[Task], Read], units: Iterable[Task]) -> Iterator[Read]:
        """Reads units, in the order in which they are finished."""
        return self.run(work, units)

    def run(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """The results as they come.

        Raises:
            DiagnoseError: if a worker process was killed.
        """
        assert self._pool is not None
        waiting = iter(tasks)
        running: set[Future[Result]] = set()
        try:
            while True:
                while len(running) < self._workers + 1 and (task := next(waiting, None)) is not None:
                    running.add(self._pool.submit(work, task))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        except BrokenProcessPool as error:
            raise DiagnoseError(
                "a worker process was killed, by the system or for memory",
                advice="run the same command again: it goes on where it stopped; fewer --workers need less memory",
            ) from error


def _serve() -> None:
    """Leaves Ctrl-C to the process that the user speaks to, and ends when that one is gone, however it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # the main thread may wait for a task that nobody sends any more
