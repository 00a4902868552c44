"""What a structured record says beyond its text, before it becomes an Entry."""

from __future__ import annotations

from typing import Any

import msgspec

from analyzer.model import Instant, JobKey, Origin


class Part(msgspec.Struct, frozen=True):
    """One statement of an event or a description: its words, its facts, and what it is about.

    `line` is where it stands in its document; `time` is None where the surrounding record gives the time.
    """

    text: str
    fields: dict[str, Any] = {}
    job: JobKey | None = None
    replica: str | None = None
    node: str | None = None
    severity: str = ""
    time: Instant | None = None
    line: int = 0
    attempt: int | None = None
    origin: Origin = Origin.STATUS


def known(**values: Any) -> dict[str, Any]:
    """The values that are known, as a fields dict: None and empty texts, lists and objects are left out."""
    return {
        name: value
        for name, value in values.items()
        if value is not None and value != "" and value != [] and value != {}
    }
