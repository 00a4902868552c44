"""Which texts tell something: at least all that a rule of weight can match, found alike with and without the engine."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analyzer.resources import data_folder
from analyzer.rulebook.cache import load_rulebook
from analyzer.rulebook.load import load_folder
from analyzer.rulebook.prefilter import LiteralFinder, plain_hits
from analyzer.rulebook.schema import Example, Role
from analyzer.rulebook.telling import telling


def test_every_example_that_a_rule_matches_tells() -> None:
    """No text that a root, verdict or cascade rule is there for is taken for chatter."""
    tells = telling(load_rulebook())
    for rule in load_folder(data_folder("rules")):
        if rule.role not in (Role.ROOT, Role.VERDICT, Role.CASCADE) or rule.scope == "job":
            continue
        texts = [e if isinstance(e, str) else e.text for e in rule.examples.match if isinstance(e, str) or (isinstance(e, Example) and not e.fields)]
        assert tells(texts) == set(range(len(texts))), rule.id


WORDS = st.text("abİß é", min_size=1, max_size=14)


@given(st.lists(WORDS, max_size=5), st.lists(st.text("abİß éAB", max_size=30), max_size=6))
def test_the_engine_finds_what_a_plain_search_finds(words: list[str], texts: list[str]) -> None:
    """The automaton over many joined texts agrees with looking for each word in each text."""
    found = {number for number, text in enumerate(texts) if any(word in text for word in words)}
    assert LiteralFinder(words).in_texts(texts) == found


@given(st.lists(WORDS, min_size=1, max_size=5, unique=True), st.text("abİß é", max_size=40))
def test_the_search_without_an_engine_finds_the_same_places(words: list[str], text: str) -> None:
    """Where the engine's wheel is missing, the answer is the same."""
    finder, plain = LiteralFinder(words), LiteralFinder(words)
    plain._hits = lambda whole: plain_hits(list(dict.fromkeys(word.encode()[:10] for word in words)), whole)
    assert plain.by_text([text, "a"]) == finder.by_text([text, "a"])
