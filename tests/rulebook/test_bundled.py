"""The bundled rules keep their own promises."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from analyzer.compiled import _stamp
from analyzer.resources import data_folder
from analyzer.rulebook.cache import compile_rules, load_rulebook
from analyzer.rulebook.check import check
from analyzer.rulebook.load import load_folder, rule_files
from analyzer.rulebook.schema import json_schema


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


def test_what_is_kept_follows_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pack that changed, or whose kept form is damaged, is compiled anew; one form is kept of it."""
    monkeypatch.setenv("DIAGNOSE_CACHE", str(tmp_path / "cache"))
    name = load_rulebook().rules[0].id
    rule = tmp_path.joinpath("pack", *name.split(".")).with_suffix(".yaml")
    rule.parent.mkdir(parents=True)
    text = data_folder("rules").joinpath(*name.split(".")).with_suffix(".yaml").read_text()
    seen = []
    for weight in (31, 32, 32):
        rule.write_text("".join(line for line in text.splitlines(True) if not line.startswith("weight:")) + f"weight: {weight}\n")
        _stamp.cache_clear()
        seen += [found.weight for found in load_rulebook([tmp_path / "pack"]).rules if found.id == name]
        kept = list((tmp_path / "cache").glob("rulebook-*.msgpack"))
        assert len(kept) == 2
        for path in kept:
            path.write_bytes(path.read_bytes()[:100] if weight == 32 else path.read_bytes())
    assert seen == [31, 32, 32]


def test_a_pack_overrides_by_id(tmp_path: Path) -> None:
    """A user's rule with a bundled id replaces it; others are added."""
    some = load_rulebook().rules[0]
    path = tmp_path.joinpath(*some.id.split(".")).with_suffix(".yaml")
    path.parent.mkdir(parents=True)
    path.write_text(f"id: {some.id}\ntitle: {{en: mine, de: meins}}\nrole: noise\nwhen: {{regex: 'mine alone'}}\n")
    rulebook = load_rulebook([tmp_path])
    assert (changed := rulebook.rule_of(some.id)) is not None
    assert changed.title.en == "mine"
    assert len(rulebook.rules) == len(load_rulebook().rules)


def test_the_published_schema_is_the_programs_own() -> None:
    """`rules/rule.schema.json`, which editors use, is what `diagnose rules schema` prints."""
    assert (data_folder("rules") / "rule.schema.json").read_text(encoding="utf-8") == json_schema()


def test_the_published_schema_accepts_every_rule() -> None:
    """Another's validator agrees that the bundled files are of that schema."""
    validator = jsonschema.Draft202012Validator(json.loads(json_schema()))
    for path in rule_files(data_folder("rules"))[::10]:
        validator.validate(yaml.safe_load(path.read_text(encoding="utf-8")))
