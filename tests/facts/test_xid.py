"""Xid codes are read as NVIDIA's catalogue has them, and blame goes to the fault and not to its echo."""

from __future__ import annotations

import pytest

from analyzer.facts.xid import most_to_blame, sxid, xid


@pytest.mark.parametrize(
    ("code", "error_class"), [(79, "hardware"), (48, "hardware"), (74, "nvlink"), (31, "app"), (119, "driver")]
)
def test_a_code_has_name_class_and_action(code: int, error_class: str) -> None:
    """The codes that training jobs meet are explained."""
    found = xid(code)
    assert found is not None
    assert found.error_class == error_class
    assert found.name
    assert found.meaning
    assert found.action


def test_unknown_codes_are_none() -> None:
    """Nothing is made up."""
    assert xid(100_000) is None
    assert sxid(1) is None


@pytest.mark.parametrize(
    ("logged", "blamed"),
    [
        ([45, 31, 79], 79),
        ([13, 43], 13),
        ([43, 45], 43),
        ([63, 48], 48),
        ([74, 79, 154], 79),
        ([31, 13], 31),
        ([], None),
    ],
)
def test_blame_goes_to_the_fault_and_not_its_echo(logged: list[int], blamed: int | None) -> None:
    """A lost GPU beats the link errors that it causes; 43, 45, 137 and 154 only ever follow."""
    assert most_to_blame(logged) == blamed


def test_switch_errors_have_their_own_table() -> None:
    """An SXid is not an Xid."""
    found = sxid(20034)
    assert found is not None
    assert found.name == "LTSSM Fault Up"
