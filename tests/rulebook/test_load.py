"""A mistake in a rule file is told with its place and how to mend it."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.errors import RuleError
from analyzer.rulebook.load import load_folder, parse_rule

GOOD = """\
id: storage.example
title: {en: the disk was full, de: die Platte war voll}
role: root
cause: storage.disk_full
when:
  regex: 'No space left on device'
"""

MISTAKES = {
    "unknown key": (GOOD.replace("role:", "rolle:"), ":1", "rolle"),
    "unknown category": (GOOD.replace("storage.disk_full", "disc.full"), ":4", "disc.full"),
    "no cause": (GOOD.replace("cause: storage.disk_full\n", ""), ":3", "no cause"),
    "lookahead": (GOOD.replace("No space", "(?=No) space"), ":6", "RE2"),
    "two things at once": (GOOD + "  exception: OSError\n", ":5", "several things"),
    "nothing": (GOOD.replace("  regex: 'No space left on device'\n", "  all: []\n  any: []\n"), ":5", "several"),
    "bad yaml": (GOOD.replace("{en: the", "{en the: [the"), ":2", "YAML"),
    "alias bomb": (GOOD + "a: &a [x]\nb: *a\n", ":8", "alias"),
    "job words in a message rule": (
        GOOD.replace("regex: 'No space left on device'", "absent: progress.*"),
        ":5",
        "scope: job",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_located(name: str) -> None:
    """Every mistake names file and line and says what is wrong."""
    text, place, word = MISTAKES[name]
    with pytest.raises(RuleError) as caught:
        parse_rule(text, "pack/example.yaml")
    assert str(caught.value).startswith(f"pack/example.yaml{place}")
    assert word in str(caught.value)


def test_the_id_is_the_path(tmp_path: Path) -> None:
    """A file in the wrong folder is refused: ids are found by looking at the tree."""
    (tmp_path / "network").mkdir()
    (tmp_path / "network" / "example.yaml").write_text(GOOD)
    with pytest.raises(RuleError, match=r"network\.example"):
        load_folder(tmp_path)


def test_tables_are_no_rules(tmp_path: Path) -> None:
    """Files under tables/ are facts and are not read as rules."""
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "facts.yaml").write_text("- 1\n")
    assert load_folder(tmp_path) == []
