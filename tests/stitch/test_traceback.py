"""Lines of a traceback come together to one message, wherever it was written and whatever stands between."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.model import Entry, Instant, Message
from analyzer.stitch import stitch

BEFORE = "loading shard 7 of 12"
AFTER = "2031-01-02 03:04:05,678 INFO launcher: stopping"


def stitched(text: str) -> list[Message]:
    return stitch([Entry(text=line, source="run.log", sequence=n) for n, line in enumerate(text.split("\n"))])


def texts(text: str) -> list[str]:
    return [message.text for message in stitched(text)]


def test_an_ignored_exception_of_one_line_belongs_to_what_ignores_it() -> None:
    """Some logs keep only the last line of its traceback; what is raised after it is a message of its own."""
    ignored = "Exception ignored in: <function Client.__del__ at 0x7f6f1c2b5ca0>\nAttributeError: no attribute 'close'"
    assert texts(f"{BEFORE}\n{ignored}\n{AFTER}") == [BEFORE, ignored, AFTER]


def trace(last: str, function: str = "fit") -> str:
    return f'Traceback (most recent call last):\n  File "fit.py", line 9, in {function}\n    go()\n{last}'


def shapes() -> dict[str, str]:
    """The samples of tracebacks.txt by name: a line `%% name` begins each."""
    parts = Path(__file__).with_name("tracebacks.txt").read_text(encoding="utf-8").split("%% ")[1:]
    return {name: text.rstrip("\n") for name, text in (part.split("\n", 1) for part in parts)}


SHAPES = shapes()


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_shape_is_one_message(text: str) -> None:
    """Each shape is one traceback, and leaves the lines around it alone."""
    found = stitched(f"{BEFORE}\n{text}\n{AFTER}")
    assert [message.text for message in found] == [BEFORE, text, AFTER]
    assert found[1].kind == "traceback"
    assert found[1].exceptions


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_shape_in_one_entry_reads_the_same(text: str) -> None:
    """One entry for all lines or an entry for each line gives the same kind and the same exceptions."""
    (whole,) = stitch([Entry(text=text)])
    by_line = stitched(text)[0]
    assert (whole.kind, whole.exceptions) == (by_line.kind, by_line.exceptions)


def test_separate_tracebacks_stay_separate() -> None:
    """Two tracebacks that no phrase links are two messages."""
    assert texts(f"{trace('KeyError: 1')}\n{trace('KeyError: 2')}") == [trace("KeyError: 1"), trace("KeyError: 2")]


def test_foreign_lines_between_frames() -> None:
    """What another process writes between frames is a message of its own; the traceback goes on after it."""
    lines = trace("KeyError: 'x'").split("\n")
    mixed = [lines[0], "Epoch: [3] loss 0.1", lines[1], "Epoch: [3] loss 0.2", *lines[2:]]
    assert texts("\n".join(mixed)) == ["\n".join(lines), "Epoch: [3] loss 0.1", "Epoch: [3] loss 0.2"]


def test_two_processes_line_by_line() -> None:
    """Tracebacks that two processes write into one stream at once come apart."""
    one, two = trace("KeyError: 1", "a").split("\n"), trace("OSError: 2", "b").split("\n")
    mixed = "\n".join(line for pair in zip(one, two, strict=True) for line in pair)
    assert texts(mixed) == ["\n".join(one), "\n".join(two)]


def test_equal_hints_of_two_processes() -> None:
    """A hint that comes twice belongs to the two processes that failed alike."""
    one, two = (trace(f"RuntimeError: CUDA error: {name}", name).split("\n") for name in "ab")
    hint = "For debugging consider passing CUDA_LAUNCH_BLOCKING=1."
    assert [text.endswith(hint) for text in texts("\n".join([*one, *two, hint, hint]))] == [True, True]


def test_equal_tracebacks_in_bursts() -> None:
    """Where processes write in bursts, what followed what before tells whose line comes next."""
    frames = [line for n in range(4) for line in (f'  File "f.py", line {n}, in f{n}', f"    c{n}()")]
    deep = ["Traceback (most recent call last):", *frames]
    one, two = [*deep, "RuntimeError: rank 0"], [*deep, "RuntimeError: rank 1"]
    mixed = [*one[:3], *two[:5], *one[3:9], *two[5:9], one[9], two[9]]
    assert sorted(texts("\n".join(mixed))) == ["\n".join(one), "\n".join(two)]


def test_cut_traceback_does_not_swallow_the_next_start() -> None:
    """A traceback whose end is missing ends where ordinary lines go on."""
    head = "\n".join(trace("").split("\n")[:3])
    assert texts(f"{head}\nINFO: starting over\nepoch 1") == [head, "INFO: starting over", "epoch 1"]


def test_a_pause_ends_a_traceback() -> None:
    """Lines minutes later are not the rest of a traceback."""
    lines = trace("KeyError: 1").split("\n")
    entries = [Entry(text=line, time=Instant(n), replica="a") for n, line in enumerate(lines[:3])]
    late = Entry(text=lines[3], time=Instant(600 * 10**9), replica="a")
    assert [len(message.entries) for message in stitch([*entries, late])] == [3, 1]


def test_note_written_with_its_exception() -> None:
    """A line that came within the same write as an exception is part of its message."""
    lines = [*trace("ValueError: x").split("\n"), "while reading shard 7"]
    entries = [Entry(text=line, time=Instant(n * 90_000), replica="a") for n, line in enumerate(lines)]
    (found,) = stitch(entries)
    assert found.exceptions[0].message == "x\nwhile reading shard 7"


def test_step_after_an_exception_is_not_its_message() -> None:
    """A progress bar after an exception stands alone, although it is indented."""
    text, bar = trace("ValueError: x"), "  2%|#   | 3/90 [00:01<00:20,  2.1it/s]"
    assert texts(f"{text}\n{bar}") == [text, bar]


def test_source_line_that_looks_like_progress() -> None:
    """A modulo in a source line is no progress bar."""
    text = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    i = (step + 2) % n\nZeroDivisionError: x'
    )
    assert texts(text) == [text]


def test_table_that_was_cut_swallows_nothing() -> None:
    """A launcher's table without its end does not take what the next start prints."""
    cut = SHAPES["torchrun"].rsplit("\n", 1)[0]
    assert texts(f"{cut}\nstarting over\nepoch 1") == [cut, "starting over", "epoch 1"]


def test_progress_bar_before_the_head() -> None:
    """A head that stands right behind a progress bar still begins a traceback."""
    text = "  2%|#   | 3/90 [00:01<00:20]" + trace("ValueError: x")
    (found,) = stitched(text)
    assert (found.text, found.exceptions[0].frames[0].file) == (text, "fit.py")
