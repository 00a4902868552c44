"""The estimate of what a program can use agrees with nodes that were measured."""

from __future__ import annotations

from itertools import pairwise

import pytest

from analyzer.facts.allocatable import allocatable_formula, kernel_gib, reserved_gib, usable_low_formula
from analyzer.facts.machine_types import machine
from analyzer.facts.tables import number, table_rows

MEASURED = [row for row in table_rows("measured_allocatable") if row["measured_allocatable_gib"]]


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: row["machine_type"])
def test_estimate_is_within_one_percent_of_a_measured_node(row: dict[str, str]) -> None:
    """Against `kubectl describe node` of real nodes, from 7.5 to 512 GiB."""
    measured = float(row["measured_allocatable_gib"])
    assert allocatable_formula(float(row["nominal_gib"])) == pytest.approx(measured, rel=0.01)


@pytest.mark.parametrize("row", table_rows("measured_allocatable"), ids=lambda row: row["machine_type"])
def test_kernel_share_is_within_half_a_percent(row: dict[str, str]) -> None:
    """What /proc/meminfo says is what the machine type promises less the kernel's share."""
    if row["measured_capacity_gib"]:
        nominal = float(row["nominal_gib"])
        assert nominal - kernel_gib(nominal) == pytest.approx(float(row["measured_capacity_gib"]), rel=0.005)


def test_computed_figures_are_those_of_the_table() -> None:
    """The code and the published table cannot drift apart."""
    for row in table_rows("machine_types"):
        found = machine(row["machine_type"])
        assert found is not None
        assert found.allocatable_gib == pytest.approx(number(row["kernel_adjusted_allocatable_gib"]), abs=0.011)
        assert found.usable_low_gib == pytest.approx(number(row["vertex_usable_low_gib"]), abs=0.011)


def test_reservation_follows_the_documented_tiers() -> None:
    """255 MiB below 1 GiB; then 25, 20, 10, 6 and 2 percent."""
    assert reserved_gib(0.6) == pytest.approx(255 / 1024)
    assert reserved_gib(4) == pytest.approx(1.0)
    assert reserved_gib(8) == pytest.approx(1.8)
    assert reserved_gib(16) == pytest.approx(2.6)
    assert reserved_gib(128) == pytest.approx(9.32)
    assert reserved_gib(228) == pytest.approx(11.32)


def test_the_documented_worst_case_of_n1_standard_4() -> None:
    """Up to 40 percent of 15 GiB may be gone: 9 GiB are left."""
    assert usable_low_formula(15) == pytest.approx(9.0)


def test_more_memory_never_means_less_to_use() -> None:
    """Both estimates grow with the machine and stay below its size."""
    sizes = [step / 4 for step in range(1, 4000)]
    for formula in (allocatable_formula, usable_low_formula):
        found = [formula(size) for size in sizes]
        assert all(0 <= value <= size for value, size in zip(found, sizes, strict=True))
        assert all(later >= earlier - 0.07 for earlier, later in pairwise(found))
