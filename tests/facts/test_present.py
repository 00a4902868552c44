"""What `diagnose memory` and `diagnose exit-code` print."""

from __future__ import annotations

import json

import pytest

from analyzer.errors import UsageError
from analyzer.facts.present import exit_text, exit_view, memory_text, memory_view


def test_memory_shows_the_series_with_the_asked_type_marked() -> None:
    """A neighbour's size is often the next question."""
    text = memory_text(memory_view("n1-standard-4"))
    assert "\n> n1-standard-4 " in text
    assert "\n  n1-standard-96" in text
    assert "12.1" in text


def test_memory_with_a_peak_names_types_that_hold_it() -> None:
    """A peak that does not fit is answered with the smallest that do."""
    view = memory_view("n1-standard-4", "13GiB")
    assert view["fits"] is False
    assert [row["machine_type"] for row in view["suggestions"]][:2] == ["n1-highmem-4", "n1-standard-8"]
    assert "does not fit n1-standard-4" in memory_text(view)


def test_memory_with_a_peak_that_fits() -> None:
    """The asked type itself can be the answer."""
    view = memory_view("n1-standard-4", "8 GiB")
    assert view["fits"] is True
    assert "fits n1-standard-4" in memory_text(view)


def test_memory_of_a_scale_tier_says_what_it_stands_for() -> None:
    """Nobody knows by heart what STANDARD_1 is."""
    assert "stands for n1-highcpu-8 master" in memory_text(memory_view("STANDARD_1"))


def test_an_unknown_machine_type_gets_the_nearest_names() -> None:
    """A typo costs one look."""
    with pytest.raises(UsageError, match="did you mean n1-standard-4"):
        memory_view("n1-standart-4")
    with pytest.raises(UsageError, match="'zzz' is no machine type that is known"):
        exit_view("137", "zzz")


def test_an_unknown_platform_gets_the_known_ones() -> None:
    """What the service does depends on which one it is."""
    with pytest.raises(UsageError, match="give one of vertex"):
        exit_view("137", platform="mainframe")


@pytest.mark.parametrize("peak", ["lots", "", "0GiB", "-1GiB"])
def test_a_wrong_peak_is_refused(peak: str) -> None:
    """With an example of a right one."""
    with pytest.raises(UsageError, match="write it like 13GiB"):
        memory_view("n1-standard-4", peak)


def test_exit_code_text_has_all_parts() -> None:
    """Meaning, causes, signs that decide, what the service does, memory of the machine, sources."""
    text = exit_text(exit_view("137", "n1-standard-4", "vertex"))
    for part in ("Exit code 137 · SIGKILL", "host memory ran out", "OOMKilled", "What Vertex AI does", "Sources"):
        assert part in text
    assert "n1-standard-4 has 15 GiB" in text


def test_exit_code_in_german_has_no_english_headings() -> None:
    """The German text is German, but for what the logs say themselves."""
    text = exit_text(exit_view("137", "n1-standard-4", lang="de"), "de")
    for part in ("Exit-Code 137 · SIGKILL", "der Arbeitsspeicher ging aus", "Vertex AI tun", "Quellen"):
        assert part in text
    assert "What " not in text
    assert "How to" not in text


@pytest.mark.parametrize(
    "view", [memory_view("a2-highgpu-1g", "90GiB"), exit_view("247", "n1-standard-4"), exit_view("OOMKilled")]
)
def test_views_are_plain_json(view: dict[str, object]) -> None:
    """The same answer for scripts."""
    assert json.loads(json.dumps(view)) == view


@pytest.mark.parametrize("width", [80, 200])
def test_text_keeps_to_the_width(width: int) -> None:
    """Prose is wrapped; only tables and addresses may be wider."""
    prose = [line for line in exit_text(exit_view("137"), width=width).splitlines() if "http" not in line]
    assert max(map(len, prose)) <= width
