"""A good run to compare with: another job of the same input, or files of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from analyzer.entries import Options, Story, assemble, sift
from analyzer.errors import UsageError
from analyzer.formats import read_source
from analyzer.judge.novelty import shapes_of
from analyzer.model import Note
from analyzer.sources import open_sources
from analyzer.stitch import stitch


def with_baseline(options: Options, stories: Sequence[Story]) -> Options:
    """The options with the shapes of the good run's messages, where a baseline is named.

    Raises:
        UsageError: if the baseline is neither a job of the input nor a path.
    """
    if options.baseline is None:
        return options
    good = [story for story in stories if story.key.id == options.baseline] or _read(options.baseline)
    shapes = frozenset().union(*(shapes_of(stitch(story.entries)) for story in good))
    return msgspec.structs.replace(options, known_shapes=shapes)


def _read(path: str) -> list[Story]:
    if not Path(path).exists():
        raise UsageError(f"--baseline {path!r} is neither a job of the input nor a file", advice="name one of them")
    notes: list[Note] = []
    entries = (entry for source in open_sources([path], notes) for entry in read_source(source, notes))
    return assemble(sift(entries))[0]
