"""Accelerators are known under every name, with the memory they really report and the regions that list them."""

from __future__ import annotations

import pytest

from analyzer.facts.accelerators import (
    accelerator,
    accelerators_by_memory,
    all_accelerators,
    next_best,
    offers,
    training_regions,
)
from analyzer.facts.machine_types import all_machines, machines_with


@pytest.mark.parametrize(
    ("name", "identity"),
    [
        ("NVIDIA_TESLA_T4", "NVIDIA_TESLA_T4"),
        ("nvidia-tesla-t4", "NVIDIA_TESLA_T4"),
        ("Tesla T4", "NVIDIA_TESLA_T4"),
        ("NVIDIA A100-SXM4-40GB", "NVIDIA_TESLA_A100"),
        ("NVIDIA A100-SXM4-80GB", "NVIDIA_A100_80GB"),
        ("NVIDIA H100 80GB HBM3", "NVIDIA_H100_80GB"),
        ("projects/p/zones/z/acceleratorTypes/nvidia-l4", "NVIDIA_L4"),
        ("v5e", "TPU_V5E"),
        ("tpu-v5-lite-podslice", "TPU_V5E"),
        ("TPU_V3", "TPU_V3"),
        ("tpu7x", "TPU7X"),
    ],
)
def test_names_of_an_accelerator(name: str, identity: str) -> None:
    """Vertex's enum, GKE's label, nvidia-smi's model and everyday names mean the same device."""
    found = accelerator(name)
    assert found is not None
    assert found.id == identity


def test_unknown_accelerators_are_none() -> None:
    """A name that means nothing is no accelerator."""
    assert accelerator("ACCELERATOR_TYPE_UNSPECIFIED") is None
    assert accelerator(None) is None
    assert next_best("NVIDIA_NOTHING") == []
    assert training_regions("NVIDIA_NOTHING") == []


@pytest.mark.parametrize(
    ("total", "identity"),
    [(14.56, "NVIDIA_TESLA_T4"), (15.78, "NVIDIA_TESLA_V100"), (22.03, "NVIDIA_L4"), (39.39, "NVIDIA_TESLA_A100"),
     (79.25, "NVIDIA_A100_80GB"), (79.11, "NVIDIA_H100_80GB"), (139.8, "NVIDIA_H200_141GB"), (178.36, "NVIDIA_B200")],
)  # fmt: skip
def test_a_gpu_is_known_by_the_total_that_it_reports(total: float, identity: str) -> None:
    """The number in PyTorch's message tells the model, as far as models differ."""
    assert accelerators_by_memory(total)[0].id == identity


def test_a_slice_of_a_gpu_is_no_whole_one() -> None:
    """A MIG slice of 9.5 GiB is not taken for a small GPU."""
    assert accelerators_by_memory(9.5) == []


def test_regions_come_with_the_same_continent_first() -> None:
    """The region that failed is left out; moving within a continent is cheaper for data."""
    found = training_regions("NVIDIA_TESLA_A100", near="europe-west4")
    assert "europe-west4" not in found
    continents = [region.split("-")[0] for region in training_regions("NVIDIA_TESLA_T4", near="europe-west4")]
    assert continents == sorted(continents, key=lambda continent: continent != "europe")
    assert all(offer.as_of >= "2026-08" for offer in offers("NVIDIA_TESLA_A100"))


def test_the_newest_word_on_a_region_counts() -> None:
    """K80 has gone, though an older list still had it."""
    assert {offer.training for offer in offers("NVIDIA_TESLA_K80")} == {"no"}
    assert training_regions("NVIDIA_TESLA_K80") == []


def test_every_stand_in_can_be_had() -> None:
    """A next-best accelerator is on Vertex AI, in some region, on some machine type that the table knows."""
    for one in all_accelerators():
        for other in next_best(one.id):
            assert other.on_vertex
            assert training_regions(other.id)
            on_machines = [found for count in (1, 2, 4, 8) for found in machines_with(other.id, count)]
            assert on_machines or other.id in ("TPU_V2", "TPU_V3")


def test_every_built_in_accelerator_of_a_machine_is_known() -> None:
    """No machine type carries a device that the table of accelerators lacks."""
    for one in all_machines():
        assert one.accelerator is None or accelerator(one.accelerator) is not None
        assert all(accelerator(gpu) is not None for gpu in one.gpu_options)
