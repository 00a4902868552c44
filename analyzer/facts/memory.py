"""The memory figures of an out-of-memory failure: what the machine has, what a program could have, what is next."""

from __future__ import annotations

from analyzer.facts.accelerators import accelerator, all_accelerators
from analyzer.facts.machine_types import Machine, larger_machines, machine, machines_with
from analyzer.facts.sizes import show_gib
from analyzer.model import Memory

_MANAGED = ("vertex", "ai_platform")
_NO_LIMIT_GIB = 2.0**30  # cgroups write a limit near 2^63 bytes where there is none

_WORDS = {
    "en": {
        "unknown": "The machine type {name} is not known here, so its memory is not either.",
        "none": "The machine type is not known, so what it could give is not either.",
        "node": "{name} has {capacity} GiB, of which about {allocatable} GiB are left for pods (estimate: without what "
        "the kernel, GKE's reservation and the eviction threshold take).",
        "managed": "{name} has {capacity} GiB. After the kernel and GKE's reservation about {allocatable} GiB are "
        "left, and the service's agents take more (up to 40 % on the smallest types), so a program may have only "
        "{low} to {allocatable} GiB.",
        "limit": "The container's own limit is {limit} GiB.",
        "device": "The accelerator reports {device} GiB.",
    },
    "de": {
        "unknown": "Der Maschinentyp {name} ist hier nicht bekannt, sein Speicher also auch nicht.",
        "none": "Der Maschinentyp ist nicht bekannt und damit auch nicht, was er bieten könnte.",
        "node": "{name} hat {capacity} GiB, davon bleiben etwa {allocatable} GiB für Pods (Schätzung: ohne den Anteil "
        "des Kernels, die Reservierung von GKE und die Räumungsschwelle).",
        "managed": "{name} hat {capacity} GiB. Nach Kernel und Reservierung von GKE bleiben etwa {allocatable} GiB, "
        "und die Agenten des Dienstes brauchen davon noch etwas (bis zu 40 % auf den kleinsten Typen): Einem Programm "
        "bleiben womöglich nur {low} bis {allocatable} GiB.",
        "limit": "Die Grenze des Containers selbst liegt bei {limit} GiB.",
        "device": "Der Beschleuniger meldet {device} GiB.",
    },
}


def memory_facts(
    machine_type: str | None,
    platform: str,
    *,
    limit_gib: float | None = None,
    observed_peak_gib: float | None = None,
    accelerator_memory_gib: float | None = None,
    accelerator_name: str | None = None,
    accelerator_count: int | None = None,
    ran_out: str = "host",
    lang: str = "en",
) -> Memory:
    """What is known of the memory of a job's machine, with larger types to move to.

    `ran_out` is `host`, `accelerator` or `shm`. Suggestions follow it: more host memory with the same accelerators; an
    accelerator with more memory; none where only a container's limit or /dev/shm was too small. Figures that nobody
    states stay None; the estimates are the table's, and `basis` says in a sentence or two where they come from.
    """
    host = machine(machine_type)
    limit_gib = None if limit_gib is not None and limit_gib >= _NO_LIMIT_GIB else limit_gib
    device = accelerator(accelerator_name) or accelerator(host.accelerator if host else None)
    if accelerator_memory_gib is None and ran_out == "accelerator" and device is not None:
        accelerator_memory_gib = device.usable_gib
    low = host.usable_low_gib if host and platform in _MANAGED else None
    return Memory(
        machine_type=machine_type,
        capacity_gib=_rounded(host.memory_gib if host else None),
        allocatable_gib=_rounded(host.allocatable_gib if host else None),
        usable_low_gib=_rounded(low),
        limit_gib=_rounded(limit_gib),
        observed_peak_gib=_rounded(observed_peak_gib),
        accelerator_memory_gib=_rounded(accelerator_memory_gib),
        suggestions=_suggestions(
            host, platform, limit_gib, observed_peak_gib, device.id if device else None, accelerator_count, ran_out
        ),
        basis=_basis(machine_type, host, low, limit_gib, accelerator_memory_gib, lang),
    )


def larger_accelerators(name: str, count: int, platform: str, host_gib: float = 0.0) -> list[str]:
    """For each accelerator with more memory a device, the smallest machine that has as many, the nearest size first.

    An entry is a machine type (`a2-ultragpu-1g`), or `n1-standard-8 + 1 x NVIDIA_TESLA_V100` where it is attached.
    Machines with less host memory than `host_gib` are left out, so that the move does not cause the next failure.
    """
    current = accelerator(name)
    if current is None:
        return []
    bigger = [one for one in all_accelerators() if one.kind == current.kind and one.memory_gb > current.memory_gb]
    found = []
    for one in sorted(bigger, key=lambda one: (one.memory_gb, one.id)):
        hosts = [host for host in machines_with(one.id, count, platform) if (host.memory_gib or 0) >= host_gib]
        if hosts:
            attached = "" if hosts[0].accelerator else f" + {count} x {one.id}"
            found.append(hosts[0].name + attached)
    return found[:4]


def _suggestions(
    host: Machine | None,
    platform: str,
    limit_gib: float | None,
    peak_gib: float | None,
    device: str | None,
    count: int | None,
    ran_out: str,
) -> list[str]:
    if ran_out == "accelerator":
        has = count or (int(host.accelerator_count) if host and host.accelerator_count else 1)
        return larger_accelerators(device, has, platform, (host and host.memory_gib) or 0.0) if device else []
    limited = limit_gib is not None and host is not None and limit_gib < 0.95 * (host.allocatable_gib or 0)
    if host is None or limited or ran_out != "host":
        return []
    return [found.name for found in larger_machines(host.name, peak_gib, platform, gpu=device, gpu_count=count)]


def _basis(
    name: str | None, host: Machine | None, low: float | None, limit: float | None, device: float | None, lang: str
) -> str:
    words = _WORDS.get(lang, _WORDS["en"])
    known = host is not None and host.memory_gib is not None
    sentences = [words[("node" if low is None else "managed") if known else ("unknown" if name else "none")]]
    if limit is not None:
        sentences.append(words["limit"])
    if device is not None:
        sentences.append(words["device"])
    return " ".join(sentences).format(
        name=name,
        capacity=show_gib(host.memory_gib if host else None, lang),
        allocatable=show_gib(host.allocatable_gib if host else None, lang),
        low=show_gib(low, lang), limit=show_gib(limit, lang), device=show_gib(device, lang),
    )  # fmt: skip


def _rounded(amount: float | None) -> float | None:
    return None if amount is None else round(amount, 2)
