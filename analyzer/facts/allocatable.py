"""How much of a machine's memory a training program can have.

A node shows its pods less than the machine type promises: the kernel hides some of it, GKE reserves a share in tiers,
and the kubelet evicts below 100 MiB. The tiers and the threshold come from
https://cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes, the kernel's part from gce_reserved.go of the
Kubernetes cluster autoscaler. Against measured nodes (`rules/tables/measured_allocatable.csv`) the estimate is off by
less than 1 %; the tiers applied to the promised size alone are 1.6 to 3.5 % too high.
"""

from __future__ import annotations

_MIB = 1 / 1024
_TIERS = ((4.0, 0.25), (4.0, 0.20), (8.0, 0.10), (112.0, 0.06))  # GiB of each tier, and the share reserved of it
_REST = 0.02  # of what lies above the tiers
_EVICTION = 100 * _MIB
_ARM_KERNEL = 0.9971  # of what the kernel hides on x86

# What the training services' own agents take beside that. The documentation says only that it can be "up to 40 %" on
# the smallest types, with n1-standard-4 as the example: 60 % of its 15 GiB are 9, which is 3.1 below the estimate.
AGENTS_SHARE = 0.40
AGENTS_GIB = 3.1


def reserved_gib(capacity_gib: float) -> float:
    """What GKE reserves of a node's capacity for the system, in GiB."""
    if capacity_gib < 1:
        return 255 * _MIB
    reserved, left = 0.0, capacity_gib
    for width, share in _TIERS:
        reserved += min(left, width) * share
        left = max(left - width, 0.0)
    return reserved + left * _REST


def kernel_gib(memory_gib: float, *, arm: bool = False) -> float:
    """What the kernel hides of a machine's memory (page tables, bounce buffers, crash kernel), in GiB."""
    hidden = memory_gib / 64 + 16 * _MIB + min(0.00175 * memory_gib, 248 * _MIB)
    hidden += 64 * _MIB if memory_gib > 3 else 0.0
    hidden += 8 * _MIB if memory_gib <= 8 else 0.0
    return hidden * (_ARM_KERNEL if arm else 1.0)


def allocatable_formula(memory_gib: float, *, arm: bool = False) -> float:
    """What the pods of a GKE node with so much memory can have together, in GiB (an estimate, never below 0)."""
    capacity = memory_gib - kernel_gib(memory_gib, arm=arm)
    return max(capacity - reserved_gib(capacity) - _EVICTION, 0.0)


def usable_low_formula(memory_gib: float, *, arm: bool = False) -> float:
    """The least that user code may find on a worker of AI Platform or Vertex AI, in GiB.

    Inferred, since no table of it is published: 40 % taken on the smallest machines, 3.1 GiB of agents on larger ones.
    """
    agents_worst = memory_gib * (1 - AGENTS_SHARE)
    return min(max(agents_worst, allocatable_formula(memory_gib, arm=arm) - AGENTS_GIB), memory_gib)
