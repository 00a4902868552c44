"""The pool of processes: order, errors and losses, whatever a process is doing when it goes."""

from __future__ import annotations

import multiprocessing
import os
import time

import pytest

from analyzer.errors import DiagnoseError, NothingToDiagnose
from analyzer.scanning.engines import Pool

BIG = 20_000_000
"""Bytes; no pipe holds as many, so that whoever answers with them waits for a reader."""


def doubled(number: int) -> int:
    """What any worker can do."""
    return 2 * number


def picky(number: int) -> int:
    """Refuses one task with an error of the program's own, and fails at another with one that no pipe carries."""
    if number == 3:
        raise NothingToDiagnose("holds no log", where="x.log")
    if number == 4:
        raise type("Local", (Exception,), {})("odd")
    return number


def answer_of_size(size: int) -> tuple[int, bytes]:
    """Who answers, and so many bytes."""
    return os.getpid(), bytes(size)


def test_every_task_is_done_once_and_the_processes_serve_again() -> None:
    """In any order; a second run uses the processes of the first, and none is left at the end."""
    with Pool(3) as pool:
        assert sorted(pool.run(doubled, range(100))) == [2 * number for number in range(100)]
        first = {child.pid for child in multiprocessing.active_children()}
        assert list(pool.run(doubled, [])) == []
        assert sorted(pool.run(doubled, range(2))) == [0, 2]
        assert {child.pid for child in multiprocessing.active_children()} == first
    assert not multiprocessing.active_children()


def test_an_error_is_told_as_it_was() -> None:
    """The program's own by its class and sentence, any other at least by its name."""
    with Pool(2) as pool:
        with pytest.raises(NothingToDiagnose, match=r"^x\.log: holds no log"):
            list(pool.run(picky, [3]))
        with pytest.raises(RuntimeError, match="Local: odd"):
            list(pool.run(picky, [4]))
        assert sorted(pool.run(picky, [1, 2])) == [1, 2]


def test_a_run_that_is_left_leaves_no_answer_to_the_next() -> None:
    """Whoever stops reading results gets only those of the tasks that he gives next."""
    with Pool(2) as pool:
        results = pool.run(doubled, range(1000))
        next(results)
        results.close()
        assert sorted(pool.run(doubled, [100_000, 200_000])) == [200_000, 400_000]


@pytest.mark.parametrize("size", [0, BIG], ids=["idle", "answering"])
def test_a_killed_process_is_told_whatever_it_was_doing(size: int) -> None:
    """Also in the middle of an answer, of which the rest never comes; the others are not held up and leave."""
    with Pool(2) as pool:
        results = pool.run(answer_of_size, [0, size, 0, 0, 0, 0])
        pid, _ = next(results)
        (other,) = (child for child in multiprocessing.active_children() if child.pid != pid)
        time.sleep(1)  # until it has begun its answer, which nobody takes meanwhile
        other.kill()
        with pytest.raises(DiagnoseError, match="a worker process was killed"):
            list(results)
    assert not multiprocessing.active_children()
