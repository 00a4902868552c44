"""Follows a job while it runs, tells what happens, and diagnoses it when it ends.

Entries go to a file as they come; in memory stay only what was seen last, so that a watch may last for days.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from analyzer.entries import Options
from analyzer.live.connection import Connection, connect
from analyzer.live.endpoints import endpoints
from analyzer.live.fetch import Fetch
from analyzer.live.happenings import Happening, Happenings
from analyzer.live.listing import passes
from analyzer.live.observed import moment
from analyzer.live.pace import Backoff, Clock, SystemClock
from analyzer.live.progress import Progress
from analyzer.live.refusals import logging_error
from analyzer.live.run import report_of, source_name
from analyzer.live.spool import Spool, spooled
from analyzer.live.tail import Tail, TailEnded
from analyzer.live.target import Target
from analyzer.model import SECOND, Instant, Note, Report
from analyzer.rulebook import Matcher

_REMEMBERED = 50_000
_PAST = 5_000
"""Entries of the past whose happenings are told at the start."""
_FATAL = ("UNAUTHENTICATED", "NOT_FOUND")
_REOPENED = 5
_LASTING = 300.0
"""A tail that lasted so many seconds had nothing wrong with it: the service ends each after a while."""


class Rhythm(msgspec.Struct, frozen=True):
    """Seconds between and around things.

    `describe`: between two looks at the description. `poll`: between two listings where no tail is granted. `look`: how
    long to wait for the tail before a look at the clock. `settle`: until a new tail is sure to be running. `overlap`:
    how far a listing goes back behind what was seen, for entries that come out of order; `late`: the same at the end.
    `grace`: what late entries have to arrive after the end.
    """

    describe: float = 60.0
    poll: float = 10.0
    look: float = 1.0
    settle: float = 5.0
    overlap: float = 10.0
    late: float = 60.0
    grace: float = 15.0


def watch(
    target: Target,
    rulebook: Matcher,
    options: Options,
    progress: Progress,
    tell: Callable[[str], None],
    *,
    save: Path | None = None,
    rhythm: Rhythm | None = None,
    clock: Clock | None = None,
    chance: random.Random | None = None,
) -> Report:
    """Follows a job to its end and diagnoses it. `tell` gets each line that is worth a person's while.

    An interruption diagnoses what has come so far.

    Raises:
        RemoteError: if a service refuses or fails for good.
        NothingToDiagnose: if there is no such job.
    """
    with closing(connect(endpoints())) as connection, spooled(save, source_name(target)) as spool:
        watcher = _Watch(
            connection, target, spool, rulebook, options.lang, progress, tell,
            rhythm or Rhythm(), clock or SystemClock(), chance or random.Random(),
        )  # fmt: skip
        watcher.run()
        return report_of(spool, watcher.fetch.wanted, rulebook, options, watcher.fetch.notes)


class _Watch:
    def __init__(
        self, connection: Connection, target: Target, spool: Spool, rulebook: Matcher, lang: str, progress: Progress,
        tell: Callable[[str], None], rhythm: Rhythm, clock: Clock, chance: random.Random,
    ) -> None:  # fmt: skip
        self._connection, self._target, self._spool = connection, target, spool
        self._happenings, self._lang = Happenings(rulebook, lang), lang
        self._progress, self._tell = progress, tell
        self._rhythm, self._clock = rhythm, clock
        self._seen: OrderedDict[tuple[int, str, int], None] = OrderedDict()
        self._past: list[bytes] | None = []
        self._state = ""
        self._position = Instant(0)
        self._lossy_since: Instant | None = None
        self._tail: Tail | None = None
        self._backoff = Backoff(1.0, 60.0, _REOPENED, chance)
        self._opened = 0.0
        self._recheck: tuple[float, Instant] | None = None
        self._polls = False
        self.fetch = Fetch(connection, target, spool, clock=clock, progress=progress, chance=chance, reader=self)

    def run(self) -> None:
        """From the first entry to the last."""
        with self._progress.shown():
            self.fetch.read()
        past, self._past = self._past, None
        interrupted = any(note.kind == "interrupted" for note in self.fetch.notes)
        self.written(past or ())
        self._state = self.fetch.described.state if self.fetch.described else ""
        if self._state:
            self._tell_state()
        try:
            if not interrupted and not self._is_over():
                self._follow()
        except KeyboardInterrupt:
            self.fetch.notes.append(Note("interrupted", "watching was interrupted; the job may still run"))
        finally:
            if self._tail is not None:
                self._tail.close()
        self.fetch.finish()

    def _follow(self) -> None:
        self._open()
        next_look = self._clock.elapsed() + self._rhythm.describe
        ends_at: float | None = None
        while ends_at is None or self._clock.elapsed() < ends_at:
            self.fetch.keep(self._next())
            said = self._happenings.end is not None
            if ends_at is None and (said or self._clock.elapsed() >= next_look):
                self._look()
                if self._is_over():
                    ends_at = self._clock.elapsed() + self._rhythm.grace
                self._happenings.end = None
                # The description follows the log's last word within a minute or so.
                next_look = self._clock.elapsed() + (self._rhythm.poll if said else self._rhythm.describe)
        lossy = self._lossy_since is not None
        self.fetch.more(self._lossy_since or self._back(self._rhythm.late), thorough=lossy)
        self._look()

    # -- entries

    def _open(self) -> None:
        """A tail from now on, and what came while it was being opened."""
        if not self._polls:
            query = self.fetch.query.text(self.fetch.since())
            self._tail = Tail(self._connection.logging, self._target.project, query)
            self._opened = self._clock.elapsed()
            self._recheck = (self._opened + self._rhythm.settle, self._back(self._rhythm.overlap))
        self.fetch.more(self._back(self._rhythm.overlap))

    def _next(self) -> Sequence[Any]:
        if self._tail is None:
            self._clock.sleep(self._rhythm.poll)
            self.fetch.more(self._back(self._rhythm.overlap))
            return ()
        if self._recheck is not None and self._clock.elapsed() >= self._recheck[0]:
            since, self._recheck = self._recheck[1], None
            self.fetch.more(since)
        try:
            entries = self._tail.next(self._rhythm.look)
        except TailEnded as ended:
            self._reopen(ended)
            return ()
        if entries:
            self._backoff.reset()
        if self._tail.suppressed and self._lossy_since is None:
            self._lossy_since = self._back(self._rhythm.late)  # listed at the end, when there is time for it
        return entries

    def _reopen(self, ended: TailEnded) -> None:
        refusal = ended.refusal
        if refusal is not None and (refusal.expired or refusal.lacks_quota_project or refusal.status in _FATAL):
            raise logging_error(refusal, self._target.project)
        if self._tail is not None:
            self._tail.close()
            self._tail = None
        if self._clock.elapsed() - self._opened > _LASTING:
            self._backoff.reset()
        passing = refusal is None or (passes(refusal) and refusal.status != "RESOURCE_EXHAUSTED")
        wait = self._backoff.next_wait() if passing else None
        if wait is None:
            self._polls = True
            why = f" ({refusal.status}: {refusal.short})" if refusal else ""
            self._tell(f"the log cannot be tailed{why}; it is asked every {self._rhythm.poll:.0f} s instead")
            return
        self._progress.waiting(wait, "the tail ended and is opened again")
        self._clock.sleep(wait)
        self._open()

    def _back(self, seconds: float) -> Instant:
        """The place in the log, so many seconds back; the log's beginning where nothing came yet."""
        return self._position.plus(-seconds) if self._position else self.fetch.since()

    def new_ones(self, entries: Sequence[Any]) -> Sequence[Any]:
        """Those that were not seen lately; the place in the log moves on with them."""
        fresh = []
        now = int(self._clock.now() * SECOND)
        for entry in entries:
            time = moment(entry)
            key = (int(time), entry.insert_id, entry.split.index)
            if key in self._seen:
                continue
            fresh.append(entry)
            if self._past is None or len(self._seen) < _REMEMBERED:  # the past comes newest first: keep that
                self._seen[key] = None
            self._position = max(self._position, Instant(min(time, now)))  # stamps may lie a day in the future
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return fresh

    def written(self, lines: Sequence[bytes]) -> None:
        """Tells of entries, those of the past all at once when its newest have come."""
        if self._past is not None:
            self._past += lines[: _PAST - len(self._past)]
            return
        for happening in self._happenings.of(lines) if lines else ():
            self._tell(happening.line(self._lang))

    # -- what is told

    def _look(self) -> None:
        """How the job stands by its description; jobs that it has begun to run are followed too."""
        if self.fetch.look_again():
            if self._tail is not None:
                self._tail.close()
                self._tail = None
            self.fetch.more(self.fetch.since(), thorough=True)
            self._open()
        described = self.fetch.described
        if described is not None and described.state != self._state:
            self._state = described.state
            self._tell_state()

    def _tell_state(self) -> None:
        self._tell(Happening(Instant(int(self._clock.now() * SECOND)), None, "state", self._state).line(self._lang))

    def _is_over(self) -> bool:
        """By the description where there is one, else by the service's or controller's last word in the log."""
        if self.fetch.described is not None and self._state:
            return self.fetch.described.is_over
        return self._happenings.end is not None
