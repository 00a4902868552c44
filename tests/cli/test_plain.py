"""Plain words of a command line mean what Typer makes of them."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
import typer
from typer.core import TyperCommand
from typer.testing import CliRunner

from analyzer.cli.plain import PlainCommand

CALLS = (
    [], ["a"], ["a", "--many", "x", "--many", "y"], ["a", "--one", ""], ["a", "--one", "ä€"], ["a", "--one", "x\ny"], ["a", "--flag"],
    ["a", "--number", "3"], ["a", "--number", "three"], ["a", "--seen", "b"], ["a", "b"], ["a", "--one"], ["--help"],
)  # fmt: skip


def outcome(command: type[TyperCommand], arguments: list[str]) -> tuple[int, str]:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)

    @app.command(cls=command)
    def show(
        first: str,
        one: str | None = None,
        many: Annotated[list[str] | None, typer.Option()] = None,
        flag: bool = False,
        number: Annotated[int, typer.Option(min=1)] = 7,
        seen: Annotated[Any, typer.Option(callback=lambda value: f"seen {value}", parser=str)] = None,
    ) -> None:
        typer.echo(repr((first, one, many, flag, number, seen)))

    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.output


@pytest.mark.parametrize("arguments", CALLS, ids=" ".join)
def test_same_as_typer(arguments: list[str]) -> None:
    """The quick way gives values, messages and exit status of the long one."""
    assert outcome(PlainCommand, arguments) == outcome(TyperCommand, arguments)
