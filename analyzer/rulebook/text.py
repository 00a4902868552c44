"""Fills a rule's texts with the values of a case."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from analyzer.expressions import expression

PLACE = expression(r"\{(\w+)(?:\|([^{}]*))?\}")
"""A place in a text that a value is put into: its name, and the words that stand there where no value is known."""
_BESIDE = expression(r" ?\([^()]*\{[^()]*\)")  # what stands in brackets, with a place in it
_STOPS = ".,;:)"


def fill(template: str, values: Mapping[str, str | None]) -> str:
    """The text with each `{name}` replaced by its value, or by the words after `|`, or by "unknown".

    Brackets of which no value is known are left out, and blanks at the end. A value's own full stop makes room for the
    sentence's.
    """
    template = _BESIDE.sub(lambda beside: beside[0] if _any_known(beside[0], values) else "", template)

    def value(found: re.Match[str]) -> str:
        given = values.get(found[1])
        if given is None:
            return found[2] if found[2] is not None else "unknown"
        closes = template[found.end() : found.end() + 1] in ("", *_STOPS)
        return given[:-1] if closes and given.endswith(".") and not given.endswith("..") else given

    return PLACE.sub(value, template).rstrip()


def _any_known(template: str, values: Mapping[str, str | None]) -> bool:
    return any(values.get(name) is not None for name in places(template))


def fill_command(template: str, values: Mapping[str, str | None]) -> str:
    """A shell command with each value quoted, since values come out of logs; unknown ones stay as NAME to fill in."""

    def quoted(found: re.Match[str]) -> str:
        value = values.get(found[1])
        return shlex.quote(value) if value else (found[2] if found[2] is not None else found[1].upper())

    return PLACE.sub(quoted, template)


def places(template: str) -> set[str]:
    """The names that a template uses."""
    return {name for name, _ in PLACE.findall(template)}
