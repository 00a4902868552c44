"""Memory figures of a failure: what is stated is kept, what is estimated says so, what is unknown stays unknown."""

from __future__ import annotations

import pytest

from analyzer.facts.machine_types import machine
from analyzer.facts.memory import larger_accelerators, memory_facts
from analyzer.facts.sizes import gib


def test_a_managed_worker_has_a_range() -> None:
    """On Vertex AI the truth lies between the agents' worst case and what a bare node would give."""
    found = memory_facts("n1-standard-4", "vertex", observed_peak_gib=11.2)
    assert (found.capacity_gib, found.allocatable_gib, found.usable_low_gib) == (15, 12.1, 9)
    assert found.observed_peak_gib == 11.2
    assert "9 to 12.1 GiB" in (found.basis or "")


def test_a_cluster_node_has_no_agents() -> None:
    """On GKE the low bound does not apply."""
    found = memory_facts("n1-standard-4", "gke")
    assert found.usable_low_gib is None
    assert "left for pods" in (found.basis or "")


@pytest.mark.parametrize("name", ["no-such-type", None])
def test_an_unknown_machine_has_no_figures(name: str | None) -> None:
    """Null, never a guess."""
    found = memory_facts(name, "vertex", observed_peak_gib=3)
    assert (found.capacity_gib, found.allocatable_gib, found.usable_low_gib) == (None, None, None)
    assert found.suggestions == []
    assert found.observed_peak_gib == 3


def test_suggestions_hold_the_peak() -> None:
    """Every suggested type has room for what was seen."""
    found = memory_facts("n1-standard-4", "vertex", observed_peak_gib=21)
    assert found.suggestions
    assert all(machine(name).usable_low_gib >= 21 for name in found.suggestions)  # type: ignore[union-attr, operator]


def test_a_containers_limit_needs_no_larger_machine() -> None:
    """Where the limit is far below what the node has, the limit is what to raise."""
    assert memory_facts("n1-standard-4", "gke", limit_gib=4).suggestions == []
    assert memory_facts("n1-standard-4", "gke", limit_gib=12).suggestions != []
    assert memory_facts("n1-standard-4", "gke", ran_out="shm").suggestions == []


def test_the_kernels_no_limit_is_no_limit() -> None:
    """A cgroup without a limit prints 9007199254740988kB."""
    found = memory_facts("n1-standard-4", "gke", limit_gib=gib("9007199254740988kB"))
    assert found.limit_gib is None
    assert "limit" not in (found.basis or "")


def test_accelerator_memory_asks_for_a_larger_accelerator() -> None:
    """More host memory would not help; the same count of a device with more memory does, on no smaller a host."""
    found = memory_facts("n1-standard-8", "vertex", accelerator_name="T4", accelerator_count=1, ran_out="accelerator")
    assert found.accelerator_memory_gib == 14.56
    assert found.suggestions[0] == "g2-standard-8"
    assert larger_accelerators("NVIDIA_TESLA_A100", 8, "vertex")[0] == "a2-ultragpu-8g"
    assert larger_accelerators("NVIDIA_GB300", 4, "gke") == []


def test_a_stated_accelerator_size_wins() -> None:
    """What the message printed counts, not the table."""
    found = memory_facts("a2-highgpu-1g", "vertex", accelerator_memory_gib=19.5, ran_out="accelerator")
    assert found.accelerator_memory_gib == 19.5


def test_the_basis_is_told_in_german_too() -> None:
    """With the language's own decimal sign."""
    assert "9 bis 12,1 GiB" in (memory_facts("n1-standard-4", "vertex", lang="de").basis or "")
