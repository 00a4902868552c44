"""Text that is shown obeys nobody but the reader."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.report.neutral import clipped, escaped_json, shown, shown_line, web_link


@given(st.text(max_size=200))
def test_nothing_that_a_screen_obeys_is_left(text: str) -> None:
    """Only line ends and tabs of all controls; making harmless twice is making harmless once."""
    safe = shown(text)
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]", safe
    )
    assert shown(safe) == safe


@given(st.text(alphabet="aäß€ 漢字🙂\n\t", max_size=200))
def test_harmless_text_stays_as_it_is(text: str) -> None:
    """Letters of any script, emoji, blanks and line ends are not touched."""
    assert shown(text) == text


@pytest.mark.parametrize(
    ("text", "seen"),
    [("\x1b[31mred\x1b[0m", "red"), ("a\x1b]0;t\x07b", "a␛]0;t␇b"), ("50%\r100%", "⋯ 100%"), ("done\r", "done"),
     ("a\r\nb", "a\nb"),
     ("x\u202ey", "x⟨U+202E⟩y"), ("\x9b31m", "⟨U+009B⟩31m"), ("\x7f", "␡"), ("\ud83d", "\ufffd"), ("\x1b[", "␛[")],
)  # fmt: skip
def test_signs_stand_for_what_was_there(text: str, seen: str) -> None:
    """Colours vanish; every other control is shown, and no text is hidden."""
    assert shown(text) == seen


@given(st.text(max_size=300), st.integers(min_value=1, max_value=50))
def test_a_line_keeps_its_limit(text: str, limit: int) -> None:
    """One line, never longer than asked."""
    line = shown_line(text, limit)
    assert "\n" not in line
    assert len(line) <= max(limit, 2)


@given(st.lists(st.text(alphabet="ab ", max_size=50), max_size=200))
def test_clipping_keeps_head_and_tail_and_says_so(rows: list[str]) -> None:
    """A short text is whole; a long one keeps its first and last line."""
    text = "\n".join(rows)
    kept, left_out = clipped(text, lines=20, characters=400)
    assert len(kept) <= 20 * 90
    assert (kept == text) == (left_out == 0)
    if left_out and len(rows) > 20:
        assert "⋯" in kept.split("\n")


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "data:text/html,x", "//x", "x", "", "http://", "https://a b", "https://a\"b", "ftp://x",
     "https://[", "https://a\u202eb", None, "HTTPS://ok.example\n"],
)  # fmt: skip
def test_only_plain_web_addresses_are_links(address: str | None) -> None:
    """Everything else stays text."""
    assert web_link(address) is None


def test_json_escapes_are_the_same_text() -> None:
    """Beyond the basic plane an escape is a pair."""
    assert escaped_json("\u202e\U000e0041\x9b") == "\\u202e\\udb40\\udc41\\u009b"
