"""A call's words: what the first one means, in which order they may stand, how a shell completes them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from analyzer.cli.main import COMMANDS, Group, call, command_parser
from analyzer.errors import NothingToDiagnose, UsageError

DEMO = Path(__file__).parents[2] / "fixtures" / "demo" / "vertex-restart-then-failed.json"
JOB = "7310482296551047168"


@pytest.mark.parametrize(
    "words",
    [
        [JOB, "--logs", str(DEMO)],
        ["--logs", str(DEMO), JOB],
        ["--format", "text", JOB, "--lang", "de", "-l", str(DEMO)],
        ["job", JOB, f"--logs={DEMO}"],
        ["--", JOB, "--logs", str(DEMO)],
    ],
)
def test_a_first_word_that_is_no_command_is_a_job(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Wherever it stands among the options."""
    assert call([*words, "--quiet"]) == 0
    assert JOB in capsys.readouterr().out


def test_a_job_may_be_called_like_a_command(tmp_path: Path) -> None:
    """`diagnose job scan` looks for a job of that name."""
    with pytest.raises(NothingToDiagnose, match="'scan'"):
        call(["job", "scan", "--logs", str(DEMO), "--quiet"])


@pytest.mark.parametrize(
    "words",
    [["--log", "x"], ["--logs"], ["a", "b"], ["rules", "nothing"], ["rules", "--"], ["scan"], ["scan", "x", "--workers", "0"],
     ["scan", "x", "--limit", "few"], ["watch", "1", "--grace", "-1"]],
)  # fmt: skip
def test_words_that_are_off_are_refused(words: list[str]) -> None:
    """Also beginnings of options, which may mean another one tomorrow."""
    with pytest.raises(UsageError, match=r"--help"):
        call(words)


def test_every_command_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    """And what each of its words means."""
    for name, command in COMMANDS.items():
        below = command.commands if isinstance(command, Group) else {"": command}
        for word, one in below.items():
            parser = command_parser(f"{name} {word}".rstrip(), one)
            assert all(action.help for action in parser._actions), parser.prog
            with pytest.raises(SystemExit, match="0"):
                call([name, *([word] if word else []), "--help"])
            assert one.help.split()[0] in capsys.readouterr().out


@pytest.mark.skipif(importlib.util.find_spec("argcomplete") is None, reason="the extra completion is not installed")
@pytest.mark.parametrize(("line", "found"), [("diagnose --log", "--logs"), ("diagnose exi", "exit-code"), ("diagnose rules ch", "check")])
def test_a_shell_completes(line: str, found: str, tmp_path: Path) -> None:
    """Commands and options, also of a job without the word `job`."""
    answer = tmp_path / "answer"
    asked = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE_STDOUT_FILENAME": str(answer)}
    subprocess.run([sys.executable, "-m", "analyzer"], env={**os.environ, **asked}, check=False, timeout=60)
    assert found in answer.read_text().replace("\013", "\n").split()
