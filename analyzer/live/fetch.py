"""Fetches all there is of a job: its description, its entries, and what its machines went through meanwhile."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Protocol

import msgspec

from analyzer.errors import NothingToDiagnose, RemoteError
from analyzer.live.cluster import Clusters
from analyzer.live.connection import Connection
from analyzer.live.descriptions import Described, Descriptions, known_regions
from analyzer.live.encoding import line_of
from analyzer.live.filters import MACHINES, Query, machines_filter
from analyzer.live.listing import Broken, Lister
from analyzer.live.observed import Observed, moment
from analyzer.live.pace import Clock
from analyzer.live.progress import Progress
from analyzer.live.spool import Spool
from analyzer.live.target import Service, Target
from analyzer.model import SECOND, Instant, Note

RETENTION = timedelta(days=30)
"""How long Cloud Logging keeps entries, unless a bucket is set to keep them longer."""
LONG_RETENTION = timedelta(days=400)
"""How far back a job is looked for that has neither a description nor newer entries."""
_BEFORE = 60 * SECOND
"""How long before its stated creation a job's first entries are looked for: the clocks of two services (ns)."""


class Reader(Protocol):
    """Sees what comes."""

    def new_ones(self, entries: Sequence[Any]) -> Sequence[Any]:
        """Which of a page's entries are new."""
        ...

    def written(self, lines: Sequence[bytes]) -> None:
        """These lines are in the file now."""
        ...


class Fetch:
    """One job's fetching: `read` gets what there is, `more` what came since, `finish` adds the description.

    `described` is the job's description, if any; `notes` are what a reader of the diagnosis should know.
    """

    def __init__(
        self, connection: Connection, target: Target, spool: Spool, *, clock: Clock, progress: Progress,
        chance: random.Random, reader: Reader | None = None,
    ) -> None:  # fmt: skip
        self._target, self._spool, self._clock, self._progress = target, spool, clock, progress
        self._reader = reader
        self._lister = Lister(connection.logging, target.project, clock, progress.waiting, chance)
        self._descriptions = Descriptions(connection, target, clock)
        self._clusters = Clusters(connection, target)
        self.observed = Observed()
        self.described: Described | None = None
        self.notes: list[Note] = []
        self.query = Query((target.id,), target.services)

    @property
    def requests(self) -> int:
        """List requests made so far."""
        return self._lister.requests

    @property
    def retries(self) -> int:
        """How many of them were asked again after a passing refusal."""
        return self._lister.retries

    @property
    def wanted(self) -> tuple[str, ...]:
        """Ids of the job to diagnose, the first that has a story counts."""
        return tuple(dict.fromkeys((*((self.described.subject,) if self.described else ()), self._target.id)))

    def read(self) -> None:
        """Everything up to now, newest first, so that an interruption costs the old and keeps the end.

        Raises:
            RemoteError: if the log may not be read at all.
            NothingToDiagnose: if there is neither an entry nor a description.
        """
        self.described = self._descriptions.look([self._target.region] if self._target.region else [])
        since = self.since()
        try:
            self._read(self._narrowed().text(since))
            if self.described is None and self._find_elsewhere():
                self._read_what_that_adds(since)
            elif not self._spool.lines and (self.described is None or self.described.created is None):
                self._read(self.query.text(self._ago(LONG_RETENTION), since))
            self._read_machines()
        except KeyboardInterrupt:
            if not self._spool.lines:
                raise
            self._note_cut("reading was interrupted", "interrupted")
        except Broken as broken:
            self._note_cut(f"reading broke off ({broken.error})", "truncated")
        except RemoteError as error:
            if not self._spool.lines:
                raise
            self.notes.append(Note("truncated", f"what belongs to the job beside its own log was not read ({error})"))
        self._check()

    def look_again(self) -> bool:
        """Asks how the job stands now; whether entries of further jobs belong to it since then."""
        if self.described is None:
            return False
        in_cluster = self.described.place.service is Service.GKE
        self.described = (self._clusters if in_cluster else self._descriptions).again(self.described)
        if self.described.ids == self.query.ids:
            return False
        self._narrowed()
        return True

    def more(self, since: Instant, *, thorough: bool = False) -> None:
        """What came since a moment, the newest first, until a page has nothing new (`thorough`: all pages)."""
        try:
            self._read(self.query.text(since), until_known=not thorough)
        except Broken as broken:
            raise broken.error from broken

    def since(self) -> Instant:
        """From when on entries are asked for: the job's creation, or as far back as they are kept."""
        created = self.described.created if self.described else None
        if created is not None:
            return Instant(created - _BEFORE)
        return self._ago(RETENTION)

    def _ago(self, span: timedelta) -> Instant:
        return Instant(int((self._clock.now() - span.total_seconds()) * SECOND))

    def finish(self) -> None:
        """Puts the description beside the entries, and notes what was in the way."""
        if self.described is not None:
            self._spool.write(_line(document) for document in self.described.documents)
            self.notes += self.described.notes
        else:
            self.notes += [*self._descriptions.notes(self.observed.services), *self._clusters.notes]

    def _narrowed(self) -> Query:
        """The query, of the service that the description names where there is one."""
        if self.described is not None:
            services = frozenset((self.described.place.service,))
            self.query = Query(self.described.ids, services, self.described.uids)
        return self.query

    def _read(self, text: str, *, until_known: bool = False) -> None:
        for page in self._lister.pages(text):
            if not self.keep(page) and until_known:
                return
            self._progress.read(self.observed.entries, self.requests, str(moment(page[-1])))

    def keep(self, entries: Sequence[Any]) -> int:
        """Puts entries into the file, those that are new; says how many these are."""
        fresh = entries if self._reader is None else self._reader.new_ones(entries)
        lines = [line_of(entry) for entry in fresh]
        self._spool.write(lines)
        self.observed.take(fresh)
        if self._reader is not None:
            self._reader.written(lines)
        return len(lines)

    def _find_elsewhere(self) -> bool:
        """Looks for the description where the log says that the job ran, in a cluster or a region, else everywhere."""
        observed = self.observed
        if observed.services == {Service.GKE}:
            self.described = self._clusters.look(observed.workloads)
            return self.described is not None
        regions = sorted(observed.regions - {self._target.region})
        if not regions and (not observed.entries or Service.AI_PLATFORM not in observed.services):
            regions = [region for region in known_regions() if region != self._target.region]
        self.described = self._descriptions.look(regions) if regions else None
        region = self.described.place.region if self.described else None
        if self._target.region is not None and region is not None:
            self.notes.append(Note("region", f"the job is in {region}, not in {self._target.region}"))
        return self.described is not None

    def _read_what_that_adds(self, since: Instant) -> None:
        """Entries that only the description leads to: of jobs that this one ran, and from before the usual keeping."""
        known = self.query
        found = self._narrowed()
        further = tuple(job for job in found.ids if job not in known.ids)
        begin = self.since()
        if further:
            self._read(msgspec.structs.replace(found, ids=further).text(begin))
        if begin < since or (found.uids and not self.observed.entries):
            self._read(found.text(begin, since if begin < since and self.observed.entries else None))

    def _read_machines(self) -> None:
        observed = self.observed
        if observed.nodes and observed.first is not None and observed.last is not None:
            nodes = sorted(observed.nodes)
            if len(nodes) > MACHINES:
                self.notes.append(Note("bounded", f"of {len(nodes)} machines the first {MACHINES} were asked about"))
            self._read(machines_filter(nodes, observed.first, observed.last))

    def _check(self) -> None:
        if self._spool.lines:
            return
        if self.described is not None:
            text = "Cloud Logging has no entry of this job"
            created = self.described.created
            if created is not None and created < self._ago(RETENTION):
                text += f": it was made at {created}, and entries are kept for {RETENTION.days} days unless a log "
                text += "bucket keeps them longer"
            self.notes.append(Note("no_log", text))
        else:
            raise self._nothing()

    def _nothing(self) -> NothingToDiagnose:
        where = f"project {self._target.project}"
        where += f", region {self._target.region}" if self._target.region else ""
        refused = "; ".join(note.text for note in self._descriptions.notes(self._target.services))
        return NothingToDiagnose(
            f"no log entry and no description of a job {self._target.id!r} is there"
            + (f" ({refused})" if refused else ""),
            where=where,
            advice="check the id, --project and --region; "
            f"entries are gone after {RETENTION.days} days unless the log bucket keeps them longer",
        )

    def _note_cut(self, what: str, kind: str) -> None:
        oldest = self.observed.first
        text = f"{what}: {self.observed.entries} entries were read, the newest first"
        self.notes.append(Note(kind, text + (f"; what is older than {oldest} is missing" if oldest else "")))


def _line(document: dict[str, Any]) -> bytes:
    """A description in one line, with a blank behind each colon: a reader finds `"state": "FAILED"` by a search."""
    return msgspec.json.format(msgspec.json.encode(document), indent=0)
