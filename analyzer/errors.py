"""Everything the program refuses, as one tree. Each error says what, where and what to do, and knows its exit status.

DiagnoseError
├── UsageError          2  the call's words are off
├── NothingToDiagnose   3  no such job, empty or unreadable input
├── RuleError           2  a rule pack has a mistake (file:line)
├── RemoteError         4  a remote service refused or failed
└── RenderError         5  a report could not be written
"""

from __future__ import annotations

import errno

_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_OTHER_KIND = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR)


class DiagnoseError(Exception):
    """An error of the program's own: one sentence that says what was wrong, where, and what to do."""

    exit_status = 5

    def __init__(self, what: str, *, where: str | None = None, advice: str | None = None) -> None:
        self.what, self.where, self.advice = what, where, advice
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f"; {self.advice}" if self.advice else ""
        return f"{place}{self.what}{advice}"


class UsageError(DiagnoseError):
    """The call's words are off."""

    exit_status = 2


class RuleError(UsageError):
    """A rule pack has a mistake; `where` is file:line."""


class NothingToDiagnose(DiagnoseError):
    """The input has no such job, or nothing at all."""

    exit_status = 3


class RemoteError(DiagnoseError):
    """A remote service refused or failed."""

    exit_status = 4


class RenderError(DiagnoseError):
    """A report could not be written."""


def way_to_write(error: OSError, option: str) -> str:
    """What to do about a place that could not be written to, which an option of the call has named."""
    if error.errno in _FORBIDDEN:
        return f"choose another {option}, in a folder that you may write to"
    if error.errno in _OTHER_KIND:
        return f"something else has that name: move it away or choose another {option}"
    return f"make room or choose another {option}"
