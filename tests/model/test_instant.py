"""Instants keep nanoseconds and read the forms that logs use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.formats.clock import LineClock, rfc3339
from analyzer.model import Instant

FORMS = {
    "2026-03-11T08:21:52.330Z": "2026-03-11T08:21:52.33Z",
    "2026-03-11T08:21:52Z": "2026-03-11T08:21:52Z",
    "2026-03-11 08:21:52.123456789 UTC": "2026-03-11T08:21:52.123456789Z",
    "2026-01-19 18:02:00 +0700": "2026-01-19T11:02:00Z",
    "2026-01-19T18:02:00-03:30": "2026-01-19T21:32:00Z",
    "2026-12-31T23:59:60Z": "2027-01-01T00:00:00Z",
}


@pytest.mark.parametrize("text", FORMS)
def test_forms(text: str) -> None:
    """Fractions of any length, zones with and without colon, a leap second."""
    assert str(Instant.parse(text)) == FORMS[text]


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00Z", None, 5, "2026-02-30T00:00:00Z"])
def test_what_is_no_time(text: object) -> None:
    """What names no instant gives None, not an error."""
    assert Instant.parse(text) is None


@given(st.integers(min_value=0, max_value=4_000_000_000_000_000_000))
def test_printing_and_parsing_are_inverse(nanoseconds: int) -> None:
    """No nanosecond is lost on the way through text."""
    assert Instant.parse(str(Instant(nanoseconds))) == nanoseconds


@pytest.mark.parametrize(
    "text",
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "1677-12-31T23:59:59Z", "2262-01-01T00:00:00Z",
     "9999-12-31T23:59:60Z", "9999-12-31T23:59:59-14:00"],
)  # fmt: skip
def test_times_that_no_clock_shows(text: str) -> None:
    """They are no times, whoever reads them: nothing that is written of times could hold them."""
    assert Instant.parse(text) is None
    assert rfc3339(text.replace("Z", ".5Z")) is None
    assert LineClock().read(text.replace("T", " ") + " loss 0.5") is None


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_later_stays_within_64_bits(seconds: float) -> None:
    """However far a step goes, what comes out can be kept, and printed."""
    moved = Instant(0).plus(seconds)
    assert -(1 << 63) <= moved < 1 << 63
    assert str(moved)[:2] in ("16", "17", "18", "19", "20", "21", "22")
