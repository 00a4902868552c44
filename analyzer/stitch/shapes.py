"""What every shape of a message answers: does the next line of the stream belong to it?"""

from __future__ import annotations

import re
from typing import Protocol

from analyzer.expressions import expression

NO, WEAK, SURE, EXACT = 0, 1, 2, 3

PROGRESS = expression(
    r"\d ?%[| ]|\d(?:it|s|B)/(?:s|it)\b|\bETA\b|^\s*\d+/\d+ ?\[|^\s*(?:step|epoch|iter)\w*\b[ :=]", re.IGNORECASE
)
_BAR = expression(r"\s*(?:\d{1,3}%\||\d+/\d+ ?\[)")
_RULE = expression(r"^\s*[=*_~#-]{10,}\s*$")

_BEGINS = expression(
    r"\s*(?:[\[(<]?\d{4}[-/]\d\d[-/]\d\d|[\[(]?\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:|[IWEF]\d{4,8} \d\d:"
    r"|\[?(?:DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|TRACE)\b|\[[IWEFD]\d{3,4} |\[[WE] |\[\w+:\d+\]"
    r"|(?:wandb|srun|slurmstepd|mpirun|bash|sh|kernel|python3?|torchrun|train|usage)\b[\w.-]*: |Epoch\b|Step\b|Iter"
    r"|(?:Module completed|Clean up|Killed\b|Aborted\b|Segmentation fault|Command |Saving|Process |Exception ignored"
    r"|Fatal Python|terminate called|Traceback|\*\*\* |Sending process|Loading|Training|Waiting|Terminat|Bus error"
    r"|The replica|Finished tearing|Tearing down|Job \w+|Module raised|Exit code|Exited with)"
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
        """NO, WEAK, SURE or EXACT: whether a line goes on with it. `apart`: lines of others or time lie between."""
        ...

    def take(self, line: str) -> None:
        """Moves on by a line that is now part of it."""
        ...


def begins_message(line: str) -> bool:
    """Whether a line looks like the start of another message: a stamp, a level, a program's name, a step."""
    return _BEGINS.match(line) is not None


def is_indented(line: str) -> bool:
    """Whether a line is set in and is not a progress bar."""
    return line[:1] in (" ", "\t") and PROGRESS.search(line) is None


def is_code(line: str) -> bool:
    """Whether a line can be a source line below a frame: anything set in but a bar that counts up."""
    return line[:1] in (" ", "\t") and _BAR.match(line) is None


def is_rule(line: str) -> bool:
    """Whether a line is only a drawn rule."""
    return _RULE.match(line) is not None


def leaves_open(last: str) -> bool:
    """Whether a message's last line announces another."""
    return not last.strip() or last.rstrip().endswith(":")
