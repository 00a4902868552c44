"""A new rule's file: right as it is written, and made of a log's own line where one is given."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.rulebook.check import check
from analyzer.rulebook.patterns import compile_pattern
from analyzer.rulebook.skeleton import pattern_of, write_skeleton


@pytest.mark.parametrize("line", [None, "E shard 12 of /data/x.bin at 10.0.0.5:80 is 'broken' (0x1f)"])
def test_a_new_rule_passes_the_check_as_it_stands(tmp_path: Path, line: str | None) -> None:
    """Only its words are left to fill in."""
    path = write_skeleton("storage.my_shard", tmp_path, line)
    result = check([path])
    assert [problem.text for problem in result.problems if problem.level == "error"] == []
    assert len(result.rules) == 1


def test_the_pattern_knows_the_line_with_other_values() -> None:
    """Numbers, addresses, paths and quoted names are its values."""
    pattern = compile_pattern(pattern_of("shard 12 of /data/x.bin at 10.0.0.5:80 is 'broken'"))
    found = pattern.search("shard 7 of /mnt/y/z.bin at 10.9.9.9:443 is 'late'")
    assert found is not None
    assert found.groupdict() == {"number": "7", "path": "/mnt/y/z.bin", "address": "10.9.9.9:443", "name": "'late'"}


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=80))
def test_the_pattern_of_any_line_matches_that_line(line: str) -> None:
    """Whatever stands in it."""
    assert compile_pattern(pattern_of(line)).search(line.strip()) is not None
