"""The rulebook's regular expressions for programs that search line by line: `rg --no-unicode -f`, `grep -P -f`.

Rules look at whole messages and name their groups. A line tool knows neither: names go, the begin and end of a message
become those of a line, letters beyond ASCII bytes, and an expression that cannot match within one line is left out. So
is what only narrows another: exceptions to a rule, all but the most telling of parts that must hold together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzer.expressions import expression
from analyzer.rulebook.literals import required_literals
from analyzer.rulebook.schema import Condition, Rule

_PIECE = expression(
    r"\[\^?\]?(?:\\.|[^\]\\])*\]"  # a class
    r"|\(\?P<\w+>"
    r"|\\."
    r"|[^\\\[(]+|."
)
_CLASS_PIECE = expression(r"\\.|[^\\]")
_ANCHORS = {"\\A": "^", "\\z": "$"}
_META = frozenset("\\.+*?()|[]{}^$#&-~")
"""What keeps its backslash: elsewhere one may mean something of its own, such as `\\<` a word's begin."""


def line_expressions(rules: Sequence[Rule]) -> list[str]:
    """The expressions that lines of some rules are recognised by, each once, in a fixed order."""
    told = {pattern for rule in rules for pattern in _recognising(rule.when)}
    return sorted({found for pattern in told if (found := line_expression(pattern)) is not None})


def _recognising(condition: Condition) -> list[str]:
    """Expressions of which one matches where a condition on a message's text holds."""
    if condition.regex is not None:
        return [condition.regex]
    if condition.exception is not None:
        names = [condition.exception] if isinstance(condition.exception, str) else condition.exception
        return [] if "*" in names else [rf"\b{name.rsplit('.', 1)[-1]}\b" for name in names]
    parts = [found for part in (condition.any or condition.all or ()) if (found := _recognising(part))]
    if condition.all is not None:
        return max(parts, key=_telling, default=[])
    return [pattern for part in parts for pattern in part]


def _telling(patterns: list[str]) -> int:
    """The length of the shortest literal that some expressions need; 0 where one needs none."""
    return min(min(map(len, required_literals(pattern) or {""})) for pattern in patterns)


def line_expression(pattern: str) -> str | None:
    r"""The expression for a line; None where it needs the end of a line within.

    >>> line_expression(r"\A(?P<a>x)[^\n]*\"$")
    '^(?:x).*"$'
    """
    pieces: list[str] = []
    for piece in _pieces(pattern):
        if piece.startswith("[") and len(piece) > 1:
            found = _class(piece)
        elif piece.startswith("(?P<"):
            found = "(?:"
        elif piece.startswith("\\"):
            found = _escape(piece)
        else:
            found = _bytes(piece)
        if found is None:
            return None
        pieces.append(found)
    return "".join(pieces)


def _pieces(pattern: str) -> Iterator[str]:
    return (found[0] for found in _PIECE.finditer(pattern))


def _escape(piece: str) -> str | None:
    if piece == "\\n":
        return None
    if piece in _ANCHORS or piece[1].isalnum() or piece[1] in _META:
        return _ANCHORS.get(piece, piece)
    return _bytes(piece[1])


def _class(piece: str) -> str | None:
    """A class without the line end; None for one that has nothing else.

    Of letters beyond ASCII a class becomes a choice; a negated one, which cannot, lets them pass.
    """
    negated = piece.startswith("[^")
    inner = [part for part in _CLASS_PIECE.findall(piece[2 if negated else 1 : -1]) if part != "\\n"]
    told = "".join(part if part[0] != "\\" else _escape(part) or "" for part in inner if part.isascii())
    beyond = [] if negated else [_bytes(part) for part in inner if not part.isascii()]
    if not told and not beyond:
        return "." if negated else None
    choices = [*([f"[{'^' if negated else ''}{told}]"] if told else []), *beyond]
    return choices[0] if len(choices) == 1 else f"(?:{'|'.join(choices)})"


def _bytes(text: str) -> str:
    """Letters beyond ASCII as the bytes that they are in a log."""
    return "".join(
        sign if sign.isascii() else "(?:" + "".join(f"\\x{byte:02X}" for byte in sign.encode()) + ")" for sign in text
    )
