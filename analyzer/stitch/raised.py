"""An exception whose message is still being read, and what it says of tracebacks that it carries."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.expressions import expression
from analyzer.model import ExceptionLink, Frame
from analyzer.stitch.hints import is_code_trace
from analyzer.stitch.shapes import is_rule

_JAVA_CAUSE = expression(r"^(?:Caused by: |: )(?P<type>[\w.$]+)(?:: (?P<message>.*))?$")
_CAUGHT_TYPE = expression(r"\(([\w.]+)\)$")
_CAUGHT_IN_WORKER = expression(r"^Caught (\w+) in ")
# Classes of multiprocessing, concurrent.futures and JAX that exist to print another exception's frames.
_CARRIERS = frozenset(("RemoteTraceback", "_RemoteTraceback", "SimplifiedTraceback", "UnfilteredStackTrace"))


class Raised:
    """An exception whose message is still being read."""

    def __init__(self, name: str, message: str, frames: Iterable[Frame]) -> None:
        self.type, self.lines, self.frames = name, [message], tuple(frames)

    def links(self, relation: str = "") -> list[ExceptionLink]:
        """The exception, after the causes that a Java stack in its message names; the last named is the origin."""
        trace = next((n for n, line in enumerate(self.lines) if n and is_code_trace(line)), len(self.lines))
        causes = [found for line in self.lines[trace:] if (found := _JAVA_CAUSE.match(line))]
        inner = [ExceptionLink(found["type"], found["message"] or "", (), "cause") for found in reversed(causes)]
        told = self.lines[:trace]
        while len(told) > 1 and (not told[-1].strip() or is_rule(told[-1])):
            told.pop()
        return [*inner, ExceptionLink(self.type, "\n".join(told).strip(), self.frames, relation)]

    @property
    def is_carrier(self) -> bool:
        """Whether it only carries another process's traceback as its text."""
        return short_name(self.type) in _CARRIERS

    @property
    def is_table(self) -> bool:
        """Whether its message is a launcher's table of failures, which may quote a traceback for each."""
        return self.type.endswith("ChildFailedError")

    @property
    def caught(self) -> str:
        """The short type that a wrapper says it carries: `RayTaskError(TypeError)`, `Caught TypeError in …`."""
        found = _CAUGHT_TYPE.search(self.type) or _CAUGHT_IN_WORKER.match(self.lines[0])
        return short_name(found[1]) if found else ""


def short_name(name: str) -> str:
    """An exception's name without its module."""
    return name.rsplit(".", 1)[-1]


def related(link: ExceptionLink, relation: str) -> ExceptionLink:
    """The same link with another relation to the one after it."""
    return ExceptionLink(link.type, link.message, link.frames, relation)
