"""Crash dumps, tables and kernel reports are one message each, whole, and leave the lines around them alone."""

from __future__ import annotations

import pytest

from analyzer.model import Entry, Message
from analyzer.stitch import message_of, stitch

BEFORE = "loading shard 7 of 12"
AFTER = "epoch 3 finished in 41.2 seconds"


def stitched(text: str) -> list[Message]:
    return stitch([Entry(text=line, source="run.log", sequence=n) for n, line in enumerate(text.split("\n"))])


CRASHES = {
    "terminate": """\
terminate called after throwing an instance of 'c10::Error'
  what():  CUDA error: an illegal memory access was encountered
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1.
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.

Exception raised from c10_cuda_check_implementation at ../c10/cuda/CUDAException.cpp:43 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x57 (0x7f1b2c in /opt/lib/libc10.so)
frame #1: <unknown function> + 0x1e3f (0x7f1b2d in /opt/lib/libc10_cuda.so)""",
    "bad alloc": """\
terminate called after throwing an instance of 'std::bad_alloc'
  what():  std::bad_alloc""",
    "nccl in terminate": """\
terminate called after throwing an instance of 'std::runtime_error'
  what():  [Rank 5] NCCL watchdog thread terminated with exception: NCCL error: unhandled system error
ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.
Last error:
Bootstrap : no socket interface found""",
    "glog": """\
F0203 11:02:31.410022 4242 loader.cc:88] Check failed: rows > 0 (0 vs. 0)
*** Check failure stack trace: ***
    @     0x7f2a10b2d1c3  google::LogMessage::Fail()
    @     0x7f2a10b3225b  google::LogMessage::SendToLog()
    @                0x0  (unknown)""",
    "absl": """\
*** SIGSEGV received at time=1739282556 on cpu 48 ***
PC: @     0x7f1a7e2c1b32  (unknown)  heuristic_for_matmul
    @     0x55d0aa  1792  (unknown)
    @     0x7f1a7e  (unknown)  (unknown)
[2031-02-11 14:02:36,220 E 3164 3164] logging.cc:365: *** SIGSEGV received at time=1739282556 on cpu 48 ***""",
    "gflags": """\
*** Aborted at 1650011223 (unix time) try "date -d @1650011223" if you are using GNU date ***
PC: @                0x0 (unknown)
*** SIGABRT (@0x3e800001f40) received by PID 8000 (TID 0x7f33) from PID 8000; stack trace: ***
    @     0x7f33aa630630 (unknown)""",
    "faulthandler": """\
Fatal Python error: Segmentation fault

Thread 0x00007f8d2effd700 (most recent call first):
  File "/usr/lib/python3.9/threading.py", line 312 in wait
  File "/usr/lib/python3.9/queue.py", line 140 in put

Current thread 0x00007f8e11f3b740 (most recent call first):
  File "train.py", line 61 in step
  ...

Extension modules: numpy.core._multiarray_umath, torch._C (total: 2)""",
    "device asserts": "\n".join(
        f"../aten/src/ATen/native/cuda/Indexing.cu:1290: indexSelect: block: [{n},0,0], thread: [{n},0,0] Assertion "
        "`index < limit` failed."
        for n in range(40)
    ),
    "open mpi": """\
[worker-0:00311] *** Process received signal ***
[worker-0:00311] Signal: Segmentation fault (11)
[worker-0:00311] Failing at address: (nil)
[worker-0:00311] [ 0] /lib/x86_64-linux-gnu/libpthread.so.0(+0x12980)[0x7f1]
[worker-0:00311] *** End of error message ***""",
    "glibc": """\
*** Error in `python': double free or corruption (!prev): 0x00000000024f1e30 ***
======= Backtrace: =========
/lib/x86_64-linux-gnu/libc.so.6(+0x777e5)[0x7f7c]
======= Memory map: ========
00400000-007a9000 r-xp 00000000 08:01 1234 /usr/bin/python3.5""",
    "go": """\
panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x7a1b2c]

goroutine 51 [running]:
main.(*fileSystem).flush(0xc000123000)
	/src/fs/fs.go:1221 +0x1c
created by main.serve
	/src/main.go:88 +0x2a""",
}

TABLES = {
    "memory summary": """\
|===========================================================================|
|                  PyTorch CUDA memory summary, device ID 0                 |
|---------------------------------------------------------------------------|
| Allocated memory      |   10012 MB |   15044 MB |   88120 MB |   78108 MB   |
|===========================================================================|""",
    "nvidia-smi": """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 510.47.03    Driver Version: 510.47.03    CUDA Version: 11.6     |
|===============================+======================+======================|
|   0  Tesla T4            Off  | 00000000:00:04.0 Off |                    0 |
+-----------------------------------------------------------------------------+""",
    "usage": """\
usage: fit.py [-h] [--rate RATE]
              [--steps STEPS]
fit.py: error: unrecognized arguments: --local-rank=0""",
    "click": """\
Usage: fit [OPTIONS]
Try 'fit --help' for help.

Error: No such option: --rte""",
    "mpirun": """\
--------------------------------------------------------------------------
mpirun noticed that process rank 2 with PID 0 on node worker-2 exited on
signal 9 (Killed).
--------------------------------------------------------------------------""",
    "old torchrun": """\
*****************************************
            fit.py FAILED
=======================================
Root Cause:
[0]:
  time: 2031-08-01_10:00:00
  rank: 3 (local_rank: 3)
  exitcode: -9 (pid: 4711)
*****************************************""",
    "allocator": """\
2031-01-01 10:00:00.1: W tf/bfc_allocator.cc:474] Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.2GiB
2031-01-01 10:00:00.2: I tensorflow/bfc_allocator.cc:1010] BFCAllocator dump for GPU_0_bfc
2031-01-01 10:00:00.3: I tensorflow/bfc_allocator.cc:1017] Bin (256): 	Total Chunks: 12
2031-01-01 10:00:00.4: I tensorflow/bfc_allocator.cc:1101] Stats:
Limit:                     15000000000
InUse:                     14900000000

2031-01-01 10:00:00.5: W tensorflow/bfc_allocator.cc:486] ****************************xx""",
}

KERNEL = {
    "out of memory": """\
[ 4127.118201] python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=988
[ 4127.118210] CPU: 3 PID: 8812 Comm: python Not tainted 5.15.0 #1
[ 4127.118214] Call Trace:
[ 4127.118216]  <TASK>
[ 4127.118219]  dump_stack_lvl+0x4a/0x63
[ 4127.118300] memory: usage 13631488kB, limit 13631488kB, failcnt 81
[ 4127.118320] [  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
[ 4127.118322] [   8812]     0  8812  4300012  3370112 27901952        0           988 python
[ 4127.118330] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task=python,pid=8812,uid=0
[ 4127.118340] Memory cgroup out of memory: Killed process 8812 (python) total-vm:17200048kB, anon-rss:13480448kB""",
    "blocked task": """\
Mar 11 08:20:01 gn-4 kernel: INFO: task python:9102 blocked for more than 120 seconds.
Mar 11 08:20:01 gn-4 kernel:       Tainted: P           OE     5.10.0-18-cloud-amd64 #1
Mar 11 08:20:01 gn-4 kernel: "echo 0 > /proc/sys/kernel/hung_task_timeout_secs" disables this message.
Mar 11 08:20:01 gn-4 kernel: task:python          state:D stack:    0 pid: 9102
Mar 11 08:20:01 gn-4 kernel: Call Trace:
Mar 11 08:20:01 gn-4 kernel:  __schedule+0x282/0x870""",
    "bug": """\
[  88.120001] BUG: unable to handle page fault for address: ffffc90000e1f000
[  88.120004] #PF: supervisor write access in kernel mode
[  88.120010] Oops: 0002 [#1] SMP NOPTI
[  88.120014] CPU: 1 PID: 991 Comm: python Tainted: P
[  88.120020] RIP: 0010:memcpy_erms+0x6/0x10
[  88.120040] Call Trace:
[  88.120044]  ? copy_to_user+0x2c/0x40
[  88.120099] ---[ end trace 0000000000000000 ]---""",
}

SAMPLES = [
    *((kind, name, text) for kind, group in (("crash", CRASHES), ("table", TABLES), ("kernel", KERNEL))
      for name, text in group.items())
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "text"), SAMPLES, ids=[name for _, name, _ in SAMPLES])
def test_block_is_one_message(kind: str, name: str, text: str) -> None:
    """A block's lines make one message of its kind; what stands before and after stays outside."""
    found = stitched(f"{BEFORE}\n{text}\n{AFTER}")
    assert [message.text for message in found] == [BEFORE, text, AFTER]
    assert found[1].kind == kind
    assert not found[1].exceptions


@pytest.mark.parametrize(("kind", "name", "text"), SAMPLES, ids=[name for _, name, _ in SAMPLES])
def test_block_in_one_entry_has_the_same_kind(kind: str, name: str, text: str) -> None:
    """A block that one entry holds whole is the same message as one that came line by line."""
    assert (message_of(text).kind, message_of(text).text) == (kind, text)


def test_rule_of_dashes_is_no_table() -> None:
    """A drawn line that no launcher's notice follows stays a line by itself."""
    text = "-" * 60 + "\nvalidation accuracy 0.81\n" + "-" * 60
    assert [message.kind for message in stitched(text)] == ["line"] * 3


def test_out_of_memory_report_takes_the_reaper() -> None:
    """The line of the reaper that follows the kill ends the report; the next kernel line is another message."""
    text = KERNEL["out of memory"] + "\n[ 4127.3] oom_reaper: reaped process 8812 (python), now anon-rss:0kB"
    found = stitched(f"{text}\n[ 4200.11] eth0: renamed from veth1")
    assert [message.text for message in found] == [text, "[ 4200.11] eth0: renamed from veth1"]


def test_hints_join_a_plain_line() -> None:
    """C++ frames and NCCL's own words belong to the log line above them."""
    text = (
        "[E ProcessGroupNCCL.cpp:1182] [Rank 2] NCCL watchdog thread terminated with exception: NCCL error\n"
        "ncclRemoteError: A call failed possibly due to a network error.\n"
        "Last error:\n"
        "socketProgress: Connection closed by remote peer 10.0.0.7<40010>\n"
        "Exception raised from checkForNCCLErrorsInternal at ../ProcessGroupNCCL.cpp:1470 (most recent call first):\n"
        "frame #0: c10::Error::Error() + 0x57 (0x7f in libc10.so)"
    )
    found = stitched(f"{text}\n{AFTER}")
    assert [message.text for message in found] == [text, AFTER]
    assert found[0].kind == "crash"


def test_warning_takes_its_source_line() -> None:
    """Python prints the source line of a warning below it."""
    text = "/opt/lib/data.py:41: UserWarning: slow path\n  warnings.warn(text)"
    assert [message.text for message in stitched(f"{text}\n{AFTER}")] == [text, AFTER]


def test_java_stack_belongs_to_its_exception() -> None:
    """Lines of a Java stack and its causes follow the line that names the exception."""
    text = (
        "31/01/02 10:00:00 ERROR Executor: Exception in task 3.0 in stage 1.0 (TID 9)\n"
        "java.lang.OutOfMemoryError: Java heap space\n"
        "\tat java.util.Arrays.copyOf(Arrays.java:3236)\n"
        "\t... 12 more\n"
        "Caused by: java.io.IOException: spill failed\n"
        "\tat org.apache.spark.Spill.run(Spill.java:12)"
    )
    found = stitched(f"{text}\n{AFTER}")
    assert [len(message.entries) for message in found] == [1, 5, 1]
    assert found[1].kind == "traceback"
    assert found[1].exceptions[-1].type == "java.lang.OutOfMemoryError"


def test_hydra_error_is_one_message() -> None:
    """Hydra's announcement, the traceback and the closing advice belong together."""
    text = (
        "Error executing job with overrides: ['lr=3']\n"
        "Traceback (most recent call last):\n"
        '  File "fit.py", line 9, in main\n'
        "    fit(cfg)\n"
        "KeyError: 'lr'\n"
        "\n"
        "Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace."
    )
    found = stitched(f"{text}\n{AFTER}")
    assert [message.text for message in found] == [text, AFTER]
    assert found[0].exceptions[0].message == "'lr'"


def test_configuration_error_is_one_message() -> None:
    """Hydra's words on a wrong override make one message."""
    text = (
        "Could not override 'model.depht'.\nTo append to your config use +model.depht=3\n"
        "Key 'depht' is not in struct\n    full_key: model.depht\n    object_type=dict"
    )
    assert [message.text for message in stitched(f"{text}\n{AFTER}")] == [text, AFTER]


def test_flood_is_bounded() -> None:
    """A flood of equal lines makes messages of a bounded length, and not one that never ends."""
    line = "x.cu:1: f: block: [0,0,0], thread: [1,0,0] Assertion `a` failed."
    found = stitched("\n".join([line] * 5_000))
    assert [len(message.entries) for message in found] == [2_000, 2_000, 1_000]


@pytest.mark.parametrize(
    "text",
    [
        "One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting.\n"
        'Missing ranks:\n3!: [grads_0, grads_1]\nOne or more rank (marked by "!") is stalled for longer than 300 seconds.',
        "Megascale detects a hang that is likely caused by bad TPU chips on the following hosts.\n"
        "E0311 04:26:29.1 1412 megascale_error_aggregator.cc:415]   The host that have bad TPUs are: a-1-3.a\n"
        "Full error digest:\n  Potential cause: Bad TPU chips",
        "mpirun detected that one or more processes exited with non-zero status, thus causing\n"
        "the job to be terminated. The first process to do so was:\n  Process name: [[511,1],1]\n  Exit code:    1",
    ],
)
def test_reports_of_several_lines_are_one_message(text: str) -> None:
    """What says who is at fault stands on another line than what went wrong."""
    assert [message.text for message in stitched(f"{BEFORE}\n{text}\n{AFTER}")] == [BEFORE, text, AFTER]


def test_a_terminal_s_answer_belongs_to_the_question() -> None:
    """The number below a command that asks for an exit code is its answer; text that follows is not."""
    asked = stitched("$ echo $?\n137\n$ ls\n")
    assert asked[0].text == "$ echo $?\n137"
    assert stitched("$ echo $?\nnothing")[0].text == "$ echo $?"


def test_what_lmod_says_is_one_message() -> None:
    """The name of the module stands below the complaint."""
    text = 'Lmod has detected the following error:  The following module(s) are unknown:\n"torch/2.1"\n\nPlease check'
    assert [message.text.split("\n")[1] for message in stitched(text + " it.\nstart")[:1]] == ['"torch/2.1"']
