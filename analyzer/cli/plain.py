"""Words of the command line that are what they say: text, or nothing.

Typer has pydantic turn each value into the type of its parameter, text and absent ones too. Importing pydantic takes as
long as diagnosing a megabyte, so it is left to calls that give a path, a number or a choice.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from typer.core import TyperCommand


class PlainWords:
    """Of a command or group: takes text as it stands, and asks Typer for every other value."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, the option for help among them."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if "process_value" not in vars(parameter):
                parameter.process_value = partial(_process, parameter, parameter.process_value)
        return parameters


class PlainCommand(PlainWords, TyperCommand):
    """A command of plain words."""


def _process(parameter: Any, typers: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """The value of a parameter as its command gets it; `typers` is the way that Typer takes."""
    described = getattr(parameter, "type_descriptor", None)  # older Typers have none, and need no pydantic
    if described is None or not _is_plain(value, described.annotation) or (value is None and parameter.required):
        return typers(context, value)
    if value is None and (parameter.multiple or parameter.nargs == -1):
        value = ()
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


def _is_plain(value: object, annotation: object) -> bool:
    """Whether a value is none, or printable text; of other text (bytes that are no UTF-8, say) Typer is the judge."""
    if isinstance(value, list | tuple):
        return annotation == list[str] and all(_is_plain(one, str) for one in value)
    return value is None or (annotation is str and isinstance(value, str) and value.isprintable())
