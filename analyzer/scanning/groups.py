"""Which names are of one job: told by the ties of all parts, without their entries."""

from __future__ import annotations

import hashlib
from itertools import groupby

import msgspec

from analyzer.entries.belonging import tell_apart
from analyzer.entries.ties import Ties, joined
from analyzer.model import JobKey, Note
from analyzer.scanning.database import Database
from analyzer.scanning.parts import joined as joined_parts
from analyzer.scanning.parts import key_of, name_of, pack, unpack_ties


class Group(msgspec.Struct, frozen=True, gc=False):
    """One job to diagnose: its key, the names that its parts are recorded under, further entries that name no job.

    `inputs` is a digest of all of it: equal inputs give an equal diagnosis.
    """

    key: JobKey
    names: list[str]
    loose: bytes
    inputs: str


def groups_of(database: Database, salt: str) -> tuple[list[Group], list[Note]]:
    """All jobs, in the order of their keys, and notes on entries that belong to none."""
    named: dict[JobKey, Ties] = {}
    states: dict[str, bytes] = {}
    shared: dict[str, str] = {}
    for name, parts in groupby(database.ties(), key=lambda part: part[0]):
        digest = hashlib.sha256(salt.encode())
        ties = []
        for _, state, packed in parts:
            digest.update(state.encode())
            ties.append(unpack_ties(packed))
        states[name] = digest.digest()
        key = key_of(name)
        if key is not None:
            named[key] = _sharing(joined(ties), shared)
    jobs, notes = tell_apart(named, joined_parts(database.parts("")).in_order())
    return [
        _group(key, [name_of(one) for one in job.keys], pack(job.loose), states) for key, job in jobs.items()
    ], notes


def _sharing(ties: Ties, shared: dict[str, str]) -> Ties:
    """The ties with one copy of each source's name: those of all jobs are in memory at once, and most share a few."""
    return msgspec.structs.replace(ties, sources=tuple(shared.setdefault(name, name) for name in ties.sources))


def _group(key: JobKey, names: list[str], loose: bytes, states: dict[str, bytes]) -> Group:
    digest = hashlib.sha256(b"".join((loose, *(states[name] for name in names))))
    return Group(key, names, loose, digest.hexdigest())
