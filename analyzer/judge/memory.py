"""The memory figures of an out-of-memory failure: what the machine has, what was left of it, what was asked for."""

from __future__ import annotations

from collections.abc import Mapping

from analyzer.facts.memory import memory_facts
from analyzer.facts.sizes import gib
from analyzer.model import Diagnosis, Memory

# Names that rules give to sizes. Kernel lines give kB, which are KiB there.
_ACCELERATOR_TOTAL = ("total", "capacity", "hbm_limit")
_HOST_LIMIT = ("limit", "memory_limit", "limit_kb")
_HOST_PEAK = ("peak", "usage", "rss", "usage_kb", "anon_rss_kb", "tried")
_ON_ACCELERATOR = ("gpu", "tpu", "hbm")


def memory_of(diagnosis: Diagnosis, lang: str) -> Memory | None:
    """The figures, for a diagnosis of category out_of_memory; None for any other."""
    root = diagnosis.root_cause
    if diagnosis.category != "out_of_memory" or root is None:
        return None
    ran_out = _what_ran_out(diagnosis.cause)
    count, _, name = (diagnosis.job.accelerator or "").rpartition(" × ")
    device = ran_out == "accelerator"
    return memory_facts(
        diagnosis.job.machine_type,
        diagnosis.job.platform,
        limit_gib=None if device else _first(root.values, _HOST_LIMIT),
        observed_peak_gib=None if device else _first(root.values, _HOST_PEAK),
        accelerator_memory_gib=_first(root.values, _ACCELERATOR_TOTAL) if device else None,
        accelerator_name=name or None,
        accelerator_count=int(count) if count.isdecimal() else None,
        ran_out=ran_out,
        lang=lang,
    )


def _what_ran_out(cause: str) -> str:
    if "shm" in cause:
        return "shm"
    return "accelerator" if any(word in cause for word in _ON_ACCELERATOR) else "host"


def _first(values: Mapping[str, str], names: tuple[str, ...]) -> float | None:
    for name in names:
        if name in values:
            text = values[name]
            size = gib(f"{text}KiB" if name.endswith("_kb") else text)
            if size is not None:
                return round(size, 2)
    return None
