"""What a person would call one log message: put together again out of the entries of one replica and rank."""

from __future__ import annotations

import msgspec

from analyzer.model.entry import Entry, Origin
from analyzer.model.instant import Instant


class Frame(msgspec.Struct, frozen=True, gc=False):
    """A frame of a Python traceback."""

    file: str
    line: int | None
    function: str
    code: str = ""

    @property
    def is_users(self) -> bool:
        """Whether the frame is in the user's own code, and not in an installed package or the interpreter."""
        library = (
            "site-packages",
            "dist-packages",
            "/lib/python",
            "\\lib\\",
            "<frozen",
            "<string>",
            "<__array_function__",
        )
        return not any(mark in self.file for mark in library)


class ExceptionLink(msgspec.Struct, frozen=True, gc=False):
    """One exception of a chain.

    `type` is the name as printed, dotted where the traceback prints it dotted. `relation` says how the next link in
    the chain came out of this one: `cause` (raise … from), `context` (during handling), `remote` (an original
    traceback carried over from another process), or "" for the last one.
    """

    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    relation: str = ""

    @property
    def short_type(self) -> str:
        """The type's name without its module."""
        return self.type.rsplit(".", 1)[-1]

    @property
    def headline(self) -> str:
        """The first line that Python prints for it: type and message."""
        first = self.message.split("\n", 1)[0]
        return f"{self.type}: {first}" if first else self.type

    @property
    def user_frame(self) -> Frame | None:
        """The deepest frame in the user's own code; None where there is none.

        The managed services install the user's package with `pip install --user`, among other packages: there the
        user's code is what lies beside the file that was run as the program.
        """
        own = next((frame for frame in reversed(self.frames) if frame.is_users), None)
        run = next((frame.file for frame in self.frames if frame.function == "<module>"), "")
        if own is not None or "/.local/lib/python" not in run:
            return own
        package = run.rpartition("/")[0] + "/"
        return next((frame for frame in reversed(self.frames) if frame.file.startswith(package)), None)


class Message(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One message of one replica (and rank): a line, a traceback, a crash dump, a table, a kernel report.

    `text` is clean: no rank or timestamp prefix of a launcher, no colours, only the last state of a progress bar.
    `entries` are where it came from, in order; their texts are the verbatim evidence. `exceptions` is the chain of a
    Python traceback in the order in which they were raised (the first is the origin, the last is what ended the
    program); empty for anything else. `about` is the replica that a service message speaks of, where that is not the
    speaker; `excerpt` is the part of the entry's text that this message is, where one entry holds several.
    """

    text: str
    entries: tuple[Entry, ...]
    kind: str = "line"  # line | traceback | crash | table | kernel
    rank: int | None = None
    exceptions: tuple[ExceptionLink, ...] = ()
    about: str | None = None
    excerpt: str = ""

    @property
    def first(self) -> Entry:
        """The entry that the message begins with."""
        return self.entries[0]

    @property
    def time(self) -> Instant | None:
        """When the message begins."""
        return self.entries[0].time

    @property
    def origin(self) -> Origin:
        """Who says it."""
        return self.entries[0].origin

    @property
    def replica(self) -> str | None:
        """The replica that it is about, as its platform calls it: the speaker, or the one that the service names."""
        return self.about or self.entries[0].replica

    @property
    def raw(self) -> str:
        """The message exactly as the input has it."""
        return self.excerpt or "\n".join(entry.text for entry in self.entries)
