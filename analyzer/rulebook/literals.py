"""Literals that a regular expression cannot match without: what the one-pass prefilter looks for.

Python's own parser gives the tree; the walk keeps, for every node, a set of strings of which one must occur in any
match, or None where nothing is certain. All literals are lower-case and are looked for in lower-cased text, so that
case-insensitive rules need no second pass.
"""

from __future__ import annotations

import re._constants as sre  # type: ignore[import-not-found]
import re._parser as sre_parser  # type: ignore[import-not-found]
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from analyzer.rulebook.schema import Condition

MIN_LENGTH = 4


@lru_cache(maxsize=4096)
def required_literals(pattern: str) -> frozenset[str] | None:
    r"""Strings of which at least one stands (lower-cased) in every text that the pattern matches; None if none is sure.

    >>> sorted(required_literals(r"CUDA out of memory\. Tried to allocate \d+"))
    ['cuda out of memory. tried to allocate ']
    """
    tree = sre_parser.parse(pattern)
    return _best(_walk(tree.data if hasattr(tree, "data") else list(tree)))


def condition_literals(condition: Condition) -> frozenset[str] | None:
    """The same for a condition tree; None where a text is not what decides (fields, exceptions by type)."""
    if condition.regex is not None:
        return required_literals(condition.regex)
    if condition.all is not None:
        found = [literals for part in condition.all if (literals := condition_literals(part))]
        return max(found, key=_quality, default=None)
    if condition.any is not None:
        parts = [condition_literals(part) for part in condition.any]
        return frozenset().union(*(part for part in parts if part)) if all(parts) else None
    if condition.exception is not None and condition.exception != "*":
        names = [condition.exception] if isinstance(condition.exception, str) else condition.exception
        return None if "*" in names else frozenset(name.rsplit(".", 1)[-1].lower() for name in names)
    return None


def _quality(literals: frozenset[str]) -> tuple[int, int]:
    return min(map(len, literals)), -len(literals)


def _best(runs: list[frozenset[str]]) -> frozenset[str] | None:
    usable = [run for run in runs if min(map(len, run)) >= MIN_LENGTH]
    return max(usable, key=_quality, default=None)


def _walk(nodes: Sequence[Any]) -> list[frozenset[str]]:
    """Literal sets of a sequence of nodes; neighbours that are exact are joined to longer strings."""
    runs: list[frozenset[str]] = []
    exact: frozenset[str] = frozenset({""})

    def close() -> None:
        nonlocal exact
        if exact != frozenset({""}) and "" not in exact:
            runs.append(exact)
        exact = frozenset({""})

    for node in nodes:
        strings = _exact(node)
        if strings is not None and len(strings) * len(exact) <= 64:
            exact = frozenset(head + tail for head in exact for tail in strings)
            continue
        close()
        if strings is not None:
            exact = strings
        else:
            runs.extend(_inner(node))
    close()
    return runs


def _exact(node: Any) -> frozenset[str] | None:
    """All strings that a node can match, if they are few and known; None otherwise."""
    op, value = node
    if op is sre.LITERAL:
        return frozenset({chr(value).lower()})
    if op is sre.IN:
        if all(kind is sre.LITERAL for kind, _ in value) and len(value) <= 4:
            return frozenset(chr(code).lower() for _, code in value)
        return None
    if op is sre.AT:
        return frozenset({""})
    if op is sre.SUBPATTERN:
        return _exact_sequence(value[3])
    if op is sre.BRANCH:
        branches = [_exact_sequence(branch) for branch in value[1]]
        if any(branch is None for branch in branches):
            return None
        joined = frozenset().union(*(branch for branch in branches if branch is not None))
        return joined if len(joined) <= 32 else None
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        low, high, body = value
        if low == 0 and high == 1:
            inner = _exact_sequence(body)
            return None if inner is None else inner | {""}
        if low == high == 1:
            return _exact_sequence(body)
    return None


def _exact_sequence(nodes: Sequence[Any]) -> frozenset[str] | None:
    result: frozenset[str] = frozenset({""})
    for node in nodes:
        strings = _exact(node)
        if strings is None or len(strings) * len(result) > 64:
            return None
        result = frozenset(head + tail for head in result for tail in strings)
    return result


def _inner(node: Any) -> list[frozenset[str]]:
    """Literal sets that must occur inside a node that is not exact."""
    op, value = node
    if op is sre.SUBPATTERN:
        return _walk(value[3])
    if op is sre.BRANCH:
        branches = [_best(_walk(branch)) for branch in value[1]]
        if all(branches):
            return [frozenset().union(*(branch for branch in branches if branch))]
        return []
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT) and value[0] >= 1:
        return _walk(value[2])
    return []
