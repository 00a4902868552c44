"""Which names are of one job: told by the ties of all parts, without their lines."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from analyzer.entries import Partial, Partials, Story, assemble
from analyzer.model import Entry, JobKey, Note
from analyzer.scanning.database import Database
from analyzer.scanning.parts import joined, key_of, name_of, pack, unpack

_NAMES = ("source", "node", "replica", "severity")
_NO_FIELDS: dict[str, Any] = {}


class Group(msgspec.Struct, frozen=True):
    """One job to diagnose: its key, the names that its parts are recorded under, further entries that name no job.

    `inputs` is a digest of all of it: equal inputs give an equal diagnosis.
    """

    key: JobKey
    names: list[str]
    loose: bytes
    inputs: str


def groups_of(database: Database, salt: str) -> tuple[list[Group], list[Note]]:
    """All jobs, in the order of their keys, and notes on entries that belong to none."""
    partials: Partials = {}
    states: dict[str, bytes] = {}
    names: dict[str, str] = {}
    for name, state, ties in database.ties():
        states[name] = hashlib.sha256(states.get(name, salt.encode()) + state.encode()).digest()
        key = key_of(name)
        if key is not None:
            partial = partials.setdefault(key, Partial())
            for entry in unpack(ties):
                partial.add(_sharing(entry, key, names))
    partials[None] = joined(database.parts(""))
    stories, notes = assemble(partials)
    return [_group(story, states) for story in stories], [note for note in notes if note.kind != "duplicate"]


def _sharing(entry: Entry, key: JobKey, names: dict[str, str]) -> Entry:
    """The entry with one copy of what it has in common with others: ties of all jobs are in memory at once."""
    shared = {name: names.setdefault(text, text) for name in _NAMES if (text := getattr(entry, name)) is not None}
    job = key if entry.job == key else entry.job
    return msgspec.structs.replace(entry, job=job, fields=entry.fields or _NO_FIELDS, **shared)


def _group(story: Story, states: Mapping[str, bytes]) -> Group:
    names = sorted({name_of(entry.job) for entry in story.entries if entry.job is not None})
    loose = pack([entry for entry in story.entries if entry.job is None])
    digest = hashlib.sha256(b"".join((loose, *(states[name] for name in names))))
    return Group(story.key, names, loose, digest.hexdigest())
