"""Lines that look like a container's first ones, and whether they begin a life."""

from __future__ import annotations

import pytest
from chain import lines, timeline_of

from analyzer.model import Entry

OPENING = ((0.0, "walnut 3.1 (built for CUDA 12)"), (2.0, "reading the vocabulary"), (12.0, "model has 12 layers"))
SET_UP = (0.0, "service", "Waiting for training program to start.")


def evaluating(replicas: int, pause: float, *, steps: bool = True) -> list[Entry]:
    """A program that evaluates itself every 25 minutes in a process of its own, which prints the same opening."""
    said: list[tuple[float, str, str]] = [SET_UP]
    for n in range(replicas):
        name, at, step = f"workerpool{min(n, 1)}-{max(n - 1, 0)}", 40.0 + 3 * n, 0
        for _ in range(5):
            said += [(at + after, name, text) for after, text in OPENING]
            at += 20
            for _ in range(25):
                at, step = at + 60, step + 50
                said.append((at, name, f"step {step} loss 0.5" if steps else f"shard {step} is done"))
            at += pause
    return lines(*said)


def restarting(step: int) -> list[Entry]:
    """Three replicas, of which one prints its opening again and goes on from this step, the others from theirs."""
    said: list[tuple[float, str, str]] = [SET_UP]
    for n in range(3):
        name = f"workerpool1-{n}"
        said += [(40.0 + n + after, name, text) for after, text in OPENING]
        said += [(t, name, f"step {t} loss 0.5") for t in range(120, 3000, 60)]
    said = [line for line in said if not (line[1] == "workerpool1-1" and 1500 <= line[0] < 1600)]
    said += [(1550.0 + after, "workerpool1-1", text) for after, text in OPENING]
    return lines(*(
        (at, who, f"step {step} loss 0.5") if who == "workerpool1-1" and 1600 <= at < 1640 else (at, who, text)
        for at, who, text in said
    ))  # fmt: skip


@pytest.mark.parametrize("pause", [1, 5, 30, 120])
@pytest.mark.parametrize("steps", [True, False])
def test_an_opening_that_all_replicas_print_again_is_no_restart(pause: float, steps: bool) -> None:
    """That is how the program talks: nothing else tells of an end or a start."""
    assert timeline_of(evaluating(3, pause, steps=steps)).restarts_total == 0


@pytest.mark.parametrize("pause", [1, 5, 30, 120])
def test_a_lone_replica_whose_steps_go_on_was_not_restarted(pause: float) -> None:
    """Nobody else could have advanced its counter meanwhile."""
    assert timeline_of(evaluating(1, pause)).restarts_total == 0


@pytest.mark.parametrize("step", [20, 1620])
def test_one_replica_of_several_that_opens_again_was_restarted(step: int) -> None:
    """Its counter fell back, or the others went on with the common one while it was down."""
    assert timeline_of(restarting(step)).restarts_by_replica == {"workerpool1-1": 1}


def test_a_runner_that_waits_for_its_tpu_has_one_life() -> None:
    """The runner's words before the program, while a TPU is provisioned, are no life that ended."""
    said = lines(
        SET_UP,
        (30.0, "master-replica-0", "Checking the provisioning of TPU VM instance."),
        (40.0, "master-replica-0", "Still waiting for provisioning of TPU VM instance."),
        (250.0, "master-replica-0", "Running module trainer.task."),
        (300.0, "master-replica-0", "step 10 loss 0.5"),
    )
    assert timeline_of(said).restarts_total == 0


EXITED = (2000.0, "service", "The replica workerpool0-0 exited with a non-zero status of 1.")


def ending(opening: tuple[tuple[float, str], ...], end: tuple[tuple[float, str], ...], work: str) -> list[Entry]:
    """A replica that opens, works for half an hour, and ends with these lines; the service names its exit."""
    said = [(40.0 + after, "workerpool0-0", text) for after, text in opening]
    said += [(t, "workerpool0-0", work.format(t)) for t in range(240, 1980, 240)]
    said += [(1985.0 + after, "workerpool0-0", text) for after, text in end]
    return lines(SET_UP, *said, EXITED)


def test_a_traceback_caught_soon_after_the_start_is_no_opening() -> None:
    """What a program raised and overcame at its start may be raised again at its end."""
    raised = (
        "Traceback (most recent call last):",
        '  File "/app/fit.py", line 71, in fit',
        "    trainer.train()",
        "ValueError: the batch is too large",
    )
    caught = tuple((3.0 + n / 10, text) for n, text in enumerate(raised))
    said = ending(((0.0, "trying batch 64"), *caught), tuple((after - 3.0, text) for after, text in caught), "step {} loss 0.5")
    assert timeline_of(said).restarts_total == 0


def test_what_a_monitor_says_all_the_time_begins_no_life() -> None:
    """A line of the opening that also comes in the middle of the work tells nothing at its end."""
    monitor = "gpu-monitor: 0 62 C 97 %"
    said = ending(((0.0, "image 3.1"), (2.0, "copying weights"), (5.0, monitor)), ((0.0, monitor),), monitor)
    assert timeline_of(said).restarts_total == 0


def test_an_opening_after_a_named_exit_still_begins_a_life() -> None:
    """Lines that come at starts only are one, though the first of them is lost."""
    said = ending(OPENING, tuple((after + 30.0, text) for after, text in OPENING[1:]), "shard {} is done")
    assert timeline_of(said).restarts_total == 1
