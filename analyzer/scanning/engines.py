"""Who does the work: this process, or a pool of processes. Cluster engines have modules of their own.

All give the same result: what is to do is settled before, and results are put together in no order that matters.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, Protocol, TypeVar, cast

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
    """Several processes, each started anew and with a pipe of its own, so that they share nothing.

    One that is killed, even in the middle of its answer, is noticed at once and holds up nobody. The executor of
    `concurrent.futures` has one pipe for the answers of all, with a lock that a killed process keeps for ever.
    """

    is_remote = False

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._processes: dict[Connection, BaseProcess] = {}

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Trace) -> None:
        self._end()

    def read(self, work: Callable[[Task], Read], units: Iterable[Task]) -> Iterator[Read]:
        """Reads units, in the order in which they are finished."""
        return self.run(work, units)

    def run(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """The results as they come. A process has its next task before its last result is used.

        Raises:
            DiagnoseError: if a worker process was killed.
        """
        waiting = iter(tasks)
        busy: set[Connection] = set()
        try:
            busy.update(connection for connection in self._started() if _handed(connection, work, waiting))
            while busy:
                for connection in cast("list[Connection]", wait(list(busy))):  # PipeConnection, on Windows
                    result = _answer(connection)
                    if not _handed(connection, work, waiting):
                        busy.remove(connection)
                    yield result
        finally:
            if busy:  # what they still answer would be taken for results of the next tasks
                self._end()

    def _started(self) -> list[Connection]:
        anew = multiprocessing.get_context("spawn")
        while len(self._processes) < self._workers:
            ours, theirs = anew.Pipe()
            process = anew.Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            theirs.close()  # so that the end of the process is the end of the pipe
            self._processes[ours] = process
        return list(self._processes)

    def _end(self) -> None:
        """Kills them: an idle one has nothing left to do, a busy one nothing that anybody waits for."""
        processes, self._processes = self._processes, {}
        for connection, process in processes.items():
            process.kill()
            connection.close()
        for process in processes.values():
            process.join()


def _handed(connection: Connection, work: Callable[[Task], Result], waiting: Iterator[Task]) -> bool:
    """Whether there was a further task to give."""
    for task in waiting:
        with _loss_is_told():
            connection.send((work, task))
        return True
    return False


def _answer(connection: Connection) -> Any:
    with _loss_is_told():
        done, answer = connection.recv()
    if not done:
        raise answer
    return answer


@contextmanager
def _loss_is_told() -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError) as error:
        raise DiagnoseError(
            "a worker process was killed, by the system or for memory",
            advice="run the same command again: it goes on where it stopped; fewer --workers need less memory",
        ) from error


def _serve(connection: Connection) -> None:
    """A worker's life. Leaves Ctrl-C to the process that the user speaks to; ends with it, however it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # of the pipe alone: nobody asks or listens any more
        while True:
            work, task = connection.recv()
            connection.send(_attempted(work, task))


def _attempted(work: Callable[[Task], Result], task: Task) -> tuple[bool, Result | Exception]:
    """Whether it was done, and the result or what it failed with, as far as a pipe can carry that."""
    try:
        return True, work(task)
    except Exception as error:  # the border of a process: the one that gave the task is told
        try:
            pickle.dumps(error)
        except (pickle.PicklingError, AttributeError, TypeError):
            error = RuntimeError(f"{type(error).__name__}: {error}")
        error.add_note(traceback.format_exc())
        return False, error


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # the main thread may be in the middle of a long task
