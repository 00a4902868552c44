"""Messages other than Python tracebacks while their lines come in: blocks, and plain lines that something explains."""

from __future__ import annotations

from analyzer.stitch.blocks import KERNEL_MEMORY, KERNEL_PREFIX, WARNING, Block
from analyzer.stitch.hints import is_code_trace, is_hint, is_log_tail
from analyzer.stitch.shapes import NO, SURE, WEAK, begins_message, is_code, is_rule, leaves_open


class BlockShape:
    """A block in progress."""

    def __init__(self, block: Block, first: str) -> None:
        self.block, self.kind = block, block.kind
        self.patience = block.patience
        self.is_done = False
        self._lines, self._first, self._last = 1, first, first
        self._ending = block is KERNEL_MEMORY and "Killed process" in first
        prefix = KERNEL_PREFIX.match(first) if block.kind == "kernel" else None
        self._is_kernel_stream = prefix is not None

    @property
    def is_doubtful(self) -> bool:
        """Whether its second line must still show that it is a block at all."""
        return self.block.second is not None and self._lines == 1

    def wants(self, line: str, after_blank: bool, apart: bool) -> int:
        """How well a line fits; see `Shape`."""
        if self.is_done or self._lines >= self.block.longest or (after_blank and not self.block.blanks):
            return NO
        if self.is_doubtful:
            assert self.block.second is not None
            return SURE if not apart and self.block.second.match(line) else NO
        if self.kind == "kernel":
            return self._wants_kernel(line)
        if self.block is WARNING:
            return SURE if self._lines == 1 and not apart and self.block.more.match(line) and is_code(line) else NO
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
        prefix = KERNEL_PREFIX.match(line)
        bare = line[prefix.end() :] if prefix else line
        if self._ends(line):
            return SURE
        if self._ending:
            return NO
        if self.block is KERNEL_MEMORY:
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
        elif self.block is KERNEL_MEMORY and "Killed process" in line:
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
