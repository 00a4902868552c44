"""Machine types: what they have, what of it a training program can use, and which larger ones there are.

Sizes are those of the Compute Engine API (2026-08) and the Vertex AI documentation; legacy machines and scale tiers of
AI Platform are resolved to the Compute Engine types that their prices add up to.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec

from analyzer.expressions import expression
from analyzer.facts.accelerators import accelerator, all_accelerators
from analyzer.facts.allocatable import allocatable_formula, usable_low_formula
from analyzer.facts.tables import number, table_rows

_LEGACY = ("cloudml-legacy-machine", "cloudml-scale-tier")
_ARM_FAMILIES = ("a4x", "c4a", "n4a", "t2a")
_CUSTOM = expression(r"(?:(?P<family>[a-z]\d[a-z]?)-)?custom-(?P<vcpus>\d{1,3})-(?P<mib>\d{3,8})(?:-ext)?", re.ASCII)
_VCPU_IN_GIB = 7.5  # what a vCPU costs in GiB of memory, about, in the list prices of the general-purpose families
_HEADROOM = 1.5  # how much more a machine must have to count as larger, where no peak is known
_TYPE_NAME = expression(r"(?<!\w)[a-z]\w*(?:-\w+)+", re.ASCII)


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """One machine type. Sizes in GiB; what is not known is None.

    `accelerator` and `accelerator_count` are what comes with the type; `gpu_options` are the GPUs that may be attached,
    with the counts allowed. `allocatable_gib` is what pods can have on a GKE node of it (estimate), `documented_gib`
    what an older table of the documentation gave. `usable_low_gib` is the least a program may find on a worker of AI
    Platform or Vertex AI (inferred), for the types that they have. `stands_for` says what a legacy type really is.
    """

    name: str
    family: str
    vcpus: float | None
    memory_gib: float | None
    accelerator: str | None = None
    accelerator_count: float | None = None
    gpu_options: dict[str, tuple[int, ...]] = {}
    on_vertex: bool = False
    on_ai_platform: bool = False
    allocatable_gib: float | None = None
    documented_gib: float | None = None
    documented_flag: str = ""
    usable_low_gib: float | None = None
    stands_for: str | None = None
    flag: str = ""
    notes: str = ""
    source: str = ""

    @property
    def is_legacy(self) -> bool:
        """Whether it is a machine or scale tier of AI Platform, and not a Compute Engine type."""
        return self.family in _LEGACY

    @property
    def series(self) -> str:
        """The name without its size: `n1-standard`, `a2-highgpu`; the family for legacy types."""
        return self.family if self.is_legacy else self.name.rsplit("-", 1)[0]

    def is_on(self, platform: str) -> bool:
        """Whether the platform has it (only AI Platform and Vertex AI keep a list of their own)."""
        if platform == "vertex":
            return self.on_vertex
        if platform == "ai_platform":
            return self.on_ai_platform
        return not self.is_legacy and self.family != "vertex-tpu"

    def usable_gib(self, platform: str) -> float | None:
        """What a program can count on there: the low bound on the managed services, else what a node can allocate."""
        return self.usable_low_gib if platform in ("vertex", "ai_platform") else self.allocatable_gib


def machine(name: str | None) -> Machine | None:
    """The machine type of that name, custom types (`n2-custom-8-32768`) and legacy ones included; None if unknown."""
    if not name:
        return None
    short = name.strip().rsplit("/", 1)[-1]
    known = _machines()
    return known.get(short) or known.get(short.lower()) or known.get(short.upper()) or _custom(short.lower())


def all_machines() -> list[Machine]:
    """Every machine type of the table, in its order."""
    return list(_machines().values())


def nearest_machines(name: str, limit: int = 3) -> list[str]:
    """Names of known types that look like a wrong one."""
    import difflib

    return difflib.get_close_matches(name.strip().lower(), _machines(), n=limit, cutoff=0.6)


def compute_type(of: Machine) -> Machine:
    """The Compute Engine type behind a legacy machine or scale tier (its master's); any other type is itself."""
    named = _TYPE_NAME.findall(of.stands_for or "")
    return next((found for name in named if (found := machine(name))), of)


def smallest_machines(
    peak_gib: float,
    platform: str,
    *,
    like: Machine | None = None,
    gpu: str | None = None,
    gpu_count: int | None = None,
    above_gib: float = 0.0,
    limit: int = 5,
) -> list[Machine]:
    """The smallest types that hold a peak, at most `limit`: first those of the same family, then one of each other.

    Small is meant as a price would have it: memory and processors together.
    `like` gives the family, the processor architecture and the accelerators to keep; `gpu` and `gpu_count` are what is
    attached beside the type. `above_gib` leaves out types with no more memory than that.
    """
    base = compute_type(like) if like else None
    kept, count = _kept_accelerator(like, gpu, gpu_count)
    fitting = [
        (rank, found)
        for found in _machines().values()
        if not found.is_legacy and found.is_on(platform)
        and (found.memory_gib or 0) > above_gib and (found.usable_gib(platform) or 0) >= peak_gib
        and (found.family in _ARM_FAMILIES) == (base is not None and base.family in _ARM_FAMILIES)
        and (rank := _accelerator_rank(found, kept, count)) is not None
    ]  # fmt: skip
    ordered = sorted(fitting, key=lambda item: (item[0], *_by_size(item[1])))
    same = [found for _, found in ordered if base is not None and found.family == base.family]
    others: dict[str, Machine] = {}
    for _, found in ordered:
        if base is None or found.family != base.family:
            others.setdefault(found.family, found)
    usual = sorted(others.values(), key=lambda found: (not found.on_vertex, *_by_size(found)))
    return (same[: max(limit - 2, limit - len(usual))] + usual)[:limit]


def larger_machines(
    name: str, peak_gib: float | None, platform: str, *, gpu: str | None = None, gpu_count: int | None = None
) -> list[Machine]:
    """Types with more memory than `name` that hold the peak, the smallest first; [] if the type is not known.

    The peak of a program that was killed is the least that it needs, so a type of the same size never qualifies.
    Without a peak a type must offer half as much again.
    """
    current = machine(name)
    if current is None or current.memory_gib is None:
        return []
    needed = peak_gib if peak_gib is not None else _HEADROOM * (current.usable_gib(platform) or current.memory_gib)
    return smallest_machines(needed, platform, like=current, gpu=gpu, gpu_count=gpu_count, above_gib=current.memory_gib)


def machines_with(gpu: str, count: int = 1, platform: str = "vertex") -> list[Machine]:
    """Types that have (or may have attached) so many of an accelerator, the smallest first."""
    wanted = accelerator(gpu)
    if wanted is None:
        return []
    found = [
        one for one in _machines().values()
        if not one.is_legacy and one.is_on(platform) and _accelerator_rank(one, wanted.id, count) == 0
    ]  # fmt: skip
    return sorted(found, key=_by_size)


def attach_problem(machine_type: str, gpu: str, count: int) -> str | None:
    """Why an accelerator and count do not go with a machine type, as a clause; None if they do or it is not known."""
    host, wanted = machine(machine_type), accelerator(gpu)
    if host is None or wanted is None or wanted.kind != "gpu":
        return None
    if host.accelerator:
        together = host.accelerator == wanted.id and host.accelerator_count == count
        return None if together else f"{host.name} comes with {host.accelerator_count:g} x {host.accelerator}"
    allowed = host.gpu_options.get(wanted.id, ())
    if count in allowed:
        return None
    if allowed:
        return f"{host.name} takes {', '.join(map(str, allowed))} of {wanted.id}, not {count}"
    fitting = [found.name for found in machines_with(wanted.id, count)[:3]]
    return f"{host.name} does not take {wanted.id}; {count} of it go with {', '.join(fitting) or 'no known type'}"


def _by_size(found: Machine) -> tuple[float, float, str]:
    memory, vcpus = found.memory_gib or 0.0, found.vcpus or 0.0
    return (memory + _VCPU_IN_GIB * vcpus, memory, found.name)


def _kept_accelerator(like: Machine | None, gpu: str | None, count: int | None) -> tuple[str | None, float]:
    attached = accelerator(gpu)
    if attached:
        return attached.id, count or 1
    return (like.accelerator, like.accelerator_count or 1) if like and like.accelerator else (None, 0)


def _accelerator_rank(found: Machine, kept: str | None, count: float) -> int | None:
    """0 the same accelerators, 1 more of the same, None others (or some where none were)."""
    if kept is None:
        return None if found.accelerator or found.accelerator_count else 0
    if found.accelerator is not None:
        has = found.accelerator_count or 0
        return None if found.accelerator != kept or has < count else 0 if has == count else 1
    options = found.gpu_options.get(kept, ())
    return 0 if count in options else 1 if any(option > count for option in options) else None


@cache
def _machines() -> dict[str, Machine]:
    by_short = {one.id.removeprefix("NVIDIA_TESLA_"): one.id for one in all_accelerators()}
    attachable = [(one.id, one.attach) for one in all_accelerators() if one.attach]
    machines = {}
    for row in table_rows("machine_types"):
        name = row["machine_type"]
        options = _gpu_options(row["gpu_options"], by_short)
        options |= {identity: tuple(hosts[name]) for identity, hosts in attachable if name in hosts}
        machines[name] = _machine(row, options)
    return machines


def _machine(row: dict[str, str], options: dict[str, tuple[int, ...]]) -> Machine:
    memory, arm = number(row["memory_gib"]), row["family"] in _ARM_FAMILIES
    device = accelerator(row["gpu_type"] or ("" if " or " in row["tpu"] else row["tpu"].split(" ", 1)[0]))
    managed = row["vertex_supported"] == "yes" or row["ai_platform_supported"].startswith("yes")
    return Machine(
        name=row["machine_type"], family=row["family"], vcpus=number(row["vcpus"]), memory_gib=memory,
        accelerator=device.id if device else None, accelerator_count=number(row["gpu_count"] or row["tpu_chips"]),
        gpu_options=options, on_vertex=row["vertex_supported"] == "yes",
        on_ai_platform=row["ai_platform_supported"].startswith("yes"),
        allocatable_gib=None if memory is None else allocatable_formula(memory, arm=arm),
        documented_gib=number(row["gke_documented_allocatable_gib"]), documented_flag=row["gke_documented_flag"],
        usable_low_gib=usable_low_formula(memory, arm=arm) if managed and memory is not None else None,
        stands_for=row["equivalent_to"] or None, flag=row["flag"], notes=row["notes"], source=row["source"],
    )  # fmt: skip


def _gpu_options(cell: str, by_short: dict[str, str]) -> dict[str, tuple[int, ...]]:
    pairs = (part.split(":") for part in cell.split(";") if part.strip())
    return {by_short[short.strip()]: tuple(int(count) for count in counts.split(",")) for short, counts in pairs}


def _custom(name: str) -> Machine | None:
    found = _CUSTOM.fullmatch(name)
    if found is None:
        return None
    memory = int(found["mib"]) / 1024
    arm = found["family"] in _ARM_FAMILIES
    return Machine(
        name=name, family=found["family"] or "n1", vcpus=float(found["vcpus"]), memory_gib=memory,
        allocatable_gib=allocatable_formula(memory, arm=arm), flag="computed",
        source="https://cloud.google.com/compute/docs/instances/creating-instance-with-custom-machine-type",
    )  # fmt: skip
