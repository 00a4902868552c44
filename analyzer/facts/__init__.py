"""What the services, machines, accelerators and kernels are known to do, read out of the tables in `rules/tables`."""

from analyzer.facts.accelerators import (
    Accelerator,
    Offer,
    accelerator,
    accelerators_by_memory,
    next_best,
    offers,
    training_regions,
)
from analyzer.facts.allocatable import allocatable_formula
from analyzer.facts.exit_codes import ExitExplanation, child_signal, explain_exit, signal_name
from analyzer.facts.machine_types import (
    Machine,
    attach_problem,
    larger_machines,
    machine,
    machines_with,
    nearest_machines,
    smallest_machines,
)
from analyzer.facts.memory import larger_accelerators, memory_facts
from analyzer.facts.sizes import gib, show_gib
from analyzer.facts.xid import Xid, most_to_blame, sxid, xid

__all__ = [
    "Accelerator", "ExitExplanation", "Machine", "Offer", "Xid", "accelerator", "accelerators_by_memory",
    "allocatable_formula", "attach_problem", "child_signal", "explain_exit", "gib", "larger_accelerators",
    "larger_machines", "machine", "machines_with", "memory_facts", "most_to_blame", "nearest_machines", "next_best",
    "offers", "show_gib", "signal_name", "smallest_machines", "sxid", "training_regions", "xid",
]  # fmt: skip
