"""Puts together what belongs to one job: log lines, events, pod descriptions, node and audit entries."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.entries.belonging import Belonging, tell_apart
from analyzer.entries.sift import Partial, Partials
from analyzer.entries.story import Story
from analyzer.entries.ties import ties_of
from analyzer.model import Entry, Note


def assemble(partials: Partials) -> tuple[list[Story], list[Note]]:
    """The stories of all jobs, ordered by key, and notes on what could be tied to none."""
    ties = {key: ties_of(key, partial.entries.values()) for key, partial in partials.items() if key is not None}
    jobs, notes = tell_apart(ties, partials.get(None, Partial()).in_order())
    doubled = sum(partial.doubled for key, partial in partials.items() if key is not None)
    stories = []
    for key, job in jobs.items():
        partial = _whole(job, partials)
        stories.append(Story(key, partial.in_order()))
        doubled += partial.doubled
    if doubled:
        notes.append(Note("duplicate", "entries with the same insertId and time were counted once", count=doubled))
    return stories, notes


def _whole(job: Belonging, partials: Partials) -> Partial:
    if len(job.keys) == 1 and not job.loose:
        return Partial(partials[job.keys[0]].entries)
    whole = Partial()
    for entry in _entries_of(job, partials):
        whole.add(entry)
    return whole


def _entries_of(job: Belonging, partials: Partials) -> Iterator[Entry]:
    for key in job.keys:
        yield from partials[key].entries.values()
    yield from job.loose
