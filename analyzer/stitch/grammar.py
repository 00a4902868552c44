"""What the lines of a Python traceback look like: heads, frames, exception lines, and the phrases between links.

Sources of the shapes: CPython's `traceback` module (heads, frames, carets, repeats, groups, chaining phrases), torch's
`ExceptionWrapper` ("Original Traceback"), `multiprocessing.pool.RemoteTraceback`, Ray's `RayTaskError`
(`ray::f() (pid=`), TensorFlow's AutoGraph ("in user code"), Rich's boxed tracebacks.
"""

from __future__ import annotations

import re
from functools import lru_cache

from analyzer.expressions import expression

HEAD = expression(
    r"Traceback \(most recent call last\)(?::|$|(?= ─))|(?:^|\s|\): )ray::[\w.<>:-]+\([^()\n]*\) \(pid=\d+[^)\n]*\)"
)
# What stands before a head in the message of an exception that carries the traceback of another process.
CARRYING = ("Original", "traceback :", "PythonException:")
GROUP_HEAD = "Exception Group Traceback (most recent call last):"
FRAME = expression(
    r'(?:(?<=[\s>|:])|^)File (?:"(?P<file>[^"\n]+)", line (?P<line>\d{1,9})(?! in )(?:, in (?P<function>[^\n]+))?'
    r"|(?P<cell>[^\s:\"']+):(?P<row>\d{1,9})(?:, in (?P<caller>[^\n(]+))?)"
)
NOTEBOOK_HEAD = expression(r"^\w+ {4,}$")  # what IPython puts before a head: the exception's type
NOTEBOOK_FRAME = expression(
    r"^(?:(?P<file>[/~][^\s(]{1,300}|<ipython-[^>\n]{1,80}>|\S{1,300}\.py) in (?P<function>[\w<>.]+)(?:\(|$)"
    r"|Cell In ?\[\d+\], line \d+)"
)
NOTEBOOK_CODE = expression(r"^-+> ?(?P<line>\d{1,9}) (?P<code>.*)$")
BOX_FRAME = expression(r"^\s*│ (?P<file>[^\s:│][^:│]*):(?P<line>\d{1,9}) in (?P<function>[\w<>.]+)")
BOX_CODE = expression(r"^\s*│ ❱ +\d+ +│?(?P<code>[^\n]*?) *│?$")
CARETS = expression(r"^\s*[~^]+\s*$|^\s*[│└]")
ELISION = expression(
    r"^\s*(?:\[\.\.\.\]|\.\.\.|\[Previous line repeated \d+ more times?\]|\.\.\.<\d+ lines>\.\.\.)\s*$"
)
CAUSE = "The above exception was the direct cause of the following exception"
CONTEXT = "During handling of the above exception, another exception occurred"

_IDENTIFIER = r"[A-Za-z_]\w*"
_TYPE = rf"(?:{_IDENTIFIER}\.|<locals>\.)*+{_IDENTIFIER}(?:\({_IDENTIFIER}(?:\.{_IDENTIFIER})*\))?"
LOOSE_EXCEPTION = expression(rf"^(?P<type>{_TYPE})(?::(?: |$)(?P<message>.*)|$)", re.DOTALL)
_TELLING_END = expression(
    r"(?:Error|Exception|Interrupt|Exit|Failure|Fault|Timeout|TimeoutExpired|StopIteration|StopAsyncIteration|"
    r"ExceptionGroup|OutOfMemory|Traceback)(?:\([\w.]+\))?$"
)
_PLAIN_TYPES = frozenset(("Exception", "BaseException", "KeyboardInterrupt", "SystemExit", "GeneratorExit", "Killed"))
_NEVER_TYPES = frozenset(("Error", "Timeout", "Failure", "Fault", "Exit", "Interrupt", "Traceback", "TimeoutExpired"))
_MODULE_MARKS = expression(r"(?:^|\.)(?:exceptions?|errors?|error)\.[A-Z]\w*$")
_PYTHON_2_TYPES = frozenset(("error", "timeout", "herror", "gaierror"))
_LEVELS = frozenset(
    ("DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "CRITICAL", "FATAL", "SEVERE", "TRACE", "EXCEPTION",
     "NOTE", "HINT", "USAGE", "Warning", "Error", "Info", "Note", "Hint", "Usage", "Step", "Epoch", "File", "Node",
     "Restarting", "Message", "Arguments")
)  # fmt: skip

_STAMP = (
    r"[\[(]?\d{4}[-/]\d\d[-/]\d\d[T ,]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z| ?[+-]\d\d:?\d\d| UTC)?[\])]?"
    r"|[\[(]?\d\d:\d\d:\d\d(?:[.,]\d+)?[\])]?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
)
_LEVEL = r"[\[<(]?(?:DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|SEVERE|EXCEPTION|TRACE)[\]>)]?"
_GLOG = r"\[?[IWEF]\d{4,8} \d\d:\d\d:\d\d\.\d+ +\d+ [^\s\]]+:\d+\]"
_TOKEN = (
    rf"(?:{_STAMP}|{_LEVEL}(?![\w])|{_GLOG}|\d+(?!\w)|[IWEFD](?= )"
    r"|\[[^\]\n]{1,120}\]|\([^)\n]{1,120}\)|<[^>\n]{1,120}>"
    rf"|[\w./<>-]{{1,120}}(?::\d+)?(?=\]|:(?!\d)| -| \|| ::))"
)
LOGGER_PREFIX = expression(
    rf"^(?={_STAMP}|{_LEVEL}(?!\w)|{_GLOG}|\[)(?>{_TOKEN}[ \t]*(?:[:|\-–>\]]{{0,3}})[ \t]{{0,2}}){{1,8}}$"
)


def starts_chain(line: str) -> bool:
    """Whether a traceback begins in this line."""
    return "Traceback (most recent call last)" in line or ("ray::" in line and HEAD.search(line) is not None)


def find_frame(line: str) -> re.Match[str] | None:
    """The frame that a line is, with whatever prefix before it."""
    return FRAME.search(line) if "File " in line else None


def relation_in(line: str) -> str:
    """`cause` or `context` if the line is a phrase between two links of a chain, else ""."""
    if CONTEXT in line:
        return "context"
    return "cause" if CAUSE in line else ""


def is_telling_type(name: str) -> bool:
    """Whether a name is an exception's wherever it stands, without a traceback before it."""
    if name in _PLAIN_TYPES:
        return name != "Killed"
    bare = name.split("(", 1)[0]
    if "." in bare:
        short = bare.rsplit(".", 1)[1]
        return short.lstrip("_")[:1].isupper() and (
            _TELLING_END.search(name) is not None or _MODULE_MARKS.search(bare) is not None
        )
    return (
        bare not in _NEVER_TYPES and bare[0].isupper() and not bare.isupper() and _TELLING_END.search(name) is not None
    )


def exception_after_frames(line: str) -> tuple[str, str] | None:
    """Type and message of the line that ends a traceback; any class name will do there."""
    found = LOOSE_EXCEPTION.match(line)
    if found is None:
        return None
    name = found["type"]
    if name in _LEVELS or (name.isupper() and len(name) > 1 and not _TELLING_END.search(name)):
        return None
    if "." not in name and not (name[0].isupper() or name[0] == "_" or name in _PYTHON_2_TYPES):
        return None
    return name, found["message"] or ""


def lone_exception(line: str) -> tuple[str, str] | None:
    """Type and message of a line `package.TypeError: message`, also behind a logger's prefix; else None."""
    stripped = _JAVA_THREAD.sub("", line.rstrip())
    found = LOOSE_EXCEPTION.match(stripped)
    if found is not None and is_telling_type(found["type"]):
        return found["type"], found["message"] or ""
    return _behind_logger(stripped)


_JAVA_THREAD = expression(r'^Exception in thread "[^"\n]{0,200}" ')
_FOLDED_PHRASE = expression(rf"(?<!\s)\s*((?:{CAUSE}|{CONTEXT}):?)\s*")
_FOLDED_FRAME = expression(r'(?<!\s)\s*(File "[^"\n]+", line \d+, in (?:<\w+>|[\w.]+))\s*')
_ANYWHERE = expression(rf"(?:(?<=[\s:\]])|^)(?P<type>{_TYPE})(?=:(?: |$)|$)")


def _behind_logger(line: str) -> tuple[str, str] | None:
    first = line[:1]
    if not first or first not in "[(<0123456789DIWNECFST":
        return None
    head = line[:400]
    for found in _ANYWHERE.finditer(head):
        if is_telling_type(found["type"]):
            at = found.start()
            if LOGGER_PREFIX.match(line[:at]):
                rest = LOOSE_EXCEPTION.match(line[at:])
                return (rest["type"], rest["message"] or "") if rest else None
            return None
    return None


def unfolded(text: str) -> str:
    """A traceback whose newlines were lost, with newlines again before frames, code and exceptions."""
    text = _FOLDED_PHRASE.sub(r"\n\1\n", text)
    text = _FOLDED_FRAME.sub(lambda found: f"\n  {found[1]}\n    ", text)
    lines = []
    for line in text.split("\n"):
        ends = [found.start() for found in _ANYWHERE.finditer(line) if found.start() and is_telling_type(found["type"])]
        lines += [line[: ends[0]].rstrip(), line[ends[0] :]] if ends and line.startswith("    ") else [line]
    return "\n".join(lines)


@lru_cache(maxsize=256)
def prefix_pattern(prefix: str) -> re.Pattern[str] | None:
    """A pattern for the prefix that every line of a traceback carries, learned from its first: digits may change.

    None where there is no prefix to speak of.
    """
    if not prefix.strip():
        return None
    return re.compile("".join(r"\d+" if part.isdecimal() else re.escape(part) for part in re.split(r"(\d+)", prefix)))
