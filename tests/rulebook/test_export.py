"""What `diagnose rules export` prints finds in single lines what the rules find there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import re2

from analyzer.resources import data_folder
from analyzer.rulebook.export import line_expression, line_expressions
from analyzer.rulebook.load import load_folder
from analyzer.rulebook.patterns import compile_pattern
from analyzer.rulebook.schema import Example

RULES = load_folder(data_folder("rules"))
BYTES = re2.Options()
BYTES.encoding = re2.Options.Encoding.LATIN1


def test_a_line_that_a_rule_knows_is_found() -> None:
    """Of every rule's examples: where its expression matches a line, so does the exported one, as bytes."""
    checked = 0
    for rule in (rule for rule in RULES if rule.when.regex is not None):
        told = line_expression(rule.when.regex or "")
        if told is None:
            continue
        searched = re2.compile(told.encode(), BYTES)
        texts = [e.text if isinstance(e, Example) else e for e in rule.examples.match if isinstance(e, str | Example)]
        for line in (line for text in texts for line in text.split("\n")):
            if compile_pattern(rule.when.regex or "").search(line) is not None:
                checked += 1
                assert searched.search(line.encode()) is not None, (rule.id, line)
    assert checked > 500


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        (r"\A(?P<a>x)[^\n]*\"$", '^(?:x).*"$'), (r"a\<b", "a<b"), (r"[^\s\n]+\.", r"[^\s]+\."), (r"one\ntwo", None),
        ("f\u00fcr", r"f(?:\xC3\xBC)r"), ("['\u2018]x", r"(?:[']|(?:\xE2\x80\x98))x"), ("[^\u2502]*", ".*"),
    ],
)  # fmt: skip
def test_what_a_line_tool_reads_otherwise(pattern: str, told: str | None) -> None:
    """Names, needless backslashes, line ends and letters beyond ASCII."""
    assert line_expression(pattern) == told


@pytest.mark.skipif(shutil.which("rg") is None, reason="no ripgrep here")
def test_ripgrep_takes_them_as_they_are(tmp_path: Path) -> None:
    """All in one call, by `-f`."""
    patterns, log = tmp_path / "rules.regex", tmp_path / "log"
    patterns.write_text("\n".join(line_expressions(RULES)) + "\n", encoding="utf-8")
    log.write_text("hello\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n", encoding="utf-8")
    done = subprocess.run(["rg", "-c", "--no-unicode", "-f", patterns, log], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "1", "")
