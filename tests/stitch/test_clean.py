"""Clean text is what a person would read on a screen, without what launchers put before it."""

from __future__ import annotations

import pytest

from analyzer.stitch.clean import clean


@pytest.mark.parametrize(
    ("text", "rank", "cleaned"),
    [
        ("[rank3]:   File", 3, "  File"),
        ("[rank3]: Traceback", 3, "Traceback"),
        ("[rank0]:[E702 11:02:17 ProcessGroupNCCL.cpp:1] x", 0, "[E702 11:02:17 ProcessGroupNCCL.cpp:1] x"),
        ("[default0]: loss 1", 0, "loss 1"),
        ("[trainer7]:loss 1", 7, "loss 1"),
        ("[1,2]<stderr>:  File", 2, "  File"),
        ("[1,12]<stdout>:loss", 12, "loss"),
        ("[1]<stderr>:boom", 1, "boom"),
        ("[1,mpirank:3,algo-1]<stderr>:boom", 3, "boom"),
        ("[prterun-h-811@1,4]<stdout>: loss", 4, "loss"),
        ("Tue Mar  2 12:00:00 2021[1,2]<stderr>:boom", 2, "boom"),
        ("2021-03-10T13:22:37.511Z: [1,2]<stderr>:  boom", 2, "  boom"),
        ("worker-3 | boom", None, "boom"),
        ("worker-3  |", None, ""),
        ("(RayTrainWorker pid=123, ip=10.0.0.1) boom", None, "boom"),
        ("(TrainWorker pid=7) [rank2]: boom", 2, "boom"),
        ("(MapWorker(MapBatches(Decode)) pid=3) boom", None, "boom"),
        ("(raylet, ip=10.0.0.2) boom", None, "boom"),
        ("[pod/fit-0/main] boom", None, "boom"),
    ],
)
def test_certain_prefixes_go(text: str, rank: int | None, cleaned: str) -> None:
    """A launcher's prefix is removed with one space at most, so that the text keeps its indentation."""
    assert clean(text) == (rank, cleaned)


@pytest.mark.parametrize(
    "text",
    [
        "Epoch 3: loss 0.1", "12:03:04 starting", "0: one of two", "[0] one of two", "node-5: one line", "[INFO] x",
        "[2031-01-02 03:04:05] x", "(pid 4) x", "(see note) x", "loss | 3", "[1/10] x", "[Rank 3] Watchdog caught",
        "wandb: x",
    ],
)  # fmt: skip
def test_ordinary_text_stays(text: str) -> None:
    """What merely looks like a prefix stays where a single line is all there is."""
    assert clean(text) == (None, text)


@pytest.mark.parametrize(
    ("labels", "rank"),
    [(("0: ", "1: "), 0), (("[0] ", "[1] "), 0), ((" 8: ", "10: "), 8), (("v100-n05: ", "v100-n06: "), None),
     (("fit-a-1 | ", "fit-a-2 | "), None), (("rank 4: ", "rank 5: "), 4)],
)  # fmt: skip
def test_doubtful_prefixes_go_where_lines_agree(labels: tuple[str, str], rank: int | None) -> None:
    """srun's task numbers, MPICH's ranks and host names go where the lines of the text carry them throughout."""
    text = "\n".join(f"{labels[n % 2]}  line {n}" for n in range(6))
    assert clean(text) == (rank, "\n".join(f"  line {n}" for n in range(6)))


@pytest.mark.parametrize(
    "text",
    [
        "1: first\n2: second\n3: third\n4: fourth",
        "step-1: a\nstep-1: b\nstep-2: c\nstep-2: d",
        "1: loss\nsaved\nsaved\nsaved\n1: loss\nsaved\nsaved\nsaved\n1: loss",
    ],
)
def test_lists_and_steps_are_no_prefixes(text: str) -> None:
    """Numbered lists, steps, and numbers that most lines lack are text."""
    assert clean(text)[1] == text


def test_stamps_of_a_collector_go() -> None:
    """A stamp that stands even before indented lines was put there by what collected the log."""
    lines = ["Traceback", "  File", "", "KeyError"]
    text = "\n".join(f"2031-01-02T03:04:05.12345678{n}Z {line}" for n, line in enumerate(lines))
    assert clean(text)[1] == "Traceback\n  File\n\nKeyError"


def test_stamps_of_a_logger_stay() -> None:
    """A logger's stamps are part of its lines."""
    text = "2031-01-02T03:04:05Z start\n2031-01-02T03:04:06Z step\n2031-01-02T03:04:07Z stop"
    assert clean(text)[1] == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("\x1b[31;1mboom\x1b[0m", "boom"),
        ("\x1b]0;title\x07boom", "boom"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("#033[33mboom#033[0m", "boom"),
        ("\\u001b[33mboom\\u001b[0m", "boom"),
        ("[36m(Worker pid=3)[0m boom", "boom"),
        ("waited [30m] of [2h]", "waited [30m] of [2h]"),
    ],
)
def test_colours_go(text: str, cleaned: str) -> None:
    """Escape sequences go in each spelling that log writers give them, even where the escape character was lost."""
    assert clean(text)[1] == cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("  1%|#  | 1/90\r  2%|#  | 2/90", "  2%|#  | 2/90"),
        ("\r100%|####| 9/9\r", "100%|####| 9/9"),
        ("1/10 [=>...]\x08\x08\x08\x08 2/10 [==>..]", " 2/10 [==>..]"),
        ("disk is full\r 10%|#", "disk is full\n 10%|#"),
        ("windows line\r\n", "windows line"),
        ("line\n", "line"),
        ("a\n\n", "a\n"),
    ],
)
def test_last_state_stays(text: str, cleaned: str) -> None:
    """Of a line that overwrites itself the last state stays, and every part that is no progress."""
    assert clean(text)[1] == cleaned
