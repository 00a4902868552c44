"""Which texts tell something: at least all that a rule of weight can match, found alike with and without the engine."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analyzer.resources import data_folder
from analyzer.rulebook.cache import load_rulebook
from analyzer.rulebook.load import load_folder
from analyzer.rulebook.schema import Example, Role
from analyzer.rulebook.telling import _plainly, finder, telling


def test_every_example_that_a_rule_matches_tells() -> None:
    """No text that a root, verdict or cascade rule is there for is taken for chatter."""
    tells = telling(load_rulebook())
    for rule in load_folder(data_folder("rules")):
        if rule.role not in (Role.ROOT, Role.VERDICT, Role.CASCADE) or rule.scope == "job":
            continue
        texts = [e if isinstance(e, str) else e.text for e in rule.examples.match if isinstance(e, str) or (isinstance(e, Example) and not e.fields)]
        assert tells(texts) == set(range(len(texts))), rule.id


@given(st.lists(st.text("abİß é\0", min_size=1, max_size=4), max_size=5), st.lists(st.text("abİß é\0AB", max_size=12), max_size=6))
def test_the_engine_finds_what_a_plain_search_finds(words: list[str], texts: list[str]) -> None:
    """The automaton over many joined texts agrees with looking for each word in each text."""
    words = [word for word in words if "\0" not in word]
    texts = [text.replace("\0", " ") for text in texts]
    assert finder(words)(texts) == _plainly(words, texts)
