"""The papers speak of what exists: each command that they show is one, with the options that it has."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from analyzer.cli.main import COMMANDS, Group, command_parser

ROOT = Path(__file__).parents[1]
PAPERS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


def _calls(paper: str) -> list[list[str]]:
    """The words after `diagnose` in shell blocks and in inline code."""
    text = (ROOT / paper).read_text(encoding="utf-8")
    blocks = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    found = (re.search(r"(?:^|[/| ])diagnose( .*)$", re.sub(r"\s+# .*", "", line)) for line in (*blocks, *inline))
    return [shlex.split(match[1]) for match in found if match and "analyzer" not in match[1]]


@pytest.mark.parametrize("paper", PAPERS)
def test_shown_calls_exist(paper: str) -> None:
    """Subcommands and options in the papers are those of the program."""
    for words in _calls(paper):
        name = words[0] if words and words[0] in COMMANDS else "job"
        command = COMMANDS[name]
        if isinstance(command, Group):
            if words[1:] == []:
                continue
            command = command.commands[words[1]]
        known = set(command_parser(name, command)._option_string_actions)
        options = {word.split("=")[0] for word in words if word.startswith("-") and word != "-"}
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
