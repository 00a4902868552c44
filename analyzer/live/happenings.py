"""What new entries of a running job tell that is worth a line: changes of state, restarts, failures."""

from __future__ import annotations

import io
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import BinaryIO, cast

import msgspec

from analyzer.formats import read_source
from analyzer.live.progress import printable
from analyzer.model import Entry, Instant, Origin
from analyzer.rulebook import Finding, Matcher, Role
from analyzer.rulebook.text import fill
from analyzer.sources import Source
from analyzer.stitch import stitch

STATES = frozenset((
    "job_queued", "attempt_begin", "job_running", "job_succeeded", "job_failed", "job_cancelled", "teardown",
    "job_restart", "restart", "worker_restart", "retries_exhausted", "numbered_attempt",
))  # fmt: skip
"""Events that are told in the words of the line itself."""
_ENDS = frozenset(("job_succeeded", "job_failed", "job_cancelled"))
_OFFICIAL = frozenset((Origin.SERVICE, Origin.CLUSTER))
_FAILURES = frozenset(("preempted", "evicted", "host_error", "maintenance", "out_of_memory_kill"))
_CARRIED = 60
"""Entries that are looked at again with the next ones, since a message may be cut between two answers."""
_REMEMBERED = 20_000
_SAME = 3
"""How often one rule about one replica is told: the diagnosis counts, this only keeps people informed."""
_LONGEST = 200
_WORDS = {
    "en": {"state": "state", "failure": "failure", "restarted": "started again", "started": "started"},
    "de": {"state": "Stand", "failure": "Fehler", "restarted": "erneut gestartet", "started": "gestartet"},
}


class Happening(msgspec.Struct, frozen=True):
    """One line for a person: when, where, of what kind, and what."""

    time: Instant | None
    replica: str | None
    kind: str
    text: str

    def line(self, lang: str) -> str:
        """The line; nothing in it that a terminal would obey."""
        clock = str(self.time)[11:19] if self.time is not None else "--:--:--"
        kind = _WORDS[lang].get(self.kind, self.kind)
        text = self.text if len(self.text) <= _LONGEST else self.text[: _LONGEST - 1] + "…"
        return printable(f"{clock}Z  {self.replica or '-':<16}  {kind}: {text}")


class Happenings:
    """Reads entries batch by batch. `end` is the finding that says the job is over, once there is one."""

    def __init__(self, rulebook: Matcher, lang: str) -> None:
        self._rulebook, self._lang = rulebook, lang
        self._carried: list[Entry] = []
        self._told: OrderedDict[tuple[object, ...], None] = OrderedDict()
        self._counts: dict[tuple[str, str | None], int] = {}
        self._markers: dict[str, set[str]] = {}
        self.end: Finding | None = None

    def of(self, lines: Sequence[bytes]) -> list[Happening]:
        """What these entries (lines of an export) tell that was not told before, in order of time."""
        content = b"\n".join(lines)
        source = Source("live", lambda: cast(BinaryIO, io.BytesIO(content)))
        fresh = list(read_source(source, []))
        entries = sorted((*self._carried, *fresh), key=lambda entry: entry.order)
        self._carried = entries[-_CARRIED:]
        found = []
        for message in stitch(entries):
            findings = self._rulebook.find(message)
            if not any(finding.role is Role.NOISE for finding in findings):
                found += [happening for finding in _most_telling(findings) for happening in self._tell(finding)]
        return sorted(found, key=lambda h: int(h.time or 0))

    def _tell(self, finding: Finding) -> Iterator[Happening]:
        event, first = finding.rule.event, finding.message.entries[0]
        failure = finding.role in (Role.ROOT, Role.VERDICT) or event in _FAILURES
        if not (failure or event in STATES or event == "container_start"):
            return
        if not self._is_new((finding.rule.id, finding.replica, first.insert_id, first.time, first.text)):
            return
        if event in _ENDS and finding.message.origin in _OFFICIAL and "trial" not in finding.values:
            self.end = finding
        if event == "container_start":
            yield from self._start(finding)
        elif event in STATES or self._is_rare(finding):
            in_own_words = finding.role is not Role.ROOT
            text = finding.message.text.strip().split("\n", 1)[0] if in_own_words else self._title(finding)
            yield Happening(finding.time, finding.replica, "state" if event in STATES else "failure", text)

    def _start(self, finding: Finding) -> Iterator[Happening]:
        """A start is a marker that comes again: each start prints several different ones."""
        replica = finding.replica or ""
        seen = self._markers.setdefault(replica, set())
        again = finding.rule.id in seen
        if again or not seen:
            words = _WORDS[self._lang]["restarted" if again else "started"]
            yield Happening(finding.time, finding.replica, "state", words)
            seen.clear()
        seen.add(finding.rule.id)

    def _is_rare(self, finding: Finding) -> bool:
        """Whether this rule about this replica was not told often enough already."""
        key = (finding.rule.id, finding.replica)
        if key not in self._counts and len(self._counts) >= _REMEMBERED:
            self._counts.clear()
        self._counts[key] = self._counts.get(key, 0) + 1
        return self._counts[key] <= _SAME

    def _title(self, finding: Finding) -> str:
        values = {"replica": finding.replica, **finding.values}
        return fill(finding.rule.title.of(self._lang), values)

    def _is_new(self, key: tuple[object, ...]) -> bool:
        if key in self._told:
            return False
        self._told[key] = None
        if len(self._told) > _REMEMBERED:
            self._told.popitem(last=False)
        return True


def _most_telling(findings: Sequence[Finding]) -> list[Finding]:
    """Of the causes that rules see in one message only the most exact one; everything else as it is."""
    roots = [finding for finding in findings if finding.role is Role.ROOT]
    best = max(roots, key=lambda finding: finding.rule.weight, default=None)
    return [finding for finding in findings if finding.role is not Role.ROOT or finding is best]
