"""The bundled rules keep their own promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.resources import data_folder
from analyzer.rulebook.cache import compile_rules, load_rulebook
from analyzer.rulebook.check import check
from analyzer.rulebook.load import load_folder


def test_every_rule_passes_its_own_examples_and_the_lint() -> None:
    """`diagnose rules check` finds no mistake in what is shipped."""
    result = check([data_folder("rules")])
    assert result.broken == []
    assert [problem for problem in result.problems if problem.level == "error"] == []
    assert result.rules


def test_the_compiled_rulebook_matches_as_the_files_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read from the cache is what was compiled, with the same version."""
    monkeypatch.setenv("DIAGNOSE_CACHE", str(tmp_path))
    first, second = load_rulebook(), load_rulebook()
    assert list(tmp_path.glob("rulebook-*.msgpack"))
    assert first.version == second.version == compile_rules(load_folder(data_folder("rules"))).version
    assert [rule.id for rule in first.rules] == [rule.id for rule in second.rules]


def test_a_pack_overrides_by_id(tmp_path: Path) -> None:
    """A user's rule with a bundled id replaces it; others are added."""
    some = load_rulebook().rules[0]
    path = tmp_path.joinpath(*some.id.split(".")).with_suffix(".yaml")
    path.parent.mkdir(parents=True)
    path.write_text(f"id: {some.id}\ntitle: {{en: mine, de: meins}}\nrole: noise\nwhen: {{regex: 'mine alone'}}\n")
    rulebook = load_rulebook([tmp_path])
    assert rulebook.by_id[some.id].title.en == "mine"
    assert len(rulebook.rules) == len(load_rulebook().rules)
