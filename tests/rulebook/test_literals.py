"""Literals derived from a pattern occur in every text that it matches."""

from __future__ import annotations

import re

import pytest

from analyzer.rulebook.literals import condition_literals, required_literals
from analyzer.rulebook.schema import Condition

CASES = [
    (
        r"CUDA out of memory\. Tried to allocate (?P<n>[\d.]+) GiB",
        "RuntimeError: CUDA out of memory. Tried to allocate 2.5 GiB",
    ),
    (r"ran out[- ]of[- ]memory", "worker 1 ran out-of-memory and exited"),
    (r"(?i)resources are INSUFFICIENT", "Resources Are insufficient in region"),
    (r"NVRM: Xid \(PCI:[0-9a-f:]+\): (48|94|95)\b", "NVRM: Xid (PCI:0000:91:00): 94, pid=1"),
    (r"colou?r space|gr[ae]y scale", "a grey scale image"),
    (r"^(?:E\d+ )?failed \(exitcode: -?\d+\)", "E0203 failed (exitcode: -9)"),
]


@pytest.mark.parametrize(("pattern", "text"), CASES)
def test_a_match_contains_one_of_the_literals(pattern: str, text: str) -> None:
    """Whatever the pattern matches holds one of its literals, so the prefilter misses nothing."""
    literals = required_literals(pattern)
    assert re.search(pattern, text, re.M)
    assert literals
    assert any(literal in text.lower() for literal in literals)


def test_a_pattern_without_certain_words_has_no_literals() -> None:
    """Where nothing is certain the answer is None, never an empty set that would skip the rule."""
    assert required_literals(r"\d+ (a|b)?") is None
    assert required_literals(r"(alpha|\d+)") is None


def test_any_needs_literals_of_all_its_parts() -> None:
    """One part without literals makes a whole `any` unfiltered; an `all` needs only one part's."""
    sure, unsure = Condition(regex="fixed words"), Condition(regex=r"\d+")
    assert condition_literals(Condition(any=[sure, unsure])) is None
    assert condition_literals(Condition(all=[sure, unsure])) == frozenset({"fixed words"})
