"""Times at the head of text lines, in the styles that training programs and machines use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.formats.clock import LineClock, any_instant, described_time, rfc3339
from analyzer.model import Instant

NOON = "2026-06-11T12:00:00Z"


@pytest.mark.parametrize(
    "line",
    [
        "2026-06-11 12:00:00 step",
        "2026-06-11T12:00:00Z step",
        "2026-06-11T14:00:00+02:00 step",
        "2026-06-11 12:00:00,000 INFO step",
        "[2026-06-11 12:00:00] step",
        "[task 2026-06-11T12:00:00Z] step",
        "2026-06-11,12:00:00 | INFO | step",
        "2026/06/11 12:00:00 step",
        "INFO:2026-06-11 12:00:00,000:jax: step",
        "(Worker pid=3) 2026-06-11 12:00:00 step",
        "[NeMo I 2026-06-11 12:00:00 train:1] step",
        "I20260611 12:00:00 step",
        "20260611-12:00:00 step",
        "06/11/2026 12:00:00 - INFO - step",
        "26/06/11 12:00:00 INFO step",
        "Thu Jun 11 12:00:00 2026 step",
        "Thu, 11 Jun 2026 12:00:00 +0000 step",
        "1781179200 step",
        "I0000 00:00:1781179200.000000 12 a.cc:1] step",
        "\r 10%|#| 1/10\r 20%|##| 2/10\r2026-06-11 12:00:00 step",
    ],
)
def test_style_is_read(line):
    """Each style gives the moment it states."""
    assert LineClock().read(line) == Instant.parse(NOON)


@pytest.mark.parametrize(
    "line",
    [
        "I0611 12:00:00 9 a.cc:1] step",
        "[rank3]:[E611 12:00:00.000000000 ProcessGroupNCCL.cpp:1] step",
        "Jun 11 12:00:00 host kernel: step",
        "INFO 06-11 12:00:00 scheduler.py:1] step",
    ],
)
def test_year_comes_from_the_source(line):
    """Where a style has no year, the last full date of the source gives it; without one there is no time."""
    assert LineClock("2026-06-10 08:00:00 begin").read(line) == Instant.parse(NOON)
    assert LineClock("a line\nJob CANCELLED AT 2026-06-10T08:00:00 by root").read(line) == Instant.parse(NOON)
    assert LineClock().read(line) is None


def test_year_turns_with_the_calendar():
    """A line of January behind one of December is of the next year."""
    clock = LineClock("2025-12-31 23:59:59 begin")
    assert clock.read("I0101 00:00:01 9 a.cc:1] step") == Instant.parse("2026-01-01T00:00:01Z")


@pytest.mark.parametrize(
    "line",
    [
        "step 10 of 20",
        "12:00:00 step",
        "We started the run at 2026-06-11 12:00:00",
        "gs://bucket/run-2026-06-11 12:00:00/model",
        "2026-13-41 12:00:00 step",
        "0%|  | 0/7800 [00:00<?, ?it/s]",
        "[87123.401220] Memory cgroup out of memory",
        "9999999999999 step",
    ],
)
def test_line_without_its_own_time_gives_none(line):
    """A time that a sentence mentions, or that is none, is not when the line was said."""
    assert LineClock().read(line) is None


def test_cloud_logging_times_keep_nanoseconds():
    """Timestamps of entries are exact, with any number of digits and with other zones."""
    assert rfc3339("2026-06-11T12:00:00.000000001Z") == Instant.parse(NOON) + 1
    assert rfc3339("2026-06-11T12:00:00.5Z") == Instant.parse(NOON) + 500_000_000
    assert rfc3339("2026-06-11T14:00:00+02:00") == rfc3339(NOON) == Instant.parse(NOON)
    assert rfc3339("2026-06-11T12:00:00.Z") is rfc3339("yesterday") is None


def test_counts_of_any_unit_are_times():
    """Exports write seconds, milli-, micro- and nanoseconds, as numbers and as text."""
    for value in (1781179200, "1781179200", 1781179200.0, 1781179200000, "1781179200000000", 1781179200 * 10**9):
        assert any_instant(value) == Instant.parse(NOON)
    assert any_instant(True) is any_instant(0) is any_instant("x") is any_instant(None) is any_instant(1e300) is None


def test_descriptions_state_zones():
    """kubectl prints local times with their zone."""
    assert described_time("Thu, 11 Jun 2026 05:00:00 -0700") == Instant.parse(NOON)


@given(st.from_regex(r"20[0-9]{2}-[0-3][0-9]-[0-3][0-9][T t][0-2][0-9][:.][0-6][0-9]:[0-6][0-9]\.[0-9]{1,9}Z", fullmatch=True))
def test_the_quick_way_to_a_timestamp_is_the_usual_one(text: str) -> None:
    """Days and seconds that are none included."""
    assert rfc3339(text) == Instant.parse(text)
