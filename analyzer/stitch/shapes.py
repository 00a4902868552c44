"""What every shape of a message answers: does the next line of the stream belong to it?"""

from __future__ import annotations

import re
from typing import Protocol

NO, WEAK, SURE = 0, 1, 2

PROGRESS = re.compile(r"\d ?%[| ]|\d(?:it|s|B)/(?:s|it)\b|\bETA\b|^\s*\d+/\d+ ?\[|^\s*(?:step|epoch|iter)\w*\b[ :=]", re.IGNORECASE)
_RULE = re.compile(r"^\s*[=*_~#-]{10,}\s*$")

# Lines that never begin a message of their own: libraries print them right after the line they explain.
HINT = re.compile(
    r"\s*(?:CUDA kernel errors might be asynchronously|For debugging consider passing CUDA_LAUNCH_BLOCKING"
    r"|Compile with `TORCH_USE_CUDA_DSA|Device-side assertions were explicitly|Search for `cuda"
    r"|Exception raised from .{1,300}\(most recent call first\)|frame #\d+: |\(no backtrace available\)"
    r"|nccl(?:SystemError|InternalError|UnhandledCudaError|RemoteError|InvalidUsage|InvalidArgument|InProgress)\b"
    r"|Last error:|what\(\):|\[\[\{\{|\[Op:|Hint: If you want to see a list of allocated tensors"
    r"|\d+ successful operations|\d+ derived errors ignored|Function call stack:|Original stack trace for"
    r"|Detected at node|Node: ['\"]|Errors may have originated|Input Source operations"
    r"|Additional GRPC error information|:?\{\"created\"|Set the environment variable HYDRA_FULL_ERROR"
    r"|To find out more about why your job exited|Total hbm usage|Output size |Program hbm requirement"
    r"|Largest program allocations|Allocations sorted by size|BufferAssignment|Peak buffers:|Live Buffers"
    r"|Cannot access gated repo|Access to model |Please make sure you specified the correct `repo_id`"
    r"|If you are trying to access a private|If this is a private repository|Checkout your internet connection"
    r"|Repository Not Found for url|Entry Not Found for url|Invalid username or password|Invalid credentials"
    r"|\(Background on this error at|IMPORTANT: PLEASE READ THIS|Original error was:|The actor is dead because"
    r"|The actor died|The worker died|Remainder of file ignored|Driver stacktrace:|If you suspect this is an IPython"
    r"|future: <(?:Task|Future)|Original exception was:|Exit code: \d|The full traceback below)"
)
_CODE_TRACE = re.compile(r"\s+at [\w.$<>/]+\(|\s*\.\.\. \d+ (?:more|common frames omitted)|Caused by: |\s+Suppressed: |: (?:org|java|com|scala)\.")
_BEGINS = re.compile(
    r"\s*(?:[\[(<]?\d{4}[-/]\d\d[-/]\d\d|[\[(]?\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:|[IWEF]\d{4,8} \d\d:"
    r"|\[?(?:DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|TRACE)\b|\[[IWEFD]\d{3,4} |\[[WE] |\[\w+:\d+\]"
    r"|(?:wandb|srun|slurmstepd|mpirun|bash|sh|kernel|python3?|torchrun|train|usage)\b[\w.-]*: |Epoch\b|Step\b|Iter"
    r"|(?:Module completed|Clean up|Killed\b|Aborted\b|Segmentation fault|Command |Saving|Process |Exception ignored"
    r"|Fatal Python|terminate called|Traceback|\*\*\* |Sending process|Loading|Training|Waiting|Terminat|Bus error)"
    r"|[\w./-]+:\d+: \w*Warning: |Error executing|Error in )"
)


class Shape(Protocol):
    """A message under construction, as seen by its grammar.

    `kind` is the message's kind. `patience` is for how many lines of others it stays open.
    """

    kind: str

    @property
    def patience(self) -> int:
        """For how many lines that belong to others it waits."""
        ...

    @property
    def is_done(self) -> bool:
        """Whether nothing more can come."""
        ...

    def wants(self, line: str, after_blank: bool, apart: bool) -> int:
        """NO, WEAK or SURE: whether a line goes on with it. `apart`: lines of others or time lie between."""
        ...

    def take(self, line: str) -> None:
        """Moves on by a line that is now part of it."""
        ...


def is_hint(line: str) -> bool:
    """Whether a line explains the one before it and never stands alone."""
    return HINT.match(line) is not None


def is_code_trace(line: str) -> bool:
    """Whether it is a line of a Java stack below its exception."""
    return _CODE_TRACE.match(line) is not None


def begins_message(line: str) -> bool:
    """Whether a line looks like the start of another message: a stamp, a level, a program's name, a step."""
    return _BEGINS.match(line) is not None


def is_indented(line: str) -> bool:
    """Whether a line is set in and is not a progress bar."""
    return line[:1] in (" ", "\t") and PROGRESS.search(line) is None


def is_rule(line: str) -> bool:
    """Whether a line is only a drawn rule."""
    return _RULE.match(line) is not None


def leaves_open(last: str) -> bool:
    """Whether a message's last line announces another."""
    return not last.strip() or last.rstrip().endswith(":")
