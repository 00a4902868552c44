"""The grammar of a traceback over the lines of a stream: which line goes on with it, in which state.

Several processes may print tracebacks into one stream at once, without a name. Each traceback therefore says how well
a line fits its state, and the stream gives the line to the one that has waited longest for such a line.
"""

from __future__ import annotations

import re
from enum import Enum

from analyzer.expressions import expression
from analyzer.stitch.grammar import (
    CARETS,
    CARRYING,
    ELISION,
    HEAD,
    NOTEBOOK_CODE,
    NOTEBOOK_FRAME,
    NOTEBOOK_HEAD,
    exception_after_frames,
    find_frame,
    is_telling_type,
    lone_exception,
    prefix_pattern,
    relation_in,
    starts_chain,
)
from analyzer.stitch.hints import is_code_trace, is_hint, is_hint_in_exception
from analyzer.stitch.shapes import (
    EXACT,
    NO,
    SURE,
    WEAK,
    begins_message,
    is_code,
    is_indented,
    is_rule,
    leaves_open,
)

_GROUP_LINE = expression(r"^\s*(?:\| |\|$|\+-|\+ )")
_BOX_LINE = expression(r"^\s*[│╭╰├]")
_TABLE_RULE = expression(r"^\s*(?:={20,}|\*{20,})\s*$")
_TABLE_ROW = expression(r"\s|[=*-]{20,}$|\[\d+\]:|Failures:|Root Cause|Other Failures|.{1,300} FAILED\s*$")
_FIELD_PATH = expression(r"^[\w.\[\]<>-]{1,200}(?: -> [\w.\[\]-]{1,100})*$")
_LOGGING_RECORD = ("Message: ", "Arguments: ")
_YAML_LINE = expression(r"^(?:found|expected|could not|mapping values|but found|while|did not find)\b")
_LONGEST_TABLE = 500


class State(Enum):
    """Where in its grammar a traceback stands."""

    FRAMES = "frames"  # a head was read; frames, code and then an exception follow
    MESSAGE = "message"  # an exception was read; its message may go on
    RELATION = "relation"  # a phrase was read that announces the next link
    TABLE = "table"  # inside a launcher's failure table, which is the message of its exception


class TracebackShape:
    """A traceback, or a lone exception line (which may be the end of one whose head was cut off)."""

    def __init__(self, first: str) -> None:
        self.kind = "traceback"
        self.state = State.FRAMES
        self.last = "head"  # within FRAMES: head, frame, code
        self.text = ""  # the last line that is not blank
        self.type = ""
        self.is_group = self.is_box = self.is_notebook = False
        self._prefix: re.Pattern[str] | None = None
        self._table_lines = 0
        self._raised = ""  # the line of the last exception
        self._is_empty = False  # whether nothing but its type is known of that exception's message
        self._begin(first)
        self._is_empty = self._raised == first and leaves_open(first)

    @property
    def patience(self) -> int:
        """Frames wait long, since other processes write between them; an ended message waits for hints."""
        return {State.FRAMES: 60, State.RELATION: 10, State.MESSAGE: 12, State.TABLE: 20}[self.state]

    @property
    def is_done(self) -> bool:
        """Never: a phrase may always announce another link."""
        return False

    def _begin(self, line: str) -> None:
        head = HEAD.search(line)
        exception = None if head is not None and "ray::" not in line else lone_exception(line)
        if exception is not None:
            self.kind = "line"
            self._raise(exception[0], line)
        elif head is not None:
            before = line[: head.start()]
            self.is_group = "Exception Group " in before
            self.is_box = "─" in before
            self.is_notebook = NOTEBOOK_HEAD.match(before) is not None
            self._prefix = None if self.is_group or self.is_box or self.is_notebook else prefix_pattern(before)
            self.last = "frame" if find_frame(line[head.end() :]) else "head"
        elif (frame := find_frame(line)) is not None:
            self._prefix = prefix_pattern(line[: frame.start()].rstrip())
            self.last = "frame"
        elif not ELISION.match(line):
            self.kind, self.state = "line", State.MESSAGE
        self.text = line

    def _bare(self, line: str) -> str:
        found = self._prefix.match(line) if self._prefix is not None else None
        return line[found.end() :] if found else line

    def wants(self, line: str, after_blank: bool, apart: bool) -> int:
        """How well a line fits; see `Shape`."""
        bare = self._bare(line)
        if self.state is State.FRAMES:
            return self._wants_in_frames(bare, apart)
        if self.state is State.MESSAGE:
            return self._wants_in_message(bare, after_blank, apart)
        if self.state is State.RELATION:
            fits = starts_chain(bare) or find_frame(bare) or lone_exception(bare.strip())
            return SURE if fits else NO
        return SURE if _TABLE_ROW.match(line) else NO

    def _wants_in_frames(self, bare: str, apart: bool) -> int:
        if self.is_group:
            return SURE if _GROUP_LINE.match(bare) or relation_in(bare) else NO
        if self.is_box and _BOX_LINE.match(bare):
            return SURE
        if self.is_notebook and (NOTEBOOK_FRAME.match(bare) or NOTEBOOK_CODE.match(bare)):
            return SURE
        if (frame := find_frame(bare)) is not None and "(most recent call last)" not in bare:
            return self._wants_frame(frame["function"] == "<module>")
        if is_code(bare):
            return self._wants_indented(bare)
        if self.type and self._ends_quoted_frames(bare):
            return SURE
        if self.last == "head" and not self.is_box and apart:
            return NO
        exception = exception_after_frames(bare.strip())
        if exception is None:
            return NO
        return SURE if is_telling_type(exception[0]) or not apart else NO

    def _ends_quoted_frames(self, bare: str) -> bool:
        """Whether a line goes on with the message in which frames were only quoted."""
        return is_hint(bare) or bare.startswith(_LOGGING_RECORD) or "(see above for traceback)" in bare

    def _wants_frame(self, is_module: bool) -> int:
        """A frame comes after a head or after the code of another; a module's own frame is most often the first."""
        if self.last == "frame":
            return WEAK
        return EXACT if is_module and self.last == "head" else SURE

    def _wants_indented(self, bare: str) -> int:
        if self.last == "head":
            return SURE if ELISION.match(bare) or exception_after_frames(bare.strip()) else WEAK
        return SURE if self.last == "frame" or CARETS.match(bare) or ELISION.match(bare) else WEAK

    def _wants_in_message(self, bare: str, after_blank: bool, apart: bool) -> int:
        if relation_in(bare) or self._carries_head(bare, apart):
            return SURE
        if self.is_group and _GROUP_LINE.match(bare):
            return SURE
        if starts_chain(bare):
            return NO
        if is_hint(bare) or is_hint_in_exception(bare) or is_code_trace(bare) or bare.strip() in ('"""', "'''"):
            if bare == self.text and not bare.lstrip().startswith("frame #"):
                return NO  # another process says the same
            return SURE if not apart else WEAK
        if apart:
            return NO
        if find_frame(bare) is not None:
            return SURE if leaves_open(self.text) or self.is_carrying else NO
        return self._wants_more(bare, after_blank)

    def _wants_more(self, bare: str, after_blank: bool) -> int:
        if is_indented(bare):
            return SURE
        if self.type.endswith("ChildFailedError") and is_rule(bare):
            return SURE
        if self.type.endswith("ValidationError") and _FIELD_PATH.match(bare):
            return SURE
        if self.type.endswith("RpcError") and bare == ">":
            return SURE
        if self.type.startswith("yaml.") and _YAML_LINE.match(bare):
            return SURE
        return WEAK if self._may_go_on(after_blank) and not begins_message(bare) else NO

    def _may_go_on(self, after_blank: bool) -> bool:
        """Whether an ordinary line can be part of the message: announced, or TensorFlow's runtime is speaking."""
        is_graph_error = ".errors_impl." in self.type
        if after_blank:
            return leaves_open(self.text) and (is_graph_error or self._is_empty)
        return is_graph_error or leaves_open(self.text)

    def _carries_head(self, bare: str, apart: bool) -> bool:
        """Whether a traceback head belongs to what this exception's message carries from another process."""
        head = HEAD.search(bare)
        if head is None:
            return False
        before = bare[: head.start()].rstrip()
        if before:
            return before.endswith(CARRYING)
        announced = self.text.rstrip().endswith(('"""', "'''", ":"))
        return not apart and (announced or ".errors_impl." in self.type)

    @property
    def is_carrying(self) -> bool:
        """Whether the exception is one that prints another process's traceback as its message."""
        return "RayTaskError" in self.type or "RemoteTraceback" in self.type

    def take(self, line: str) -> None:
        """Moves on by a line; any line will do, since an entry's further lines belong to it without being asked."""
        bare = self._bare(line)
        if not bare.strip():
            return
        if self.state is State.TABLE:
            self._take_in_table(bare)
        elif relation_in(bare):
            self.state = State.RELATION
        elif starts_chain(bare) or find_frame(bare) is not None:
            self._take_frames(bare)
        elif self.state is State.FRAMES and self.type and self._ends_quoted_frames(bare):
            self.state = State.MESSAGE
        elif self.state is State.FRAMES:
            self._take_in_frames(bare)
        elif self.state is State.RELATION:
            if (exception := lone_exception(bare.strip())) is not None:
                self._raise(exception[0], bare)
        elif is_code_trace(bare):
            self.kind = "traceback"
        elif self.type.endswith("ChildFailedError") and _TABLE_RULE.match(bare):
            self.state, self._table_lines = State.TABLE, 0
        self._is_empty = False
        if self.state is State.MESSAGE and self._raised == bare:
            self._is_empty = leaves_open(bare)
        self.text = bare

    def _take_frames(self, bare: str) -> None:
        exception = exception_after_frames(bare.strip()) if "ray::" in bare else None
        if exception is not None and exception[0] != "ray":
            self._raise(exception[0], bare)
            self.state, self.last = State.FRAMES, "head"
            return
        self.kind, self.state = "traceback", State.FRAMES
        self.last = "frame" if find_frame(bare) else "head"

    def _take_in_frames(self, bare: str) -> None:
        stripped = bare.strip()
        if self.is_group or (self.is_box and _BOX_LINE.match(bare)):
            return
        telling = exception_after_frames(stripped)
        if telling and (not bare[0].isspace() or (is_telling_type(telling[0]) and self.last != "frame")):
            self._raise(telling[0], bare)
        elif bare[0].isspace() and not ELISION.match(bare):
            self.last = "code"

    def _take_in_table(self, bare: str) -> None:
        self._table_lines += 1
        if _TABLE_RULE.match(bare) or self._table_lines > _LONGEST_TABLE:
            self.state = State.MESSAGE
            self.type = ""

    def _raise(self, name: str, line: str) -> None:
        self.state, self.type, self.text, self._raised = State.MESSAGE, name, line, line
