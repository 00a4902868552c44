"""Amounts of memory are read as those mean them who write them."""

from __future__ import annotations

import pytest

from analyzer.facts.sizes import gib, show_gib


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("13GiB", 13.0),
        ("13 GiB", 13.0),
        ("12Gi", 12.0),
        ("15.75G", 15.75),
        ("12582912kB", 12.0),  # the kernel's kB is 1024 bytes
        ("13312 MiB", 13.0),
        ("1.5TiB", 1536.0),
        ("1073741824", 1.0),
        ("1073741824 bytes", 1.0),
        ("1,5 GiB", 1.5),
    ],
)
def test_binary_amounts(text: str, amount: float) -> None:
    """PyTorch, XLA, cgroups and the kernel count in powers of 1024."""
    assert gib(text) == amount


def test_decimal_amounts() -> None:
    """Spelled-out GB and MB are powers of 1000."""
    assert gib("1000 MB") == pytest.approx(0.931, abs=0.001)
    assert gib("13GB") == pytest.approx(12.107, abs=0.001)


@pytest.mark.parametrize("text", ["", "GiB", "13 apples", "-3GiB", "1e9", "12 Gi 3", "0x10", "١٣GiB"])
def test_what_is_no_amount(text: str) -> None:
    """Anything else is unknown, never a guess."""
    assert gib(text) is None


def test_amounts_for_people() -> None:
    """Enough digits to tell sizes apart, in the language's own notation."""
    assert [show_gib(amount) for amount in (5.2941, 12.097, 109.03, 9.0, None)] == ["5.29", "12.1", "109", "9", ""]
    assert show_gib(12.097, "de") == "12,1"
