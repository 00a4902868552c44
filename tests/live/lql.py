"""A small evaluator of the Logging query language: as much of it as the program's queries use.

https://cloud.google.com/logging/docs/view/logging-query-language: comparisons, lists of values in parentheses,
AND, OR, NOT, log_id(). NOT binds closest, then OR, then AND; an unset field matches nothing; text compares without case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from analyzer.model import Instant

Test = Callable[[dict[str, Any]], bool]
_TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|(>=|<=|!=|=~|!~|[=<>:()])|([^\s"()=<>:!]+))')


class BadFilter(ValueError):
    """The filter is no query; the server answers INVALID_ARGUMENT."""


def parse(text: str) -> Test:
    """The test that a filter is; an empty filter holds for every entry."""
    parser = _Parser(list(_tokens(text)))
    test = parser.conjunction() if text.strip() else _always
    if parser.tokens[parser.at :]:
        raise BadFilter(f"unexpected {parser.tokens[parser.at]!r}")
    return test


def _always(entry: dict[str, Any]) -> bool:
    return True


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            raise BadFilter(f"cannot read {text[at : at + 20]!r}")
        yield found[0].strip()
        at = found.end()


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at = tokens, 0

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _next(self, wanted: str = "") -> str:
        token = self._peek()
        if not token or (wanted and token != wanted):
            raise BadFilter(f"expected {wanted or 'more'}, not {token!r}")
        self.at += 1
        return token

    def conjunction(self) -> Test:
        tests = [self._disjunction()]
        while self._peek() not in ("", ")"):
            if self._peek() == "AND":
                self._next()
            tests.append(self._disjunction())
        return lambda entry: all(test(entry) for test in tests)

    def _disjunction(self) -> Test:
        tests = [self._one()]
        while self._peek() == "OR":
            self._next()
            tests.append(self._one())
        return lambda entry: any(test(entry) for test in tests)

    def _one(self) -> Test:
        if self._peek() == "NOT":
            self._next()
            inner = self._one()
            return lambda entry: not inner(entry)
        if self._peek() == "(":
            self._next()
            inner = self.conjunction()
            self._next(")")
            return inner
        if self._peek() == "log_id":
            return self._log_id()
        return self._comparison()

    def _log_id(self) -> Test:
        self._next(), self._next("(")
        ending = "/logs/" + quote(_value(self._next()), safe="")
        self._next(")")
        return lambda entry: str(entry.get("logName", "")).endswith(ending)

    def _comparison(self) -> Test:
        path = self._next()
        while self._peek() == "" or (self._peek().startswith('"') and path.endswith(".")):
            path += self._next()
        if self._peek().startswith("."):
            path += self._next()
        operator = self._next()
        if operator not in (">=", "<=", "!=", "=~", "!~", "=", "<", ">", ":"):
            raise BadFilter(f"{operator!r} is no comparison")
        values = [_value(self._next())] if self._peek() != "(" else self._values()
        fields = _fields(path)
        return lambda entry: any(_compare(_get(entry, fields), operator, value) for value in values)

    def _values(self) -> list[str]:
        self._next("(")
        values = [_value(self._next())]
        while self._peek() == "OR":
            self._next()
            values.append(_value(self._next()))
        self._next(")")
        return values


def _value(token: str) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1]) if token.startswith('"') else token


def _fields(path: str) -> list[str]:
    return [_value(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"|[^."]+', path)]


def _get(entry: dict[str, Any], fields: list[str]) -> Any:
    value: Any = entry
    for field in fields:
        value = value.get(field) if isinstance(value, dict) else None
    return value


def _compare(actual: Any, operator: str, wanted: str) -> bool:
    if actual is None:
        return False
    if operator in ("=~", "!~"):
        return bool(re.search(wanted, str(actual))) == (operator == "=~")
    if operator == ":":
        return wanted.lower() in str(actual).lower()
    if operator in ("=", "!="):
        return (str(actual).lower() == wanted.lower()) == (operator == "=")
    one, other = Instant.parse(actual), Instant.parse(wanted)
    if one is None or other is None:
        raise BadFilter(f"{actual!r} {operator} {wanted!r} compares no times")
    return {">=": one >= other, "<=": one <= other, ">": one > other, "<": one < other}[operator]
