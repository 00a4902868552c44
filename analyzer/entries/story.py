"""All that is known of one job before it is judged."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import msgspec

from analyzer.model import Entry, JobKey


class Story(msgspec.Struct, frozen=True, dict=True):
    """The entries of one job in their total order.

    `descriptions` are the structured facts (`Entry.fields`) of the job's own descriptions (kind `job`), oldest first.
    """

    key: JobKey
    entries: tuple[Entry, ...]

    @cached_property
    def descriptions(self) -> Sequence[dict[str, Any]]:
        """Fields of the job's descriptions."""
        return [entry.fields for entry in self.entries if entry.fields.get("kind") == "job"]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller may say beside the input."""

    job_id: str | None = None
    exit_codes: dict[str | None, int] = {}  # by replica; None: any replica
    lang: str = "en"
    redact: bool = True
    baseline: str | None = None  # a job of the input, or a path: a good run of the same job to compare with
    known_shapes: frozenset[str] = frozenset()  # the shapes of that good run's messages
    tool_version: str = ""
