"""Finds which lines can begin a message of more than one line, or are an exception: one pass over each line."""

from __future__ import annotations

from collections.abc import Callable

from analyzer.expressions import expression
from analyzer.stitch.block_shape import BlockShape, TrailShape
from analyzer.stitch.blocks import BLOCKS, Block, block_at
from analyzer.stitch.clean import UNCLEAN
from analyzer.stitch.grammar import ELISION, HEAD, find_frame, lone_exception, starts_chain
from analyzer.stitch.hints import ANYWHERE, CODE_TRACE_WORDS, LOG_TAILS, is_code_trace, is_hint, is_log_tail
from analyzer.stitch.shapes import Shape
from analyzer.stitch.traceback import TracebackShape

_CHAIN_WORDS = (
    "Traceback (most recent", "ray::", 'File "', "Error", "Exception", "Interrupt", "SystemExit", "Failure", "Fault",
    "Timeout", "StopIteration", "OutOfMemory", "RemoteTraceback", ".exceptions.", ".errors.", ".error.",
)  # fmt: skip
_TRAIL_WORDS = (*ANYWHERE, *CODE_TRACE_WORDS, *LOG_TAILS)
_OTHER_WORDS = ("above exception", "[...]", "he replica ")

# Lines that a traceback without a stamp of its own belongs to, if it comes right after.
_PREAMBLE = expression(
    r"^(?:Exception in |Exception ignored |Unhandled exception in |Process \S+:$|Error in (?:atexit|sys\.|call to)"
    r"|Error executing job|Error processing line|\s*future: <|.{0,200}exception was never retrieved"
    r"|Original exception was|The replica \S+ ?\d* (?:exited|ran out)|Trial .{0,80}(?:failed|errored)"
    r"|--- Logging error ---)"
    r"|(?:^|[\s\[|:])(?:WARN|WARNING|ERROR|CRITICAL|FATAL|EXCEPTION|[EF]\d{4,8} )\b"
)
# Lines that quote the end of another log, which may begin anywhere in a traceback.
_QUOTES_LOG = expression(
    r"The replica \S+ ?\d* exited .{0,200}\d\. (?:Termination reason: \w+\. ?)?$|^Error in sitecustomize"
)

# What the interpreter says of an exception that it ignores; some logs keep only the last line of its traceback.
_IGNORED = expression(r"(?:^|\s)Exception ignored (?:in|on|while)\b")


def finder_of(words: tuple[str, ...]) -> Callable[[str], list[int]]:
    """A function from a line to the numbers of the words in it; empty, and quick, for most lines."""
    try:
        from ahocorasick_rs import AhoCorasick, Implementation
    except ImportError:
        return lambda line: [number for number, word in enumerate(words) if word in line]
    automaton = AhoCorasick(words, implementation=Implementation.ContiguousNFA)
    find = automaton.find_matches_as_indexes
    return lambda line: [hit[0] for hit in find(line, overlapping=True)]


class Beginnings:
    """What a line can begin, told by the words in it.

    `find` also tells texts that must be cleaned first: one without any of its words is a plain, clean line.
    """

    def __init__(self) -> None:
        words = dict.fromkeys((*UNCLEAN, *_CHAIN_WORDS, *_TRAIL_WORDS, *_OTHER_WORDS))
        blocks: dict[str, list[Block]] = {}
        for block in BLOCKS:
            for literal in block.literals:
                blocks.setdefault(literal, []).append(block)
        self._words = tuple(dict.fromkeys((*words, *blocks)))
        self._blocks = [tuple(blocks.get(word, ())) for word in self._words]
        self._is_chain = [word in _CHAIN_WORDS for word in self._words]
        self._is_trail = [word in _TRAIL_WORDS for word in self._words]
        self.find = finder_of(self._words)

    @property
    def words(self) -> tuple[str, ...]:
        """All words that a line is looked through for."""
        return self._words

    def shape(self, line: str, hits: list[int]) -> Shape | None:
        """The shape that begins with this line; None for a plain line."""
        if any(self._is_chain[hit] for hit in hits) and begins_chain(line):
            return TracebackShape(line)
        for hit in dict.fromkeys(hits):
            if self._blocks[hit] and (block := block_at(line, self._blocks[hit])) is not None:
                return BlockShape(block, line)
        return None

    def trails(self, line: str, hits: list[int]) -> bool:
        """Whether a line explains the one right before it, whatever that is."""
        return any(self._is_trail[hit] for hit in hits) and (is_hint(line) or is_code_trace(line) or is_log_tail(line))


def begins_chain(line: str) -> bool:
    """Whether a line is a traceback's head, a frame whose head is missing, or a lone exception."""
    if starts_chain(line):
        return True
    frame = find_frame(line)
    if frame is not None:
        return frame["file"] is not None and line[: frame.start()][-2:] == "  "
    return lone_exception(line) is not None


def belongs_to_preamble(head: str, before: str) -> bool:
    """Whether a traceback that begins with `head` belongs to the message of the line right before it."""
    if _QUOTES_LOG.search(before) and (ELISION.match(head) or begins_chain(head)):
        return True
    if _IGNORED.search(before) and lone_exception(head) is not None:
        return True
    found = HEAD.match(head.lstrip())
    return found is not None and not found[0].startswith("ray::") and _PREAMBLE.search(before) is not None


def trail_after(line: str) -> Shape:
    """The shape of a plain line once something that explains it has come."""
    return TrailShape(line)
