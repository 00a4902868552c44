"""GPUs and TPUs: their names, what memory they really report, where Vertex AI offers them, and what can stand in."""

from __future__ import annotations

from functools import cache

import msgspec

from analyzer.expressions import expression
from analyzer.facts.tables import table_document, table_rows

_SEPARATORS = expression(r"[\s_/-]+")
_ADJACENT = {"northamerica": "us", "us": "us"}  # region prefixes that count as one continent


class Accelerator(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of accelerator.

    `id` is the name that Vertex AI uses (`NVIDIA_TESLA_T4`, `TPU_V5E`). `memory_gb` is the nominal memory of one device
    as a program sees devices (a TPU core or chip); `reported_gib` are the totals that frameworks print for it, which
    are smaller. `labels` are the GKE names. `attach` maps N1 machine types to counts where the machine table has none.
    """

    id: str
    kind: str  # gpu | tpu
    name: str
    on_vertex: bool
    memory_gb: float
    reported_gib: tuple[float, ...]
    labels: tuple[str, ...]
    aliases: tuple[str, ...]
    machine_types: str
    next_best: tuple[str, ...]
    attach: dict[str, list[int]]
    flag: str
    source: str
    notes: str

    @property
    def usable_gib(self) -> float:
        """The smallest total that frameworks were seen to print; the nominal size where none was seen."""
        return min(self.reported_gib, default=self.memory_gb)


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an accelerator in a region for Vertex AI training.

    `training` is yes, no or unknown; a `no` with flag `inferred` only means that the region is not listed. It says that
    a request is accepted there, never that there is capacity. `as_of` is the month of the newest source.
    """

    accelerator: str
    region: str
    training: str
    zones: tuple[str, ...]
    flag: str
    as_of: str


@cache
def all_accelerators() -> tuple[Accelerator, ...]:
    """Every accelerator of the table, GPUs first, oldest first."""
    return tuple(
        Accelerator(
            id=row["id"], kind=row["kind"], name=row["name"], on_vertex=row["on_vertex"],
            memory_gb=row["memory_gb_nominal"], reported_gib=tuple(row["reported_gib"]), labels=tuple(row["labels"]),
            aliases=tuple(row["aliases"]), machine_types=row["machine_types"],
            next_best=tuple(row.get("next_best", ())), attach=row.get("attach", {}),
            flag=row["flag"], source=row["source"], notes=row["notes"],
        )
        for row in table_document("accelerators")
    )  # fmt: skip


def accelerator(name: str | None) -> Accelerator | None:
    """The accelerator that a name means: Vertex's, GKE's label, or what nvidia-smi and people call it; None if unknown.

    >>> accelerator("nvidia-tesla-t4").id, accelerator("NVIDIA A100-SXM4-80GB").id
    ('NVIDIA_TESLA_T4', 'NVIDIA_A100_80GB')
    """
    if not name:
        return None
    return _by_name().get(_plain(name))


def accelerators_by_memory(total_gib: float) -> list[Accelerator]:
    """Which GPUs report such a total (within 2 % of a seen one), the nearest first.

    An empty list means a slice of a GPU (MIG or a fraction) or a GPU that the table does not have.
    """
    near: list[tuple[float, str, Accelerator]] = []
    for candidate in all_accelerators():
        seen = min((abs(total_gib / total - 1) for total in candidate.reported_gib), default=1.0)
        if candidate.kind == "gpu" and seen <= 0.02:
            near.append((seen, candidate.id, candidate))
    return [found for _, _, found in sorted(near, key=lambda item: item[:2])]


def offers(name: str) -> list[Offer]:
    """Every region that is known to have the accelerator, with the newest word on Vertex AI training there."""
    wanted = accelerator(name)
    return list(_offers().get(wanted.id if wanted else name.upper(), {}).values())


def training_regions(name: str, near: str | None = None) -> list[str]:
    """Regions that list the accelerator for Vertex AI training; those on `near`'s continent first, `near` left out."""
    listed = [offer.region for offer in offers(name) if offer.training == "yes" and offer.region != near]
    home = _continent(near) if near else ""
    return sorted(listed, key=lambda region: (_continent(region) != home, region))


def next_best(name: str) -> list[Accelerator]:
    """Accelerators that can stand in for one, the nearest first. A judgement, not a documented order."""
    wanted = accelerator(name)
    return [found for other in (wanted.next_best if wanted else ()) if (found := accelerator(other))]


@cache
def _by_name() -> dict[str, Accelerator]:
    names: dict[str, Accelerator] = {}
    for row in all_accelerators():
        for name in (row.id, row.name, *row.labels, *row.aliases):
            names.setdefault(_plain(name), row)
    return names


def _plain(name: str) -> str:
    return _SEPARATORS.sub("", name.rsplit("/", 1)[-1].casefold().removeprefix("nvidia"))


@cache
def _offers() -> dict[str, dict[str, Offer]]:
    found: dict[str, dict[str, Offer]] = {}
    for row in table_rows("accelerator_regions"):
        offer = Offer(
            accelerator=row["accelerator"], region=row["region"], training=row["vertex_training"],
            zones=tuple(zone for zone in row["compute_zones"].split(";") if zone and not zone.endswith("-?")),
            flag=row["flag"], as_of=row["as_of"],
        )  # fmt: skip
        regions = found.setdefault(offer.accelerator, {})
        if offer.region not in regions or regions[offer.region].as_of < offer.as_of:
            regions[offer.region] = offer
    return {name: dict(sorted(regions.items())) for name, regions in found.items()}


def _continent(region: str) -> str:
    prefix = region.split("-", 1)[0]
    return _ADJACENT.get(prefix, prefix)
