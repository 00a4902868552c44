"""The reference of the command line out of the program itself: a section a command, a row an argument or option."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from site_markup import block, code, codes, table, text, with_generated

from analyzer.cli.main import COMMANDS, command_of

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

PAGE = "reference/commands.md"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Puts the commands into the page."""
    return with_generated(markdown, "commands", sections()) if page.file.src_uri == PAGE else markdown


def sections() -> str:
    """All commands in the order of the program's help, those of a group below it."""
    parts = [part for name in COMMANDS for part in _command(command_of(name), name, COMMANDS[name].help)]
    return "\n\n".join(parts)


def _command(command: Any, name: str, told: str) -> Iterator[str]:
    anchor = name.replace(" ", "-")
    yield f"### `diagnose {name}` {{ #{anchor} }}"
    if hasattr(command, "list_commands"):
        yield block(f"<p>{text(told)}</p>")
        for word in command.list_commands(None):
            below = command.get_command(None, word)
            yield from _command(below, f"{name} {word}", below.help or "")
        return
    parts = [f"<p>{text(told)}</p>"]
    rows = [_row(parameter) for parameter in command.params if not getattr(parameter, "hidden", False)]
    parts += [table(["argument or option", "meaning"], rows)] if rows else []
    parts += [f"<p>{text(command.epilog)}</p>"] if command.epilog else []
    yield block(*parts)


def _row(parameter: Any) -> list[str]:
    return [_names(parameter), " ".join(_meaning(parameter))]


def _names(parameter: Any) -> str:
    value = parameter.metavar or parameter.name.upper()
    if parameter.param_type_name != "option":
        return code(value)
    named = codes([*parameter.opts, *parameter.secondary_opts])
    return named if parameter.is_flag else f"{named} {code(value)}"


def _meaning(parameter: Any) -> Iterator[str]:
    if getattr(parameter, "help", None):
        yield text(parameter.help)
    if parameter.required:
        yield "Required."
    default = parameter.default
    if not parameter.required and default not in (None, False, [], ()) and not callable(default):
        yield f"Default: {code(str(default))}."
