"""Shapes that are not Python tracebacks: crash dumps, tables, kernel reports, usage texts.

Sources of the shapes: libstdc++ and libc++abi (terminate), glog and absl (stack dumps), CPython's faulthandler, CUDA
device asserts, Open MPI, glibc, the Go runtime, the Linux kernel's out-of-memory and oops reports, TensorFlow's BFC
allocator, argparse and Click, Hydra, Dask, pip, torchrun, Horovod's stall inspector, Megascale.
"""

from __future__ import annotations

import re

import msgspec

from analyzer.expressions import expression

KERNEL_PREFIX = expression(
    r"^.{0,160}?\bkernel: *(?:\[ *\d+\.\d+\] *)?|^.{0,60}?\[ *\d+\.\d{3,9}\](?:\[ *[TC]\d+\])? *"
)


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A shape told by its first line and by what its further lines look like.

    `literals`: one of them stands in every first line. `begin` matches the first line, `more` the lines that go on with
    it (also after a blank line where `blanks`), `end` its last line. `hints`: what libraries print below an error
    belongs to it too. `second` must match the second line, else there is no block, and its last line is ruled like its
    first. `again` begins another block of the kind. `patience`: for how many lines of others it stays open;
    `longest`: how many lines it has at most.
    """

    name: str
    kind: str
    literals: tuple[str, ...]
    begin: re.Pattern[str]
    more: re.Pattern[str]
    end: re.Pattern[str] | None = None
    second: re.Pattern[str] | None = None
    again: re.Pattern[str] | None = None
    blanks: bool = False
    hints: bool = False
    patience: int = 3
    longest: int = 10_000


def _lines(*beginnings: str, start: str = "") -> re.Pattern[str]:
    """A pattern for lines (matched from their start) that begin in one of these ways."""
    return expression(rf"{start}(?:{'|'.join(beginnings)})")


TERMINATE = Block(
    name="terminate",
    kind="crash",
    literals=("terminate called", "libc++abi"),
    begin=_lines("terminate called (?:after|without|recursively)", r"libc\+\+abi: "),
    more=_lines(r"\s*what\(\):", "terminate called recursively", r"\s+\S"),
    again=_lines("terminate called (?:after|without)"),
    blanks=True,
    hints=True,
)
STACK_DUMP = Block(
    name="stack_dump",
    kind="crash",
    literals=("*** ", "Check failed"),
    begin=_lines(
        r"\*\*\* (?:Check failure stack trace|SIG[A-Z]+ (?:\(@|received)|Aborted at \d)",
        r"(?:^|\] ?|: )Check failed: ",
    ),
    more=_lines(
        r"\s*@\s+(?:0x|\(nil\)|[0-9a-f]{8})",
        r"(?:\[[^\]]{1,80}\] \S+: )?(?:PC: @|\*\*\* |\s*@\s)",
        r"\s+\[failed to",
        r"\[address_is_readable",
        r"https://symbolize\.",
        r".{0,120}\] RAW: ",
        r"\s+0x[0-9a-f]+",
    ),
)
THREAD_DUMP = Block(
    name="thread_dump",
    kind="crash",
    literals=("Fatal Python error: ", "Timeout (", "(most recent call first):"),
    begin=_lines(
        "Fatal Python error: ",
        r"^Timeout \(\d+:\d\d:\d\d",
        r"^(?:Current thread|Thread) 0x[0-9a-f]+.{0,80}\(most recent call first\):",
    ),
    more=_lines(
        "Python runtime state",
        "(?:Current thread|Thread) 0x",
        r'\s+File "',
        r"\s+\.\.\.",
        "Extension modules?: ",
        r"\s*<",
        r"Stack \(most recent",
        "Current thread's C stack",
        r"\s+Binary file",
        r"\s+Garbage-collecting",
    ),
    again=_lines("Fatal Python error: ", r"^Timeout \("),
    blanks=True,
)
DEVICE_ASSERT = Block(
    name="device_assert",
    kind="crash",
    literals=("Assertion",),
    begin=_lines(r": block: \[\d+, ?\d+, ?\d+\], thread: \[\d+, ?\d+, ?\d+\] Assertion"),
    more=_lines(r".{0,400}: block: \[\d+, ?\d+, ?\d+\], thread: \["),
    patience=8,
)
MPI_SIGNAL = Block(
    name="mpi_signal",
    kind="crash",
    literals=("*** Process received signal",),
    begin=_lines(r"^\[[^\]\n]{1,120}:\d+\] \*\*\* Process received signal \*\*\*"),
    more=_lines(r"\[[^\]\n]{1,120}:\d+\] "),
    end=_lines(r"\*\*\* End of error message \*\*\*"),
    patience=20,
)
GLIBC = Block(
    name="glibc",
    kind="crash",
    literals=("*** Error in ", "= Backtrace: ="),
    begin=_lines(r"\*\*\* Error in .{1,300}\*\*\*", "^=+ Backtrace: =+"),
    more=_lines("=+ (?:Backtrace|Memory map): =+", "/", r"\[0x", "[0-9a-f]{8,16}-[0-9a-f]{8,16} "),
)
GO_PANIC = Block(
    name="go_panic",
    kind="crash",
    literals=("panic: ", "fatal error: "),
    begin=_lines("^(?:panic|fatal error): "),
    more=_lines(
        r"goroutine \d+ \[",
        r"[\w./*()-]+\(.{0,400}\)$",
        r"\s+/",
        "created by ",
        r"\[signal ",
        r"\[recovered\]",
        "panic: ",
    ),
    blanks=True,
)
KERNEL_MEMORY = Block(
    name="kernel_memory",
    kind="kernel",
    literals=("oom-killer", "Killed process "),
    begin=_lines("invoked oom-killer", r"Killed process \d+"),
    more=_lines(  # for reports without the kernel's stamp; with it, every stamped line up to the kill belongs
        "CPU: ", "Hardware name", "Call Trace", "</?TASK>", "R[A-DIS1][XIP0-9]", "RBP", r"CR\d", "FS:", "Code:",
        "memory[:+]", "swap: ", "kmem: ", "Memory cgroup", "Tasks ", r"\[ *\w+ *\]", "oom-kill:", "oom_",
        "Out of memory", "Killed process", "Mem-Info", "active_anon", "inactive", "unevictable", r"Node \d",
        "lowmem_reserve", r"\d+ ", "Free swap", "Total swap", "anon ", "file ", "kernel", "slab", "sock ", "shmem",
        "pgfault", "workingset", r"\?", r"\w+\+0x", "Modules linked", "Workqueue", "Tainted",
    ),
    end=_lines("oom_reaper: reaped process"),
    patience=40,
)  # fmt: skip
KERNEL_OOPS = Block(
    name="kernel_oops",
    kind="kernel",
    literals=(
        "BUG: ", "kernel BUG at", "general protection fault", "blocked for more than", "Call Trace:", "cut here ]",
        "Oops: ", "unable to handle", "rcu_sched", "rcu_preempt",
    ),
    begin=_lines(
        "(?<![A-Z])BUG: ", "kernel BUG at", "general protection fault", r"blocked for more than \d+ seconds",
        "Call Trace:", r"\[ cut here \]", "Oops: ", "unable to handle", r"rcu_\w+ (?:self-)?detected stall",
    ),
    more=_lines(
        r"\s", r"CPU: \d", "Hardware name", "Call Trace", "</?(?:TASK|IRQ|NMI)>", r"R[A-DIS1]\w{1,2}:", "RBP", r"CR\d",
        r"DR\d", "FS:", "EFLAGS", "Code:", "PKRU", "Modules linked", "Workqueue", "(?:Not t|T)ainted",
        r"\?? ?[\w.]+\+0x", r"\[<", r"---\[", "Oops:", "Kernel panic", "Sending NMI", '"echo 0', r"task:\w",
        r"\w+ *state:", "#PF", "PGD ", "BUG: ", "kernel BUG", "ret_from_fork", "entry_SYSCALL", "invalid opcode",
        "general protection", "watchdog: ",
    ),
    end=_lines(r"---\[ end (?:trace|Kernel)"),
    patience=10,
)  # fmt: skip
ALLOCATOR_DUMP = Block(
    name="allocator_dump",
    kind="table",
    literals=("bfc_allocator.cc",),
    begin=_lines(
        r"bfc_allocator\.cc:\d+\] Allocator \(\w+\) ran out of memory trying to allocate (?!.*caller indicates)"
    ),
    more=_lines(
        r".{0,120}bfc_allocator\.cc:\d+\] (?!Allocator )",
        "(?:Limit|InUse|MaxInUse|NumAllocs|MaxAllocSize|Reserved|PeakReserved|LargestFreeBlock): ",
        "[*_x]{20,}",
    ),
    blanks=True,
    patience=8,
)
RULED_TABLE = Block(
    name="ruled_table",
    kind="table",
    literals=("+---", "+===", "|==="),
    begin=_lines(r"^\s*(?:\+[-=]{4,}|\|={10,})"),
    more=_lines(r"\s*[|+]"),
)
BOX = Block(
    name="box",
    kind="table",
    literals=("╭─", "┌─", "┏━", "╔═"),
    begin=_lines(r"^\s*[╭┌┏╔][─━═]"),
    more=_lines(r"\s*[│┃║├┣╞╠╰└┗╚┡┢╟]"),
    end=_lines(r"^\s*[╰└┗╚]"),
)
USAGE = Block(
    name="usage",
    kind="table",
    literals=("usage: ", "Usage: "),
    begin=_lines(r"^[Uu]sage: \S"),
    more=_lines(
        r"\s+\S", r"\S.{0,200}?: error: ", "Try '", "Error: ", "(?:optional |positional )?arguments:", "options:"
    ),
    end=_lines(r"^\S.{0,200}?: error: ", "^Error: "),
    again=_lines("^[Uu]sage: "),
    blanks=True,
    patience=12,
)
CONFIGURATION = Block(
    name="configuration",
    kind="line",
    literals=(
        "Could not override", "Could not append", "Could not delete", "Error merging", "ConfigAttributeError",
        "ConfigKeyError", "Error in call to target", "Missing mandatory value",
    ),
    begin=_lines(
        "Could not (?:override|append|delete)", "Error merging", "In '[^']+': Config", "Error in call to target",
        "Missing mandatory value", start="^",
    ),
    more=_lines(
        "To append to your config", "Key '", r"\s+(?:full_key|reference_type|object_type)", "full_key:", r"\w*Error\(",
        "Set the environment variable HYDRA",
    ),
    blanks=True,
    hints=True,
)  # fmt: skip
DASK_FAILURE = Block(
    name="dask_failure",
    kind="line",
    literals=("Compute Failed",),
    begin=_lines(r"Compute Failed\s*$"),
    more=_lines("(?:Key|Function|args|kwargs|Exception|Traceback|State|Task): ", r"\s+\S"),
)
PIP_FAILURE = Block(
    name="pip_failure",
    kind="line",
    literals=("Command errored out", "subprocess-exited-with-error"),
    begin=_lines(r"^\s*(?:ERROR: Command errored out with exit status|error: subprocess-exited-with-error)"),
    more=_lines(r"\s+\S", "[×╰│]", "note: ", "hint: ", "ERROR: Command errored", "-{10,}"),
    blanks=True,
)
MPI_NOTICE = Block(
    name="mpi_notice",
    kind="table",
    literals=("-" * 40,),
    begin=_lines(r"^-{40,}\s*$"),
    second=_lines(
        "mpirun", "mpiexec", "orterun", "prterun", "prun", "MPI_ABORT", "Primary job", "There are not enough", "ORTE",
        "PRTE", "PMIx", "A system", "A request", "An? (?:ORTE|PRTE|MPI|process|internal|requested)", "By default",
        "WARNING: ", "The (?:value|application|user|call|following|library)", "Open MPI", "No OpenFabrics", "Your job",
        "It looks like", "Failed to",
    ),
    more=_lines(".*"),
    end=_lines(r"^-{40,}\s*$"),
    blanks=True,
    patience=0,
    longest=60,
)  # fmt: skip
MPI_EXIT = Block(  # without its rulings, which people leave out
    name="mpi_exit",
    kind="table",
    literals=("detected that one or more processes exited",),
    begin=_lines("detected that one or more processes exited with non-zero status"),
    more=_lines(r"\s*$", "the job to be terminated", r"\s+Process name:", r"\s+Exit code:"),
    end=_lines(r"^\s+Exit code:"),
)
LAUNCHER_TABLE = Block(
    name="launcher_table",
    kind="table",
    literals=("=" * 20, "*" * 20),
    begin=_lines(r"^(?:={20,}|\*{20,})\s*$"),
    second=_lines(r"^\s*\S+ FAILED\s*$"),
    more=_lines(".*"),
    end=_lines(r"^(?:={20,}|\*{20,})\s*$"),
    blanks=True,
    patience=0,
    longest=500,
)
STALL_REPORT = Block(
    name="stall_report",
    kind="line",
    literals=("One or more tensors were submitted to be reduced",),
    begin=_lines("One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks"),
    more=_lines(r"\s*$", "Missing ranks:", "Stalled ops:", r"\d+!?: \[", r".{1,400} \[missing ranks:"),
    end=_lines(r'One or more rank \(marked by "!"\) is stalled'),
    patience=4,
)
HANG_REPORT = Block(
    name="hang_report",
    kind="line",
    literals=("Megascale detects a hang",),
    begin=_lines("Megascale detects a hang"),
    more=_lines(r".{0,80}megascale_error_aggregator\.cc:\d+\] {2,}", "Full error digest:", r"\s+\S"),
)
WARNING = Block(
    name="warning",
    kind="line",
    literals=("Warning: ",),
    begin=_lines(r":\d+: \w*Warning: "),
    more=_lines(r"  \S"),
)
MODULE_ERROR = Block(
    name="module_error",
    kind="line",
    literals=("Lmod has detected",),
    begin=expression(r"(?:^|: )Lmod has detected the following error:"),
    more=_lines(r'\s*"', r"\s{2,}\S", "Please|It is also|Also make|#%Module|You |To correct|While processing|Try: "),
    blanks=True,
    patience=0,
    longest=24,
)
ASKED_CODE = Block(  # in a copied terminal: a command that asks for an exit code, and the number that it prints
    name="asked_code",
    kind="line",
    literals=("$?", "exitCode"),
    begin=expression(r"^(?:[\w.@:~/()\[\] -]{0,80})?[$#%>] [^\n]{0,300}(?:echo [^\n]{0,60}\$\?|exitCode)"),
    more=_lines(r"\s*\d{1,3}\s*$"),
    second=expression(r"^\s*\d{1,3}\s*$"),
    longest=2,
)
BLOCKS = (
    TERMINATE, STACK_DUMP, THREAD_DUMP, DEVICE_ASSERT, MPI_SIGNAL, GLIBC, GO_PANIC, KERNEL_MEMORY, KERNEL_OOPS,
    ALLOCATOR_DUMP, RULED_TABLE, BOX, USAGE, CONFIGURATION, DASK_FAILURE, PIP_FAILURE, MPI_NOTICE, MPI_EXIT,
    LAUNCHER_TABLE, STALL_REPORT, HANG_REPORT, WARNING, MODULE_ERROR, ASKED_CODE,
)  # fmt: skip


def block_at(line: str, blocks: tuple[Block, ...] = BLOCKS) -> Block | None:
    """The block that begins with this line, out of those whose literal stands in it."""
    return next((block for block in blocks if block.begin.search(line)), None)
