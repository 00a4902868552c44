"""What a scan is told, in a form that can be sent to a worker."""

from __future__ import annotations

from pathlib import Path

import msgspec

from analyzer.entries import Span


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a scan.

    `shard` is (number, of how many): of all objects this scan reads those of its share and diagnoses nothing.
    `where` are conditions on the fields of a job's row; with `project`, `only_failed` and `limit` they choose what is
    written, not what is read.
    """

    output: Path
    workers: int = 1
    engine: str = "local"
    master: str | None = None
    span: Span = Span()
    project: str | None = None
    where: tuple[str, ...] = ()
    only_failed: bool = False
    limit: int | None = None
    shard: tuple[int, int] | None = None
    packs: tuple[str, ...] = ()
    lang: str = "en"
    redact: bool = True
    strict: bool = False  # also mask addresses and the names of projects and buckets
