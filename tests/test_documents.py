"""The papers speak of what exists: each command that they show is one, with the options that it has."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from analyzer.cli.main import app, command_of

ROOT = Path(__file__).parents[1]
PAPERS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


def _calls(paper: str) -> list[list[str]]:
    """The words after `diagnose` in shell blocks and in inline code."""
    text = (ROOT / paper).read_text(encoding="utf-8")
    blocks = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    found = (re.search(r"(?:^|[/| ])diagnose( .*)$", re.sub(r"\s+# .*", "", line)) for line in (*blocks, *inline))
    return [shlex.split(match[1]) for match in found if match and "analyzer" not in match[1]]


def _names(command: Any) -> list[str]:
    """The commands below one."""
    return command.list_commands(None) if hasattr(command, "list_commands") else []


@pytest.mark.parametrize("paper", PAPERS)
def test_shown_calls_exist(paper: str) -> None:
    """Subcommands and options in the papers are those of the program."""
    root: Any = get_command(app)
    for words in _calls(paper):
        command, rest = root, words
        while rest and rest[0] in _names(command):
            command, rest = command.get_command(None, rest[0]), rest[1:]
        command = command_of("job") if command is root else command
        known = {option for parameter in command.params for option in parameter.opts} | {"--help", "-h"}
        options = {word.split("=")[0] for word in rest if word.startswith("-") and word != "-"}
        assert options <= known, words


@pytest.mark.parametrize("paper", PAPERS)
def test_links_lead_somewhere(paper: str) -> None:
    """Files that a paper links to or shows are there."""
    text = (ROOT / paper).read_text(encoding="utf-8")
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_make_targets_that_are_named_exist() -> None:
    """`make demo`, `make test` and `make lint` are targets."""
    targets = set(re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    texts = [(ROOT / paper).read_text(encoding="utf-8") for paper in PAPERS]
    named = {name for text in texts for name in re.findall(r"make (\w+)`", text)}
    assert named <= targets
