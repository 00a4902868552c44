"""NVIDIA's Xid codes: what a GPU driver's error line means, whose fault it is, and which of several is to blame.

Codes and names follow NVIDIA's catalogue; meaning and action are in the project's own words and partly inferred.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec

from analyzer.facts.tables import table_document


class Xid(msgspec.Struct, frozen=True, kw_only=True):
    """One Xid (or, from the NVSwitch, SXid) code.

    `error_class` is app, hardware, driver, thermal, nvlink, info or unused for an Xid, and fatal, non_fatal or
    always_fatal for an SXid. `blame` orders codes that occur together: 0 is to blame first; None says nothing.
    `is_consequence` marks codes that nearly always follow another error.
    """

    code: int
    name: str
    error_class: str
    meaning: str
    action: str
    blame: int | None
    is_consequence: bool
    gke_watches: bool
    flag: str
    sources: tuple[str, ...]


@cache
def xid(code: int) -> Xid | None:
    """The Xid of a kernel line `NVRM: Xid (PCI:…): <code>, …`; None if the catalogue has none."""
    row = _rows("xid").get(code)
    if row is None:
        return None
    return Xid(
        code=code, name=row["name"], error_class=row["cause_class"], meaning=row["meaning"] or "",
        action=row["recommended_action"] or "", blame=_ranks().get(code),
        is_consequence=code in table_document("xid")["consequences"], gke_watches=row["gke_device_plugin_monitored"],
        flag=row["meaning_flag"] or row["flag"], sources=tuple(row["sources"]),
    )  # fmt: skip


@cache
def sxid(code: int) -> Xid | None:
    """The SXid of a line `nvidia-nvswitch0: SXid (PCI:…): <code>, …`; None if the table has none."""
    row = _rows("sxid").get(code)
    if row is None:
        return None
    return Xid(
        code=code, name=row["name"], error_class=row["class"], meaning=row["name"].replace("_", " "),
        action=row["action"] or "", blame=None, is_consequence=False, gke_watches=False, flag="verified",
        sources=("https://docs.nvidia.com/datacenter/tesla/pdf/fabric-manager-user-guide.pdf",),
    )  # fmt: skip


def most_to_blame(codes: Iterable[int]) -> int | None:
    """Of several Xids in the order they were logged, the one to blame: the best rank, the earliest among equals.

    Consequences (43, 45, 137, 154) are taken only where there is nothing else.
    """
    known = [found for code in codes if (found := xid(code))]
    worst = len(_ranks()) + 1
    ordered = sorted(known, key=lambda found: (found.is_consequence, worst if found.blame is None else found.blame))
    return ordered[0].code if ordered else None


@cache
def _rows(name: str) -> dict[int, dict[str, Any]]:
    return {row["code"]: row for row in table_document("xid")[name]}


@cache
def _ranks() -> dict[int, int]:
    return {code: rank for rank, codes in enumerate(table_document("xid")["order_of_blame_ranks"]) for code in codes}
