"""Reads the chain of exceptions out of the clean text of one message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from analyzer.expressions import expression
from analyzer.model import ExceptionLink, Frame
from analyzer.stitch.grammar import (
    BOX_CODE,
    BOX_FRAME,
    CARETS,
    CARRYING,
    ELISION,
    GROUP_HEAD,
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
    unfolded,
)
from analyzer.stitch.hints import AFTERWORDS
from analyzer.stitch.raised import Raised, related, short_name
from analyzer.stitch.shapes import is_rule

_MOST_LINKS = 64
_MARGIN = expression(r"^( *)(?:\| ?|\+ )(.*)$")
_GROUP_RULE = expression(r"^( *)\+(?:-\+)?-{4,}(?: (?:\d+|\.\.\.) -{4,})?$")
_TABLE_LINE = expression(r"^\s*(?:[=*-]{20,}|\[\d+\]:)\s*$")


def parse_exceptions(text: str) -> tuple[ExceptionLink, ...]:
    """The chain in the order in which it was raised; a lone `Type: message` line is one link without frames."""
    if "\\n  File " in text:  # a traceback inside a quoted string
        text = text.replace("\\n", "\n").replace('\\"', '"')
    if "\n" not in text:
        if "Traceback (most recent call last): " not in text:
            return _single_line(text)
        text = unfolded(text)
    lines = text.split("\n")
    if GROUP_HEAD in text:
        return _bounded(_group_links(lines))
    return _bounded(_Reader().read(lines))


def _bounded(links: list[ExceptionLink]) -> tuple[ExceptionLink, ...]:
    """Not more links than anybody reads: the origin and what came first, and what ended the program."""
    return tuple(links if len(links) <= _MOST_LINKS else links[: _MOST_LINKS // 2] + links[-_MOST_LINKS // 2 :])


def _single_line(text: str) -> tuple[ExceptionLink, ...]:
    found = lone_exception(text)
    if found is None:
        return ()
    return (ExceptionLink(found[0], found[1]),)


def _group_links(lines: Sequence[str]) -> list[ExceptionLink]:
    """Links of an exception group: the members in order, each group after its members."""
    segments: list[tuple[int, list[str]]] = [(0, [])]
    for line in lines:
        rule = _GROUP_RULE.match(line)
        margin = None if rule else _MARGIN.match(line)
        if rule:
            segments.append((len(rule[1]) + (2 if "+-+" in line else 0), []))
        elif margin:
            segments[-1][1].append(margin[2])
        else:
            segments[-1][1].append(line)
    links: list[ExceptionLink] = []
    waiting: list[tuple[int, list[ExceptionLink]]] = []
    for depth, part in segments:
        while waiting and waiting[-1][0] >= depth > 0:
            links += waiting.pop()[1]
        found = _Reader().read(part)
        if found:
            waiting.append((depth, found))
    for _, found in reversed(waiting):
        links += found
    return [related(link, link.relation or "cause") for link in links[:-1]] + links[-1:]


class _Reader:
    """A state machine over the lines of one message: frames, then an exception with its message, then the next link."""

    def __init__(self) -> None:
        self.links: list[ExceptionLink] = []
        self.frames: list[Frame] = []
        self.indent = 0
        self.is_notebook = False
        self.in_frames = False
        self.open: Raised | None = None
        self.outer: list[Raised] = []  # exceptions whose message holds the traceback that is being read
        self.held: list[str] = []  # lines of such a traceback, in case it turns out to be plain message
        self.prefix: re.Pattern[str] | None = None

    def read(self, lines: Iterable[str]) -> list[ExceptionLink]:
        for raw in lines:
            self._line(self._bare(raw))
        self._close("")
        return self.links

    def _bare(self, line: str) -> str:
        if self.prefix is not None:
            found = self.prefix.match(line)
            return line[found.end() :] if found else line
        return line

    def _line(self, line: str) -> None:
        if relation := relation_in(line):
            self._relate(relation)
        elif (head := HEAD.search(line)) is not None:
            self._head(line, head)
        elif (frame := find_frame(line)) is not None:
            self._frame(line, frame)
        elif (boxed := BOX_FRAME.match(line)) is not None:
            self.frames.append(Frame(boxed["file"].strip(), int(boxed["line"]), boxed["function"]))
            self.in_frames = True
        elif self.in_frames:
            self._among_frames(line)
        elif self.open is not None:
            self._message_line(line)
        elif (lone := lone_exception(line)) is not None:
            self.open = Raised(*lone, ())

    def _relate(self, relation: str) -> None:
        carried = bool(self.outer) and self._is_whole()
        self.in_frames = False
        if carried:
            self._close(relation)
        elif self.open is not None:
            self._end_open(relation)
        elif self.links and not self.links[-1].relation:
            self.links[-1] = related(self.links[-1], relation)

    def _is_whole(self) -> bool:
        """Whether the carried traceback has come to the exception that its wrapper names."""
        caught = self.outer[-1].caught
        return self.open is not None and (not caught or short_name(self.open.type) == caught)

    def _head(self, line: str, head: re.Match[str]) -> None:
        before = line[: head.start()]
        if head[0].lstrip(": )").startswith("ray::"):
            self._ray_head(line, head)
            return
        if self.open is not None:
            self._nest() if self._carries(before) else self._close("")
        rethrown = lone_exception(before.strip()) is not None
        if self.prefix is None and not rethrown and not before.rstrip().endswith(CARRYING):
            self.prefix = prefix_pattern(before)
        self.is_notebook = NOTEBOOK_HEAD.match(before) is not None
        if not (rethrown and self.in_frames):  # `raise ImportError(traceback.format_exc())`: what was caught goes on
            self.frames = []
        self.in_frames, self.indent = True, -1
        rest = line[head.end() :]
        if (frame := find_frame(rest)) is not None:
            self._frame(rest, frame)

    def _carries(self, before: str) -> bool:
        """Whether a traceback head inside a message belongs to what that message carries."""
        assert self.open is not None
        if before.rstrip().endswith(CARRYING) or self.open.is_carrier:
            return True
        last = next((line for line in reversed(self.open.lines) if line.strip() and not is_rule(line)), "").rstrip()
        return last.endswith((":", '"""', "'''")) or not last or ".errors_impl." in self.open.type

    def _ray_head(self, line: str, head: re.Match[str]) -> None:
        named = exception_after_frames(line.strip())
        if named is not None and named[0] != "ray" and head.start() > 0:
            self._raise(*named)
            return
        if self.open is not None:
            self._nest()
        self.frames, self.in_frames, self.indent = [], True, -1

    def _frame(self, line: str, found: re.Match[str]) -> None:
        if self.open is not None and not self.in_frames:
            self._nest()
        if not self.in_frames:
            self.frames, self.in_frames = [], True
            if self.prefix is None:
                self.prefix = prefix_pattern(line[: found.start()].rstrip())
        self.indent = found.start()
        file, number = found["file"] or found["cell"], found["line"] or found["row"]
        function = (found["function"] or found["caller"] or "").strip().removesuffix("  *").strip()
        self.frames.append(Frame(file, int(number), function))
        self.held.append(line)

    def _among_frames(self, line: str) -> None:
        stripped = line.strip()
        self.held.append(line)
        if (code := BOX_CODE.match(line)) is not None:
            self._code(code["code"].strip())
            return
        if self.is_notebook and self._notebook_line(line):
            return
        if not stripped or ELISION.match(line) or CARETS.match(line) or stripped[0] in "╭╰":
            return
        if self.frames and self.frames[-1].line is None and stripped[0].isdecimal():
            return  # code around the line, with its number
        depth = len(line) - len(line.lstrip())
        ending = exception_after_frames(stripped) if depth <= max(self.indent, 0) else None
        if ending is not None and (depth < max(self.indent, 1) or is_telling_type(ending[0])):
            self._raise(*ending)
        elif depth > max(self.indent, 0):
            self._code(stripped)
        else:
            self._break_off(line)

    def _notebook_line(self, line: str) -> bool:
        """Reads IPython's way to show a frame: a line for the function, then code with an arrow at the line."""
        if line[:1] == "-" and (arrow := NOTEBOOK_CODE.match(line)) is not None:
            if self.frames and self.frames[-1].line is None:
                last = self.frames[-1]
                self.frames[-1] = Frame(last.file, int(arrow["line"]), last.function, arrow["code"].strip())
            return True
        if line[:1].isspace() or (found := NOTEBOOK_FRAME.match(line)) is None:
            return False
        self.frames.append(Frame((found["file"] or line).strip(), None, found["function"] or "<module>"))
        return True

    def _code(self, code: str) -> None:
        if self.frames and not self.frames[-1].code:
            last = self.frames[-1]
            self.frames[-1] = Frame(last.file, last.line, last.function, code)

    def _raise(self, name: str, message: str) -> None:
        if self.open is not None:
            self._close("")
        self.open = Raised(name, message, self.frames)
        self.frames, self.in_frames, self.held = [], False, []

    def _break_off(self, line: str) -> None:
        """Frames that no exception ends: part of the message around them, or a traceback that was cut."""
        self.in_frames, self.frames = False, []
        if self.outer and self.open is None:
            self.open = self.outer.pop()
            self.open.lines += self.held
        elif (lone := lone_exception(line)) is not None:
            self.open = Raised(*lone, ())
        self.held = []

    def _message_line(self, line: str) -> None:
        assert self.open is not None
        if line.strip() in ('"""', "'''") and not self.open.is_carrier:
            self._close("remote")
            return
        if line.lstrip().startswith(AFTERWORDS):
            self._close("")
            return
        if self.outer and self.outer[-1].is_table and _TABLE_LINE.match(line):
            self._end_open("remote")
            self.open = self.outer.pop()
        elif self.open.caught and (carried := lone_exception(line)) and short_name(carried[0]) == self.open.caught:
            self._nest()
            self.open = Raised(*carried, ())
            return
        self.open.lines.append(line)

    def _nest(self) -> None:
        assert self.open is not None
        self.outer.append(self.open)
        self.open, self.held = None, []

    def _end_open(self, relation: str) -> None:
        if self.open is not None:
            if not self.open.is_carrier:
                self.links += self.open.links(relation)
            self.open = None

    def _close(self, relation: str) -> None:
        """Ends the open exception and those that carry it, the inner first."""
        if self.outer and self.open is None and not self.links:
            self.open = self.outer.pop()
        while self.outer:
            self._end_open("remote")
            self.open = self.outer.pop()
        if self.open is not None and self.open.is_carrier:
            if self.links:
                self.links[-1] = related(self.links[-1], "remote")
            self.open = None
        self._end_open(relation)
