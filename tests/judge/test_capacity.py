"""A stockout's remedy names places and accelerators out of the tables."""

from __future__ import annotations

from analyzer.judge.capacity import capacity_steps
from analyzer.model import Job


def test_other_regions_of_the_same_accelerator_are_named_with_their_date() -> None:
    """The region that had no capacity is left out; the list says when it was made."""
    job = Job(id="1", platform="vertex", region="us-central1", accelerator="1 × NVIDIA_TESLA_T4")
    regions = capacity_steps(job, "us-central1", "en")[0]
    assert "us-east1" in regions
    assert "us-central1" not in regions
    assert "as of 20" in regions


def test_another_accelerator_comes_with_its_machine_type() -> None:
    """Changing the GPU changes the machine: both are said."""
    job = Job(id="1", platform="vertex", accelerator="1 × NVIDIA_TESLA_T4")
    assert any("g2-standard" in step for step in capacity_steps(job, None, "en"))


def test_without_an_accelerator_nothing_is_guessed() -> None:
    """A job whose accelerator is not known gets no list."""
    assert capacity_steps(Job(id="1", platform="vertex"), None, "en") == []
