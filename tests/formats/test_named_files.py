"""What the name of a file tells of the process whose output it holds."""

from __future__ import annotations

import pytest
from forms import entries_of


@pytest.mark.parametrize(
    ("name", "replica", "attempt"),
    [
        ("logs/worker-3.log", "worker-3", None),
        ("run7.rank0.out", "rank0", None),
        ("none_x1/attempt_1/4/stderr.log", "rank4", 1),
        ("worker-3/notes.txt", None, None),  # a folder is no process
        ("homework-3.log", None, None),
    ],
)
def test_a_file_of_one_process_names_it(name: str, replica: str | None, attempt: int | None) -> None:
    """Launchers keep each process's output in a file of its own."""
    entry = entries_of("step 1 loss 2.0\n", name)[0]
    assert (entry.replica, entry.attempt) == (replica, attempt)
