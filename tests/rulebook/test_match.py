"""Matching: conditions, values, who may say it, and the prefilter that must not change a thing."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.model import Origin
from analyzer.rulebook import Matcher, Rule
from analyzer.rulebook.cache import load_rulebook
from analyzer.rulebook.conditions import telling_line
from analyzer.rulebook.load import parse_rule
from analyzer.rulebook.prefilter import LiteralFinder
from analyzer.stitch import message_of


def rule(when: str, role: str = "noise", more: str = "") -> Rule:
    return parse_rule(f"id: a.b\ntitle: {{en: x, de: x}}\nrole: {role}\nwhen: {when}\n{more}", "a.yaml")


def ids(rules: list[Rule], text: str, origin: Origin = Origin.REPLICA) -> list[str]:
    return [finding.rule.id for finding in Matcher(rules).find(message_of(text, origin=origin))]


def test_named_groups_become_values() -> None:
    """A rule reads its values out of the message."""
    finding = Matcher([rule("{regex: 'lost (?P<count>\\d+) peers'}")]).find(message_of("we lost 12 peers"))[0]
    assert finding.values == {"count": "12"}


def test_who_says_it_counts() -> None:
    """A rule that only the service may say does not match a container's output; text of unknown origin may be it."""
    only_service = rule("{regex: 'Job completed successfully'}", more="from: [service]\n")
    assert ids([only_service], "Job completed successfully.", Origin.SERVICE) == ["a.b"]
    assert ids([only_service], "Job completed successfully.", Origin.TEXT) == ["a.b"]
    assert ids([only_service], "Job completed successfully.", Origin.REPLICA) == []


def test_exceptions_match_by_type_and_message() -> None:
    """A type name matches short or dotted, and the message is that of the same link of the chain."""
    text = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\ntorch.OutOfMemoryError: no room'
    assert ids([rule("{exception: OutOfMemoryError}")], text) == ["a.b"]
    assert ids([rule("{exception: [torch.OutOfMemoryError], message: 'no room'}")], text) == ["a.b"]
    assert ids([rule("{exception: OutOfMemoryError, message: 'other'}")], text) == []


def test_a_line_that_only_announces_the_next_is_not_the_proof() -> None:
    """What stands below "Last error:" proves it, and below a type whose message begins with an empty line its words."""
    announced = message_of("first words\nLast error:\nno room for shm")
    when = rule("{regex: 'Last error:\\s*\\n(?P<last>[^\\n]+)'}").when
    assert telling_line(when, announced) == 2
    raised = message_of(
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nRuntimeError: \nThe versions differ'
    )
    assert telling_line(rule("{exception: RuntimeError}").when, raised) == 4


def test_fields_match_values_lists_and_patterns() -> None:
    """Structured facts match by value, by one of several, or by a pattern that gives values."""
    message = message_of(
        "x", origin=Origin.STATUS, fields={"kind": "container", "exit_code": 137, "reason": "OOMKilled"}
    )
    for when in ("{fields: {exit_code: 137}}", "{fields: {exit_code: [1, 137]}}", "{fields: {reason: '/^OOM/'}}"):
        assert len(Matcher([rule(when)]).find(message)) == 1
    assert Matcher([rule("{fields: {exit_code: 1}}")]).find(message) == []


@given(st.lists(st.sampled_from(["out of memory", "killed", "0", "\n", " ", "ÄÖ", "İ", "CUDA"])).map("".join))
def test_both_literal_engines_agree(text: str) -> None:
    """The engine finds the literals that a plain search finds, also where several begin alike."""
    words = ["out of memory", "out of memory0", "killed", "cuda", "memorykilled", "out of memorykilled"]
    lowered = text.lower()
    found = {number for number, word in enumerate(words) if word in lowered}
    assert LiteralFinder(words).by_text(["", lowered, "x"]) == ({1: found} if found else {})


@settings(max_examples=20)
@given(st.data())
def test_the_prefilter_changes_nothing(data: st.DataObject) -> None:
    """Over mixtures of the rulebook's own words, the prefiltered search finds what the exhaustive one finds."""
    rulebook = load_rulebook()
    words = [
        "CUDA out of memory",
        "exit code 137",
        "Killed",
        "NCCL WARN",
        "Traceback (most recent call last):",
        "step 12",
        "\n",
    ]
    message = message_of(" ".join(data.draw(st.lists(st.sampled_from(words), max_size=6))))
    found = [f.rule.id for f in rulebook.find(message)]
    assert found == [f.rule.id for f in rulebook.find_exhaustively(message)]
