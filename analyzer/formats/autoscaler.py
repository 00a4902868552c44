"""GKE's autoscaler visibility log: decisions, their results, and why nothing was done.

Each reason object becomes a statement of its own, quoted as the export has it. Format:
https://cloud.google.com/kubernetes-engine/docs/how-to/cluster-autoscaler-visibility
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from analyzer.formats.part import Part, known

_BOOKKEEPING = frozenset(("decideTime", "eventId", "measureTime"))


class _Open(msgspec.Struct):
    decision: dict[str, msgspec.Raw] | None = None
    resultInfo: dict[str, msgspec.Raw] | None = None
    noDecisionStatus: dict[str, msgspec.Raw] | None = None
    status: msgspec.Raw = msgspec.Raw(b"")


def autoscaler_parts(raw: bytes) -> list[Part]:
    """The statements of one visibility entry. Raises ValueError for what is none."""
    entry = msgspec.json.decode(raw, type=_Open)
    parts: list[Part] = []
    if entry.decision:
        parts += [
            Part(_text(value), known(kind="autoscaler", reason=name, state="decision"))
            for name, value in entry.decision.items()
            if name not in _BOOKKEEPING
        ]
    for state, found in (("result", entry.resultInfo), ("no_decision", entry.noDecisionStatus)):
        for name, value in (found or {}).items():
            parts += [] if name in _BOOKKEEPING else _reasons(value, name, state, {})
    if not parts:
        parts = [Part(raw.decode("utf-8", "replace"), {"kind": "autoscaler"})]
    return parts


def _reasons(raw: msgspec.Raw, name: str, state: str, context: dict[str, Any]) -> Iterator[Part]:
    """Every object below that has a `messageId`, with the pod or node group that it speaks of; a plain object else."""
    text = bytes(raw)
    if text.startswith(b"["):
        for item in msgspec.json.decode(text, type=list[msgspec.Raw]):
            yield from _reasons(item, name, state, context)
    elif text.startswith(b"{"):
        inner = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        if "messageId" in inner:
            reason = msgspec.json.decode(inner["messageId"])
            severity = "WARNING" if ".error" in str(reason) or ".failure" in str(reason) else "INFO"
            yield Part(_text(raw), known(kind="autoscaler", reason=reason, state=state, **context), severity=severity)
            return
        here = {**context, **_context(inner)}
        for key, value in inner.items():
            yield from _reasons(value, key, state, here)


def _context(inner: dict[str, msgspec.Raw]) -> dict[str, Any]:
    if "podGroup" in inner:
        return _context(msgspec.json.decode(inner["podGroup"], type=dict[str, msgspec.Raw]))
    if "samplePod" in inner:
        pod = msgspec.json.decode(inner["samplePod"])
        return known(pod=pod.get("name"), namespace=pod.get("namespace")) if isinstance(pod, dict) else {}
    return {}


def _text(raw: msgspec.Raw) -> str:
    return bytes(raw).decode("utf-8", "replace")
