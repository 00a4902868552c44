"""Shapes that are not Python tracebacks: crash dumps, tables, kernel reports, usage texts."""

from __future__ import annotations

import re

import msgspec

from analyzer.stitch.hints import is_code_trace, is_hint, is_log_tail
from analyzer.stitch.shapes import (
    NO,
    SURE,
    WEAK,
    begins_message,
    is_indented,
    is_rule,
    leaves_open,
)

_KERNEL_PREFIX = re.compile(
    r"^.{0,160}?\bkernel: *(?:\[ *\d+\.\d+\] *)?|^.{0,60}?\[ *\d+\.\d{3,9}\](?:\[ *[TC]\d+\])? *"
)
_OOM_LINES = (
    r"CPU: \d|Hardware name|Call Trace|<TASK>|</TASK>|RIP:|RSP:|R[A-D1SB][XIP0-9]|CR\d|FS:|Code:|memory: usage|memory\+swap"
    r"|swap: usage|kmem: usage|Memory cgroup|Tasks state|\[ *\w+ *\]|oom-kill:|Out of memory|Killed process|Tasks in|Mem-Info"
    r"|active_anon|Node \d|lowmem_reserve|\d+ |Free swap|Total swap|anon |file |kernel|slab|pgfault|workingset|oom_|inactive"
    r"|unevictable|sock |shmem|\?|\w+\+0x|Modules linked|Workqueue|Tainted"
)
_OOPS_LINES = re.compile(
    r"CPU: \d|Hardware name|Call Trace|</?(?:TASK|IRQ|NMI)>|RIP:|RSP:|R[A-D1SB]\w{1,2}:|CR\d|FS:|Code:|PKRU|Modules linked"
    r"|Workqueue|Tainted|\?? ?[\w.]+\+0x|\[<|---\[|Oops:|Kernel panic|Sending NMI|\"echo 0|task:\w|Not tainted|#PF|PGD "
    r"|BUG: |kernel BUG|RBP|EFLAGS|DR\d|ret_from_fork|entry_SYSCALL|\w+ *state:|invalid opcode|general protection|watchdog: "
)


class Block(msgspec.Struct, frozen=True):
    """A shape told by its first line and by what its further lines look like.

    `more` are lines that go on with it, also after a blank line where `blanks`; `end` is its last line. `hints` also
    takes what libraries print below an error. `second` must match the second line, else there is no block,
    and its last line is ruled like its first. `again` begins another block of the kind.
    """

    name: str
    kind: str
    literals: tuple[str, ...]  # one of them stands in every first line
    begin: re.Pattern[str]
    more: re.Pattern[str]
    end: re.Pattern[str] | None = None
    second: re.Pattern[str] | None = None
    again: re.Pattern[str] | None = None
    blanks: bool = False
    hints: bool = False
    patience: int = 3


def _block(name: str, kind: str, literals: str | tuple[str, ...], begin: str, more: str, **more_of_it: object) -> Block:
    compiled = {key: re.compile(value) if isinstance(value, str) else value for key, value in more_of_it.items()}
    words = (literals,) if isinstance(literals, str) else literals
    return Block(name, kind, words, re.compile(begin), re.compile(more), **compiled)  # type: ignore[arg-type]


_AT = r"\s*@\s+(?:0x|\(nil\)|[0-9a-f]{8})"
BLOCKS = (
    _block(
        "terminate", "crash", ("terminate called", "libc++abi"), r"terminate called (?:after|without|recurs)|libc\+\+abi: ",
        r"\s*what\(\):|terminate called recursively|\s+\S", blanks=True, hints=True, again="terminate called (?:after|without)",
    ),
    _block(
        "stack_dump", "crash", ("*** ", "Check failed"),
        r"\*\*\* (?:Check failure stack trace|SIG[A-Z]+ (?:\(@|received)|Aborted at \d)|(?:^|\] ?|: )Check failed: ",
        rf"{_AT}|PC: @|(?:\[[^\]]{{1,80}}\] \S+: )?(?:PC: @|\*\*\*|\s*@\s)|\*\*\* (?:Check failure|SIG|Aborted at)|\s+\[failed to"
        r"|\[address_is_readable|https://symbolize\.|.{0,120}\] RAW: |\s+0x[0-9a-f]+",
    ),
    _block(
        "thread_dump", "crash", ("Fatal Python error: ", "Timeout (", "(most recent call first):"),
        r"Fatal Python error: |^Timeout \(\d+:\d\d:\d\d|^(?:Current thread|Thread) 0x[0-9a-f]+.{0,80}\(most recent call first\):",
        r"Python runtime state|(?:Current thread|Thread) 0x|\s+File \"|\s+\.\.\.|Extension modules?: |\s*<|Stack \(most recent"
        r"|Current thread's C stack|\s+Binary file|\s+Garbage-collecting", blanks=True, again=r"Fatal Python error: |^Timeout \(",
    ),
    _block(
        "device_assert", "crash", ("Assertion",), r": block: \[\d+, ?\d+, ?\d+\], thread: \[\d+, ?\d+, ?\d+\] Assertion",
        r".{0,400}: block: \[\d+, ?\d+, ?\d+\], thread: \[", patience=8,
    ),
    _block(
        "mpi_signal", "crash", ("*** Process received signal",), r"^\[[^\]\n]{1,120}:\d+\] \*\*\* Process received signal \*\*\*",
        r"\[[^\]\n]{1,120}:\d+\] ", end=r"\*\*\* End of error message \*\*\*", patience=20,
    ),
    _block(
        "glibc", "crash", ("*** Error in ", "= Backtrace: ="), r"\*\*\* Error in .{1,300}\*\*\*|^=+ Backtrace: =+",
        r"=+ (?:Backtrace|Memory map): =+|/|\[0x|[0-9a-f]{8,16}-[0-9a-f]{8,16} ",
    ),
    _block(
        "go_panic", "crash", ("panic: ", "fatal error: "), r"^(?:panic|fatal error): ",
        r"goroutine \d+ \[|[\w./*()-]+\(.{0,400}\)$|\s+/|created by |\[signal |\[recovered\]|panic: ", blanks=True,
    ),
    _block(
        "kernel_memory", "kernel", ("oom-killer", "Killed process "), r"invoked oom-killer|Killed process \d+", _OOM_LINES,
        end=r"oom_reaper: reaped process", patience=40,
    ),
    _block(
        "kernel_oops", "kernel",
        ("BUG: ", "kernel BUG at", "general protection fault", "blocked for more than", "Call Trace:", "cut here ]", "Oops: ",
         "unable to handle", "rcu_sched", "rcu_preempt"),
        r"(?<![A-Z])BUG: |kernel BUG at|general protection fault|blocked for more than \d+ seconds|Call Trace:|\[ cut here \]|Oops: "
        r"|unable to handle|rcu_\w+ (?:self-)?detected stall", _OOPS_LINES.pattern + r"|\s", end=r"---\[ end (?:trace|Kernel)",
        patience=10,
    ),
    _block(
        "allocator_dump", "table", ("bfc_allocator.cc",), r"bfc_allocator\.cc:\d+\] Allocator \(\w+\) ran out of memory trying to allocate "
        r"(?!.*caller indicates)", r".{0,120}bfc_allocator\.cc:\d+\] (?!Allocator )|(?:Limit|InUse|MaxInUse|NumAllocs|MaxAllocSize|Reserved"
        r"|PeakReserved|LargestFreeBlock): |[*_x]{20,}", blanks=True, patience=8,
    ),
    _block("ruled_table", "table", ("+---", "+===", "|==="), r"^\s*(?:\+[-=]{4,}|\|={10,})", r"\s*[|+]"),
    _block("box", "table", ("╭─", "┌─", "┏━", "╔═"), r"^\s*[╭┌┏╔][─━═]", r"\s*[│┃║├┣╞╠╰└┗╚┡┢╟]", end=r"^\s*[╰└┗╚]"),
    _block(
        "usage", "table", ("usage: ", "Usage: "), r"^[Uu]sage: \S", r"\s+\S|\S.{0,200}?: error: |Try '|Error: |(?:optional |positional )?arguments:"
        r"|options:", end=r"^\S.{0,200}?: error: |^Error: ", again="^[Uu]sage: ", blanks=True, patience=12,
    ),
    _block(
        "configuration", "line", ("Could not override", "Error merging", "Could not append", "Could not delete", "ConfigAttributeError",
         "ConfigKeyError", "Error in call to target", "Missing mandatory value"),
        r"^(?:Could not (?:override|append|delete)|Error merging|In '[^']+': Config|Error in call to target|Missing mandatory value)",
        r"To append to your config|Key '|\s+(?:full_key|reference_type|object_type)|full_key:|Set the environment variable HYDRA|\w*Error\(",
        blanks=True, hints=True,
    ),
    _block(
        "dask_failure", "line", ("Compute Failed",), r"Compute Failed\s*$",
        r"Key: |Function: |args: |kwargs: |Exception: |Traceback: |State: |Task: |\s+\S",
    ),
    _block(
        "mpi_notice", "table", ("----------------------------------------",), r"^-{40,}\s*$", r".*", end=r"^-{40,}\s*$",
        second=r"^(?:mpirun|mpiexec|orterun|prterun|prun|MPI_ABORT|Primary job|There are not enough|ORTE|PRTE|PMIx|A system|A request|"
        r"An? (?:ORTE|PRTE|MPI|process|internal|requested)|The (?:value|application|user|call|following|library)|By default|WARNING: |"
        r"Open MPI|No OpenFabrics|Your job|It looks like|Failed to)", blanks=True, patience=0,
    ),
    _block(
        "launcher_table", "table", ("====================", "********************"), r"^(?:={20,}|\*{20,})\s*$", r".*",
        end=r"^(?:={20,}|\*{20,})\s*$", second=r"^\s*\S+ FAILED\s*$", blanks=True, patience=0,
    ),
    _block(
        "pip", "line", ("Command errored out", "subprocess-exited-with-error"),
        r"^\s*(?:ERROR: Command errored out with exit status|error: subprocess-exited-with-error)",
        r"\s+\S|[×╰│]|note: |hint: |ERROR: Command errored|-{10,}", blanks=True,
    ),
    _block("warning", "line", ("Warning: ",), r":\d+: \w*Warning: ", r"  \S"),
)  # fmt: skip


class BlockShape:
    """A block in progress."""

    def __init__(self, block: Block, first: str) -> None:
        self.block, self.kind = block, block.kind
        self.patience = block.patience
        self.is_done = False
        self._lines, self._first, self._last = 1, first, first
        self._ending = block.name == "kernel_memory" and "Killed process" in first
        prefix = _KERNEL_PREFIX.match(first) if block.kind == "kernel" else None
        self._is_kernel_stream = prefix is not None

    @property
    def is_doubtful(self) -> bool:
        """Whether its second line must still show that it is a block at all."""
        return self.block.second is not None and self._lines == 1

    def wants(self, line: str, after_blank: bool, apart: bool) -> int:
        """How well a line fits; see `Shape`."""
        if self.is_done or (after_blank and not self.block.blanks):
            return NO
        if self.is_doubtful:
            assert self.block.second is not None
            return SURE if not apart and self.block.second.match(line) else NO
        if self.kind == "kernel":
            return self._wants_kernel(line)
        if self.block.name == "warning":
            return SURE if self._lines == 1 and not apart and self.block.more.match(line) and is_indented(line) else NO
        if self.block.again is not None and self.block.again.search(line):
            return NO
        if self.block.more.match(line) or self._ends(line):
            return SURE
        return self._wants_hint(line, after_blank, apart)

    def _wants_hint(self, line: str, after_blank: bool, apart: bool) -> int:
        if not self.block.hints:
            return NO
        if is_hint(line):
            return SURE
        return WEAK if not (apart or after_blank) and leaves_open(self._last) and not begins_message(line) else NO

    def _wants_kernel(self, line: str) -> int:
        prefix = _KERNEL_PREFIX.match(line)
        bare = line[prefix.end() :] if prefix else line
        if self._ends(line):
            return SURE
        if self._ending:
            return NO
        if self.block.name == "kernel_memory":
            if "invoked oom-killer" in line:
                return NO
            return SURE if (self._is_kernel_stream and prefix) or self.block.more.match(bare.lstrip()) else NO
        return SURE if self.block.more.match(bare) and bool(prefix) == self._is_kernel_stream else NO

    def _ends(self, line: str) -> bool:
        if self.block.end is None or self.block.end.search(line) is None:
            return False
        return self.block.second is None or line.lstrip()[:1] == self._first.lstrip()[:1]

    def take(self, line: str) -> None:
        """Moves on by a line."""
        self._lines += 1
        if line.strip():
            self._last = line
        if self._ends(line):
            self.is_done = True
        elif self.block.name == "kernel_memory" and "Killed process" in line:
            self._ending = True


class TrailShape:
    """A plain line that something explains: hints of libraries, a Java stack, C++ frames."""

    patience = 3
    is_done = False

    def __init__(self, first: str) -> None:
        self.kind = "line"
        self._last = first

    def wants(self, line: str, after_blank: bool, apart: bool) -> int:
        """How well a line fits; see `Shape`."""
        if is_hint(line) or is_code_trace(line):
            return SURE
        if apart or after_blank:
            return NO
        if is_log_tail(line):
            return SURE
        return WEAK if leaves_open(self._last) and not begins_message(line) and not is_rule(line) else NO

    def take(self, line: str) -> None:
        """Moves on by a line."""
        if line.strip():
            self._last = line
        if is_code_trace(line):
            self.kind = "traceback"
        elif self.kind == "line" and line.lstrip().startswith("frame #"):
            self.kind = "crash"


def block_at(line: str, blocks: tuple[Block, ...] = BLOCKS) -> Block | None:
    """The block that begins with this line, out of those whose literal stands in it."""
    return next((block for block in blocks if block.begin.search(line)), None)
