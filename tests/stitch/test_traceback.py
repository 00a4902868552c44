"""Lines of a traceback come together to one message, wherever it was written and whatever stands between."""

from __future__ import annotations

import pytest

from analyzer.model import Entry, Instant, Message
from analyzer.stitch import stitch

BEFORE = "loading shard 7 of 12"
AFTER = "2031-01-02 03:04:05,678 INFO launcher: stopping"


def stitched(text: str) -> list[Message]:
    return stitch([Entry(text=line, source="run.log", sequence=n) for n, line in enumerate(text.split("\n"))])


def texts(text: str) -> list[str]:
    return [message.text for message in stitched(text)]


def trace(last: str, function: str = "fit") -> str:
    return f'Traceback (most recent call last):\n  File "fit.py", line 9, in {function}\n    go()\n{last}'


SHAPES = {
    "plain": trace("KeyError: 'x'"),
    "chained": trace("KeyError: 'x'") + "\n\nDuring handling of the above exception, another exception occurred:\n\n" + trace("E: y"),
    "cause": trace("KeyError: 'x'") + "\n\nThe above exception was the direct cause of the following exception:\n\n" + trace("E: y"),
    "thread": "Exception in thread Thread-1 (run):\n" + trace("ValueError: x"),
    "process": "Process SpawnPoolWorker-3:\n" + trace("ValueError: x"),
    "ignored": "Exception ignored in: <function Reader.__del__ at 0x7f>\n" + trace("ImportError: shutting down"),
    "logged": "2031-01-02 03:04:05,678 ERROR trainer: step failed\n" + trace("ValueError: x"),
    "asyncio": "ERROR:asyncio:Task exception was never retrieved\nfuture: <Task finished name='a'>\n" + trace("ValueError: x"),
    "worker": trace("OSError: Caught OSError in DataLoader worker process 3.\nOriginal " + trace("OSError: gone", "get")),
    "pool": f'multiprocessing.pool.RemoteTraceback: \n"""\n{trace("ValueError: x")}\n"""\n\n'
    f"The above exception was the direct cause of the following exception:\n\n{trace('ValueError: x')}",
    "ray": trace("ray.exceptions.RayTaskError(ValueError): ray::go() (pid=3, ip=10.0.0.1)\n"
                 '  File "task.py", line 2, in go\n    raise ValueError("x")\nValueError: x'),
    "ray actor": trace("ray.exceptions.ActorDiedError: The actor died unexpectedly.\n\tclass_name: Worker\n\tpid: 3\n"
                       "The actor is dead because its worker process has died."),
    "size mismatch": trace('RuntimeError: Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: "a".\n'
                           "\tsize mismatch for b: copying a param"),
    "cuda": trace("RuntimeError: CUDA error: device-side assert triggered\n"
                  "CUDA kernel errors might be asynchronously reported at some other API call.\n"
                  "For debugging consider passing CUDA_LAUNCH_BLOCKING=1."),
    "pydantic": trace("pydantic_core._pydantic_core.ValidationError: 2 validation errors for Config\nrate\n"
                      "  Input should be a valid number [type=float_parsing]\n    For further information visit https://e.org\n"
                      "data.path\n  Field required [type=missing]"),
    "rpc": trace('grpc._channel._InactiveRpcError: <_InactiveRpcError of RPC that terminated with:\n'
                 '\tstatus = StatusCode.UNAVAILABLE\n\tdetails = "no route"\n>'),
    "hbm": trace("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm.\n\n"
                 "Total hbm usage >= 20.58G:\n    reserved        530.00M\n    program          20.05G\n\n"
                 "Program hbm requirement 20.05G:\n    HLO temp         20.05G\n\n  Largest program allocations in hbm:\n\n"
                 "  1. Size: 1.00G\n     Shape: f32[16384,16384]{1,0}\n     =========================="),
    "spawned": trace("torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 1 terminated with the following error:\n"
                     + trace("ValueError: x")),
    "group": '  + Exception Group Traceback (most recent call last):\n  |   File "a.py", line 3, in main\n  |     go()\n'
    "  | ExceptionGroup: io (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | ValueError: 1\n"
    "    +------------------------------------",
    "markers": 'Traceback (most recent call last):\n  File "fit.py", line 9, in fit\n    a[0]\n    ~^^^\nIndexError: out of range',
    "syntax": '  File "fit.py", line 3\n    x = = 2\n        ^\nSyntaxError: invalid syntax',
    "recursion": 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    f()\n'
    "  [Previous line repeated 996 more times]\nRecursionError: maximum recursion depth exceeded",
    "elided": 'Traceback (most recent call last):\n  [...]\n  File "a.py", line 1, in f\n    f()\nOSError: gone',
    "headless": '  File "a.py", line 1, in f\n    f()\nOSError: gone',
    "prefixed": "\n".join(f"03:04:05 ERROR [worker] {line}" for line in trace("KeyError: 'x'").split("\n")),
    "rich": "╭────── Traceback (most recent call last) ──────╮\n│ /app/fit.py:41 in main                        │\n"
    "│ ❱ 41     go()                                 │\n╰───────────────────────────────────────────────╯\nValueError: x",
    "torchrun": trace("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "=" * 60 + "\nfit.py FAILED\n"
                      + "-" * 60 + "\nFailures:\n  <NO_OTHER_FAILURES>\n" + "-" * 60
                      + "\nRoot Cause (first observed failure):\n[0]:\n  rank      : 3 (local_rank: 3)\n  exitcode  : -9 (pid: 7)\n"
                      + "=" * 60),
    "autograph": trace('ValueError: in user code:\n\n    File "m.py", line 9, in step  *\n        loss(y)\n\n    ValueError: shapes'),
    "graph error": trace("tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:\n\n"
                         "Detected at node 'gather' defined at (most recent call last):\n"
                         '    File "fit.py", line 9, in <module>\n      model.fit(x)\n'
                         "Node: 'gather'\nindices[0] = 12 is not in [0, 12)\n\t [[{{node gather}}]] [Op:__inference_9]"),
    "graph error of TensorFlow 1": trace("tensorflow.python.framework.errors_impl.InvalidArgumentError: indices[0] = 12\n"
                                         "\t [[Node: gather = Gather[...]]]\n\nCaused by op u'gather', defined at:\n"
                                         '  File "fit.py", line 9, in main\n    build()\n\n'
                                         "InvalidArgumentError (see above for traceback): indices[0] = 12\n\t [[Node: gather]]"),
    "logging": "--- Logging error ---\n" + trace("TypeError: not all arguments converted") + "\nCall stack:\n"
    '  File "fit.py", line 2, in <module>\n    log.info("a", 1)\nMessage: \'a\'\nArguments: (1,)',
    "empty message": trace("ImportError: \n\nNet requires the tokens library but it was not found in your environment"),
    "in spark": trace("py4j.protocol.Py4JJavaError: An error occurred while calling o9.fit.\n"
                      ": org.apache.spark.SparkException: Job aborted\n\tat org.apache.spark.Dag.abort(Dag.scala:22)\n"
                      "Caused by: org.apache.spark.api.python.PythonException: " + trace("ValueError: x")
                      + "\n\n\tat org.apache.spark.api.python.Runner.read(Runner.scala:5)"),
    "pip": "ERROR: Command errored out with exit status 1:\n  command: python setup.py egg_info\n  Complete output (4 lines):\n"
    + "\n".join("  " + line for line in trace("ModuleNotFoundError: x").split("\n")),
}  # fmt: skip


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
    one, two = trace("RuntimeError: CUDA error: a", "a").split("\n"), trace("RuntimeError: CUDA error: b", "b").split("\n")
    hint = "For debugging consider passing CUDA_LAUNCH_BLOCKING=1."
    assert [text.endswith(hint) for text in texts("\n".join([*one, *two, hint, hint]))] == [True, True]


def test_equal_tracebacks_in_bursts() -> None:
    """Where processes write in bursts, what followed what before tells whose line comes next."""
    deep = ['Traceback (most recent call last):', *(line for n in range(4) for line in (f'  File "f.py", line {n}, in f{n}', f"    c{n}()"))]
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
    text = trace("ValueError: x")
    assert texts(f"{text}\n  2%|#   | 3/90 [00:01<00:20,  2.1it/s]") == [text, "  2%|#   | 3/90 [00:01<00:20,  2.1it/s]"]


def test_progress_bar_before_the_head() -> None:
    """A head that stands right behind a progress bar still begins a traceback."""
    text = "  2%|#   | 3/90 [00:01<00:20]" + trace("ValueError: x")
    (found,) = stitched(text)
    assert (found.text, found.exceptions[0].frames[0].file) == (text, "fit.py")
