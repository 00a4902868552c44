"""Chains of exceptions come out in the order in which they were raised, with frames and messages."""

from __future__ import annotations

import pytest

from analyzer.model import ExceptionLink
from analyzer.stitch import message_of


def links(text: str) -> list[tuple[str, str, str]]:
    return [(link.type, link.message, link.relation) for link in message_of(text).exceptions]


def only(text: str) -> ExceptionLink:
    (link,) = message_of(text).exceptions
    return link


SIMPLE = """\
Traceback (most recent call last):
  File "/app/fit.py", line 12, in <module>
    main()
    ~~~~^^
  File "/opt/lib/python3.11/site-packages/torch/nn/module.py", line 1501, in _call_impl
    return forward(*args)
           ^^^^^^^^^^^^^^
KeyError: 'labels'"""


def test_frames_have_place_function_and_code() -> None:
    """A frame is file, line, function and source line; carets are none of these."""
    link = only(SIMPLE)
    assert [(frame.file, frame.line, frame.function, frame.code) for frame in link.frames] == [
        ("/app/fit.py", 12, "<module>", "main()"),
        ("/opt/lib/python3.11/site-packages/torch/nn/module.py", 1501, "_call_impl", "return forward(*args)"),
    ]
    assert link.user_frame is not None
    assert link.user_frame.line == 12


def test_python_2_style() -> None:
    """Without carets and with a bare `error` or no message a traceback is read the same."""
    head = 'Traceback (most recent call last):\n  File "a.py", line 3, in run\n    s.recv(1)\n'
    text = f"{head}error: [Errno 104] Connection reset"
    assert links(text) == [("error", "[Errno 104] Connection reset", "")]
    assert links(SIMPLE.replace("KeyError: 'labels'", "KeyboardInterrupt")) == [("KeyboardInterrupt", "", "")]


@pytest.mark.parametrize(
    ("phrase", "relation"),
    [
        ("The above exception was the direct cause of the following exception:", "cause"),
        ("During handling of the above exception, another exception occurred:", "context"),
    ],
)
def test_chained(phrase: str, relation: str) -> None:
    """The first printed is the origin; the phrase after it says how the next came out of it."""
    text = f"{SIMPLE}\n\n{phrase}\n\n{SIMPLE.replace('KeyError', 'app.errors.DataError')}"
    assert links(text) == [("KeyError", "'labels'", relation), ("app.errors.DataError", "'labels'", "")]


def test_data_loader_worker() -> None:
    """The original traceback of a worker comes before the exception that carries it."""
    text = SIMPLE.replace("KeyError: 'labels'", "OSError: Caught OSError in DataLoader worker process 2.") + (
        '\nOriginal Traceback (most recent call last):\n  File "/app/data.py", line 5, in __getitem__\n    open(path)\n'
        "OSError: [Errno 5] Input/output error: '/data/a.bin'"
    )
    assert links(text) == [
        ("OSError", "[Errno 5] Input/output error: '/data/a.bin'", "remote"),
        ("OSError", "Caught OSError in DataLoader worker process 2.", ""),
    ]


def test_data_loader_worker_with_a_chain_of_its_own() -> None:
    """A chain inside a worker ends where the type that the wrapper names is reached."""
    inner = 'Traceback (most recent call last):\n  File "/app/data.py", line 5, in get\n    a()\n'
    during = "\n\nDuring handling of the above exception, another exception occurred:\n\n"
    text = (
        SIMPLE.replace("KeyError: 'labels'", "ValueError: Caught ValueError in DataLoader worker process 0.")
        + "\nOriginal "
        + f"{inner}KeyError: 1{during}{inner}ValueError: bad row{during}{SIMPLE}"
    )
    assert [(kind, relation) for kind, _, relation in links(text)] == [
        ("KeyError", "context"), ("ValueError", "remote"), ("ValueError", "context"), ("KeyError", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name", ["multiprocessing.pool.RemoteTraceback", "concurrent.futures.process._RemoteTraceback"]
)
def test_process_pool(name: str) -> None:
    """A quoted traceback of a pool's worker is the origin; the class that carries it is no link."""
    text = (
        f'{name}: \n"""\n{SIMPLE}\n"""\n\nThe above exception was the direct cause of the following exception:\n\n'
        f"{SIMPLE}"
    )
    assert links(text) == [("KeyError", "'labels'", "remote"), ("KeyError", "'labels'", "")]


def test_ray_task() -> None:
    """Ray prints a task's frames below its own exception; the chain inside the task comes first."""
    text = (
        'Traceback (most recent call last):\n  File "drive.py", line 3, in <module>\n    ray.get(ref)\n'
        "ray.exceptions.RayTaskError(TypeError): ray::train() (pid=12, ip=10.0.0.4)\n"
        '  File "task.py", line 8, in train\n    table["a"]\nKeyError: \'a\'\n\n'
        "During handling of the above exception, another exception occurred:\n\n"
        'ray::train() (pid=12, ip=10.0.0.4)\n  File "task.py", line 10, in train\n    raise TypeError\nTypeError: b'
    )
    assert links(text) == [
        ("KeyError", "'a'", "context"),
        ("TypeError", "b", "remote"),
        ("ray.exceptions.RayTaskError(TypeError)", "ray::train() (pid=12, ip=10.0.0.4)", ""),
    ]


def test_ray_task_that_names_its_cause_without_frames() -> None:
    """The exception that a RayTaskError names is a link also where no frame stands before it."""
    text = (
        'Traceback (most recent call last):\n  File "drive.py", line 3, in <module>\n    ray.get(ref)\n'
        "ray.exceptions.RayTaskError(ActorDiedError): ray::train() (pid=12, ip=10.0.0.4)\n"
        "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n\tpid: 3164"
    )
    assert [kind for kind, _, _ in links(text)] == [
        "ray.exceptions.ActorDiedError", "ray.exceptions.RayTaskError(ActorDiedError)",
    ]  # fmt: skip


def test_spawned_process() -> None:
    """torch.multiprocessing.spawn quotes the traceback of the process that failed."""
    text = SIMPLE.replace(
        "KeyError: 'labels'",
        "torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 1 terminated with the following error:\n",
    ) + SIMPLE.replace("KeyError", "IndexError")
    found = links(text)
    assert (found[0][0], found[0][2]) == ("IndexError", "remote")
    assert found[1][0] == "torch.multiprocessing.spawn.ProcessRaisedException"


def test_torchrun_table_with_a_recorded_traceback() -> None:
    """A traceback that the launcher's table quotes is the origin; the table is the launcher's own message."""
    text = (
        'Traceback (most recent call last):\n  File "/opt/lib/python3.11/site-packages/torch/run.py", line 9, in main\n'
        "    raise ChildFailedError(\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        f"{'=' * 60}\nfit.py FAILED\n{'-' * 60}\n"
        "Root Cause (first observed failure):\n[0]:\n  rank      : 1 (local_rank: 1)\n"
        '  traceback : Traceback (most recent call last):\n    File "/app/fit.py", line 4, in main\n      step()\n'
        f"  ValueError: nan\n  \n{'=' * 60}"
    )
    found = links(text)
    assert found[0] == ("ValueError", "nan", "remote")
    assert "rank      : 1" in found[1][1]


def test_exception_group() -> None:
    """Members come before their group, inner groups before outer ones."""
    text = """\
  + Exception Group Traceback (most recent call last):
  |   File "/app/fit.py", line 3, in main
  |     raise ExceptionGroup("io", found)
  | ExceptionGroup: io (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/app/read.py", line 8, in read
    |     raise ValueError(1)
    | ValueError: 1
    +---------------- 2 ----------------
    | ExceptionGroup: inner (1 sub-exception)
    +-+---------------- 1 ----------------
      | TypeError: t
      +------------------------------------"""
    assert [(kind, len(link.frames)) for link in message_of(text).exceptions for kind in [link.type]] == [
        ("ValueError", 1), ("TypeError", 0), ("ExceptionGroup", 0), ("ExceptionGroup", 1),
    ]  # fmt: skip


def test_syntax_error() -> None:
    """The block below the last frame is the source line; the file at fault is the last frame."""
    text = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    import b\n'
        '  File "b.py", line 3\n    x = = 2\n        ^\nSyntaxError: invalid syntax'
    )
    link = only(text)
    assert (link.type, link.frames[-1].file, link.frames[-1].code) == ("SyntaxError", "b.py", "x = = 2")


@pytest.mark.parametrize("gap", ["  [...]", "  [Previous line repeated 996 more times]", "  ..."])
def test_elided_frames(gap: str) -> None:
    """A mark for frames left out is neither frame nor code."""
    lines = SIMPLE.split("\n")
    assert len(only("\n".join([*lines[:4], gap, *lines[4:]])).frames) == 2


def test_head_cut_off() -> None:
    """Frames without a head still end in an exception."""
    assert only(SIMPLE.split("\n", 4)[4]).frames[0].function == "_call_impl"


def test_end_cut_off() -> None:
    """Frames that no exception ends name none; the log's next line is not taken for one."""
    assert message_of("\n".join(SIMPLE.split("\n")[:4])).exceptions == ()
    assert message_of("\n".join(SIMPLE.split("\n")[:4]) + "\nINFO: starting over").exceptions == ()


@pytest.mark.parametrize(
    "prefix", ["2031-01-02 03:04:05,678 ERROR [trainer] ", "ERROR:root:", "E0330 21:13:34.807000 88120 run.py:12] "]
)
def test_every_line_behind_a_logger_prefix(prefix: str) -> None:
    """A prefix that every line carries changes nothing in what is read."""
    text = "\n".join(prefix + line for line in SIMPLE.split("\n"))
    assert message_of(text).exceptions == message_of(SIMPLE).exceptions


def test_head_and_first_frame_on_one_line() -> None:
    """Writers that lose a newline put the first frame behind the head."""
    text = SIMPLE.replace("last):\n", "last):")
    assert message_of(text).exceptions == message_of(SIMPLE).exceptions


def test_quoted_traceback() -> None:
    """A traceback inside a quoted string is read as if it were not quoted."""
    quoted = SIMPLE.replace('"', '\\"').replace("\n", "\\n")
    assert [link.type for link in message_of(f'error_message: "{quoted}"').exceptions] == ["KeyError"]


def test_folded_traceback() -> None:
    """A traceback on one line, its newlines lost, has the same exceptions; frames keep their code."""
    lines = [line for line in SIMPLE.split("\n") if not set(line.strip()) <= {"~", "^"}]
    folded = " ".join(line.strip() for line in lines)
    assert message_of(f"worker failed: {folded}").exceptions == message_of(SIMPLE).exceptions


def test_rich_box() -> None:
    """Rich draws frames into a box and prints the exception below it."""
    text = (
        "╭───────── Traceback (most recent call last) ─────────╮\n"
        "│ /app/fit.py:41 in main                              │\n"
        "│                                                     │\n"
        "│ ❱ 41     model.fit(data)                            │\n"
        "╰─────────────────────────────────────────────────────╯\n"
        "ValueError: no data"
    )
    link = only(text)
    assert (link.type, link.frames[0].file, link.frames[0].line) == ("ValueError", "/app/fit.py", 41)
    assert link.frames[0].code == "model.fit(data)"


def test_autograph() -> None:
    """The frames and the exception that TensorFlow prints as its message are the origin."""
    text = (
        'Traceback (most recent call last):\n  File "fit.py", line 2, in <module>\n    model.fit(x)\n'
        'ValueError: in user code:\n\n    File "/app/model.py", line 9, in step  *\n        loss(y)\n\n'
        "    ValueError: Shapes (3,) and (4,) are incompatible"
    )
    assert links(text)[0] == ("ValueError", "Shapes (3,) and (4,) are incompatible", "remote")


def test_graph_error_stays_one_exception() -> None:
    """Where TensorFlow only says where a node was made, its frames are part of the message."""
    text = (
        "tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:\n\n"
        "Detected at node 'gather' defined at (most recent call last):\n"
        '    File "fit.py", line 9, in <module>\n      model.fit(x)\n'
        "Node: 'gather'\nindices[0] = 12 is not in [0, 12)\n\t [[{{node gather}}]] [Op:__inference_train_function_99]"
    )
    link = only(text)
    assert "indices[0] = 12 is not in [0, 12)" in link.message
    assert link.frames == ()


def test_message_of_several_lines() -> None:
    """Further lines belong to the message."""
    text = SIMPLE.replace(
        "KeyError: 'labels'",
        "RuntimeError: Error(s) in loading state_dict for Net:\n\tsize mismatch for head.weight: copying\n\tother",
    )
    assert only(text).message.count("\n") == 2


def test_afterwords_are_no_message() -> None:
    """Advice that a service or framework prints after an exception is not what the exception says."""
    text = f"{SIMPLE}\n\nTo find out more about why your job exited please check the logs: https://example.org"
    assert only(text).message == "'labels'"


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        ("ValueError: bad", "ValueError", "bad"),
        ("KeyError: 'x'", "KeyError", "'x'"),
        ("torch.cuda.OutOfMemoryError: CUDA out of memory.", "torch.cuda.OutOfMemoryError", "CUDA out of memory."),
        ("google.api_core.exceptions.NotFound: 404 GET", "google.api_core.exceptions.NotFound", "404 GET"),
        ("KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("SystemExit: 2", "SystemExit", "2"),
        ("[rank3]: AssertionError", "AssertionError", ""),
        ("2031-01-02 03:04:05,678 ERROR trainer.loop: OSError: [Errno 28] full", "OSError", "[Errno 28] full"),
        ("ERROR:root:RuntimeError: x", "RuntimeError", "x"),
        ("[2031-01-02 03:04:05,678] [ERROR] [launch.py:12] RuntimeError: x", "RuntimeError", "x"),
        ('Exception in thread "main" java.lang.IllegalStateException: no', "java.lang.IllegalStateException", "no"),
    ],
)
def test_lone_exception_line(line: str, kind: str, message: str) -> None:
    """A line that is only type and message is an exception without frames, and stays a line."""
    told = message_of(line)
    assert [(link.type, link.message, link.frames) for link in told.exceptions] == [(kind, message, ())]
    assert told.kind == "line"


@pytest.mark.parametrize(
    "line",
    [
        "Error: the file was not found",
        "WARNING: retrying",
        "ERROR: exit",
        "Training failed with ValueError: bad",
        "train.py:12: UserWarning: slow",
        "UserWarning: slow",
        "Error executing job with overrides: []",
        "error: subprocess exited",
        "epoch 3: ValueError rate 0.1",
        "No errors: fine",
        "Timeout: 30",
        "INFO Exit: 0",
        "https://example.org/Error: x",
        "Total Error: 0.25",
    ],
)
def test_prose_is_no_exception(line: str) -> None:
    """Words that merely look like a type name no exception."""
    assert message_of(line).exceptions == ()


def test_words_of_a_message_are_no_frame() -> None:
    """A message that ends in "in NAME" is still the exception's."""
    text = SIMPLE.replace(
        "KeyError: 'labels'", "driver.LinkerError: [222] Call to link results in UNKNOWN_ERROR\nptxas: no"
    )
    assert links(text) == [("driver.LinkerError", "[222] Call to link results in UNKNOWN_ERROR\nptxas: no", "")]


def test_java_causes_come_first() -> None:
    """In a Java stack the last cause is the origin; frames of Java are no Python frames."""
    text = (
        "py4j.protocol.Py4JJavaError: An error occurred while calling o12.fit.\n"
        ": org.apache.spark.SparkException: Job aborted\n\tat org.apache.spark.Dag.abort(Dag.scala:22)\n"
        "Caused by: java.io.IOException: No space left on device\n\t... 3 more"
    )
    assert links(text) == [
        ("java.io.IOException", "No space left on device", "cause"),
        ("org.apache.spark.SparkException", "Job aborted", "cause"),
        ("py4j.protocol.Py4JJavaError", "An error occurred while calling o12.fit.", ""),
    ]


def test_a_rethrown_traceback_is_the_exception_that_was_caught() -> None:
    """`raise ImportError(traceback.format_exc())` says where the caught one came from, as TensorFlow 1 and 2 do."""
    link = only(
        'Traceback (most recent call last):\n  File "fit.py", line 7, in <module>\n    import tensorflow as tf\n'
        "ImportError: Traceback (most recent call last):\n"
        '  File "/lib/tensorflow/internal.py", line 24, in load\n    imp.load_module(name)\n'
        "ImportError: libcublas.so.10.0: cannot open shared object file: No such file or directory\n\n\n"
        "Failed to load the native TensorFlow runtime."
    )
    assert link.message == "libcublas.so.10.0: cannot open shared object file: No such file or directory"
    assert [frame.file for frame in link.frames] == ["fit.py", "/lib/tensorflow/internal.py"]
