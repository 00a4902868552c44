"""The splitter cuts JSON text into its values whatever the arrangement and the chunks."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from analyzer.formats import json_split
from analyzer.formats.json_split import Splitter

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(
    ['"', "\\", "{", "]", '\\"', "\\\\", "a\nb"]
)
VALUES = st.recursive(
    TEXTS | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(TEXTS, VALUES, max_size=3), max_size=5)


def pieces(text, size, splitter=None):
    """The pieces of a text that comes in chunks of this size."""
    splitter = splitter or Splitter()
    chunks = [text[start : start + size] for start in range(0, len(text), size)]
    return [piece for chunk in chunks for piece in splitter.feed(chunk)]


@given(OBJECTS, st.integers(1, 40), st.sampled_from(["array", "pretty array", "lines", "pretty objects"]))
def test_values_come_out_whole(objects, size, arrangement):
    """Every object comes out as it went in, at the line where it begins."""
    indent = 2 if "pretty" in arrangement else None
    if "array" in arrangement:
        text = json.dumps(objects, indent=indent).encode()
    else:
        text = "\n".join(json.dumps(value, indent=indent) for value in objects).encode()
    found = pieces(text, size)
    assert [json.loads(value) for _, _, value in found] == objects
    lines = text.split(b"\n")
    assert all(value.split(b"\n")[0] in lines[line - 1] for _, line, value in found)


@given(OBJECTS.filter(bool), st.data())
def test_cut_is_noticed(objects, data):
    """A text that ends early is known to end inside of something."""
    text = json.dumps(objects).encode()
    splitter = Splitter()
    pieces(text[: data.draw(st.integers(1, len(text) - 1))], 7, splitter)
    assert splitter.inside


def test_text_between_values_is_given_too():
    """Lines that are no JSON are not lost."""
    found = pieces(b'{"a":1}\nERROR: broken pipe\n{"a":2}\n', 5)
    assert found == [("value", 1, b'{"a":1}'), ("text", 2, b"ERROR: broken pipe"), ("value", 3, b'{"a":2}')]


def test_value_beyond_the_limit_is_skipped(monkeypatch):
    """A value that is larger than any costs itself only."""
    monkeypatch.setattr(json_split, "VALUE_LIMIT", 1000)
    splitter = Splitter()
    huge = b'{"a":"' + b"x" * 5000 + b'","b":[' + b"1," * 5000 + b"1]}"
    assert [value for _, _, value in pieces(b'[{"a":1},' + huge + b',{"a":2}]', 64, splitter)] == [
        b'{"a":1}',
        b'{"a":2}',
    ]
    assert splitter.too_large == 1
