"""Machine types are found under all their names, and larger ones are offered that can really replace them."""

from __future__ import annotations

import pytest

from analyzer.facts.machine_types import (
    all_machines,
    attach_problem,
    compute_type,
    larger_machines,
    machine,
    machines_with,
    nearest_machines,
    smallest_machines,
)

VERTEX = [one.name for one in all_machines() if one.on_vertex]


def test_the_types_of_vertex_are_there() -> None:
    """Every type that Vertex AI's compute page names loads with processors, memory and both estimates."""
    assert len(VERTEX) == 117
    for name in VERTEX:
        found = machine(name)
        assert found is not None
        assert found.vcpus
        assert found.memory_gib
        assert found.usable_low_gib is not None
        assert found.allocatable_gib is not None
        assert found.usable_low_gib <= found.allocatable_gib < found.memory_gib


@pytest.mark.parametrize(
    "written", ["n1-standard-4", " N1-Standard-4 ", "zones/us-central1-a/machineTypes/n1-standard-4"]
)
def test_a_type_is_found_however_it_is_written(written: str) -> None:
    """API paths, capitals and blanks do not matter."""
    found = machine(written)
    assert found is not None
    assert (found.name, found.vcpus, found.memory_gib) == ("n1-standard-4", 4, 15)


def test_unknown_types_are_none_and_get_advice() -> None:
    """A wrong name is answered with the nearest right ones."""
    assert machine("n1-standart-4") is None
    assert machine("") is None
    assert machine(None) is None
    assert nearest_machines("n1-standart-4")[0] == "n1-standard-4"


def test_custom_types_are_computed_from_their_name() -> None:
    """Compute Engine's custom types carry their size in the name."""
    found = machine("n2-custom-8-32768-ext")
    assert found is not None
    assert (found.family, found.vcpus, found.memory_gib, found.on_vertex) == ("n2", 8, 32, False)
    plain = machine("custom-4-15360")
    assert plain is not None
    assert plain.allocatable_gib == machine("n1-standard-4").allocatable_gib  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("legacy", "real"),
    [
        ("standard", "n1-standard-4"),
        ("large_model", "n1-highmem-8"),
        ("complex_model_m_gpu", "n1-standard-16"),
        ("BASIC", "n1-standard-4"),
        ("basic", "n1-standard-4"),
        ("STANDARD_1", "n1-highcpu-8"),
        ("PREMIUM_1", "n1-highcpu-16"),
    ],
)
def test_legacy_machines_and_tiers_stand_for_compute_types(legacy: str, real: str) -> None:
    """AI Platform's machines and scale tiers resolve to what their master runs on."""
    found = machine(legacy)
    assert found is not None
    assert found.is_legacy
    assert compute_type(found).name == real
    assert found.memory_gib == compute_type(found).memory_gib


def test_standard_tier_has_less_memory_than_basic() -> None:
    """The trap that makes a move to a larger scale tier run out of memory."""
    basic, standard = machine("BASIC"), machine("STANDARD_1")
    assert basic is not None
    assert standard is not None
    assert standard.memory_gib < basic.memory_gib  # type: ignore[operator]


def test_larger_machines_hold_the_peak() -> None:
    """Each has more memory than the one that failed, and its low bound is above the peak."""
    found = larger_machines("n1-standard-4", 13, "vertex")
    assert [one.name for one in found[:2]] == ["n1-highmem-4", "n1-standard-8"]
    assert all(one.usable_low_gib >= 13 and one.memory_gib > 15 and one.on_vertex for one in found)  # type: ignore[operator]


def test_larger_machines_without_a_peak_are_a_real_step() -> None:
    """Where nobody measured, half as much again is the least that is worth a try."""
    usable = machine("n1-standard-4").usable_low_gib  # type: ignore[union-attr]
    assert all(one.usable_low_gib >= 1.5 * usable for one in larger_machines("n1-standard-4", None, "vertex"))  # type: ignore[operator]


def test_larger_machines_keep_the_accelerator() -> None:
    """An attached GPU stays attachable in its count, a built-in one stays the same model."""
    attached = larger_machines("n1-standard-8", 40, "vertex", gpu="NVIDIA_TESLA_T4", gpu_count=1)
    assert attached
    assert all("NVIDIA_TESLA_T4" in one.gpu_options for one in attached)
    built_in = larger_machines("g2-standard-4", 20, "vertex")
    assert [one.name for one in built_in[:2]] == ["g2-standard-8", "g2-standard-12"]
    assert all(one.accelerator == "NVIDIA_L4" for one in built_in)


def test_larger_machines_keep_the_processor_architecture() -> None:
    """An image for ARM does not start on x86, and the other way round."""
    assert {one.family for one in larger_machines("t2a-standard-4", 20, "gke")} <= {"t2a", "c4a", "n4a"}
    assert not {one.family for one in larger_machines("n2-standard-4", 20, "gke")} & {"t2a", "c4a", "n4a"}


def test_no_machine_is_invented() -> None:
    """Where nothing holds the peak, nothing is offered."""
    assert larger_machines("n1-standard-4", 50_000, "vertex") == []
    assert larger_machines("no-such-type", 1, "vertex") == []
    assert smallest_machines(50_000, "gke") == []


def test_suggestions_do_not_depend_on_anything_else() -> None:
    """The same question has the same answer, in the same order."""
    asked = [larger_machines("n1-standard-4", peak, "gke") for peak in (13, 20, 13)]
    assert asked[0] == asked[2]


@pytest.mark.parametrize(
    ("host", "gpu", "count", "problem"),
    [
        ("n1-standard-4", "NVIDIA_TESLA_T4", 1, None),
        ("n1-standard-4", "NVIDIA_TESLA_T4", 3, "n1-standard-4 takes 1, 2, 4 of NVIDIA_TESLA_T4, not 3"),
        ("n1-standard-32", "NVIDIA_TESLA_T4", 1, "n1-standard-32 takes 2, 4 of NVIDIA_TESLA_T4, not 1"),
        ("g2-standard-4", "NVIDIA_L4", 2, "g2-standard-4 comes with 1 x NVIDIA_L4"),
        ("g2-standard-4", "NVIDIA_TESLA_T4", 1, "g2-standard-4 comes with 1 x NVIDIA_L4"),
        ("no-such-type", "NVIDIA_L4", 1, None),
    ],
)
def test_machine_and_accelerator_pairs(host: str, gpu: str, count: int, problem: str | None) -> None:
    """A pair that Vertex AI would refuse is named with what would go."""
    assert attach_problem(host, gpu, count) == problem


def test_a_wrong_pair_names_the_machine_that_fits() -> None:
    """Changing the GPU means changing the machine type too."""
    assert "g2-standard-4" in (attach_problem("n1-standard-4", "NVIDIA_L4", 1) or "")
    assert [one.name for one in machines_with("NVIDIA_TESLA_A100", 8)] == ["a2-highgpu-8g"]
