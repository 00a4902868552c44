"""The real steps from entries to a timeline, for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from analyzer.entries import Options, Story, assemble, sift
from analyzer.model import Entry, Instant, JobKey, Message, Origin, Run, Timeline
from analyzer.rulebook import Finding, Matcher
from analyzer.rulebook.cache import load_rulebook
from analyzer.stitch import stitch
from analyzer.timeline import reconstruct

VERTEX = JobKey("vertex", "walnut", "77")
BEGIN = Instant.parse("2025-03-04T05:00:00Z") or Instant(0)


def evidence_of(entries: Iterable[Entry]) -> tuple[Story, list[Message], list[Finding]]:
    """What the timeline of the first job in some entries is built of."""
    story = assemble(sift(entries))[0][0]
    messages = stitch(story.entries)
    return story, messages, [finding for m in messages for finding in rulebook().find(m, story.key.platform)]


def timeline_of(entries: Iterable[Entry], lang: str = "en") -> Timeline:
    """The timeline of the first job in some entries."""
    return reconstruct(*evidence_of(entries), Options(lang=lang))


@cache
def rulebook() -> Matcher:
    """The bundled rules."""
    return load_rulebook()


def runs_of(timeline: Timeline, *, doomed: bool = False) -> dict[str, list[Run]]:
    """The runs of each replica over all attempts; with `doomed` also those that were started in vain."""
    found: dict[str, list[Run]] = {}
    for attempt in timeline.attempts:
        for lane in attempt.replicas:
            found.setdefault(lane.name, []).extend(run for run in lane.runs if doomed or not run.doomed)
    return found


def lines(*said: tuple[float, str, str], key: JobKey = VERTEX, nodes: Mapping[str, str] = {}) -> list[Entry]:
    """Entries out of (seconds, speaker, text); the speaker `service` is the service, others are replicas."""
    return [
        Entry(
            text=text, time=BEGIN.plus(seconds), job=key, replica=speaker, insert_id=f"{number:06d}", source="log",
            origin=Origin.SERVICE if speaker == "service" else Origin.REPLICA, line=number,
            node=nodes.get(speaker, f"vm-{speaker}") if speaker != "service" else None,
        )
        for number, (seconds, speaker, text) in enumerate(said, 1)
    ]  # fmt: skip


def told(key: JobKey, seconds: float | None, text: str, *, origin: Origin, number: int = 0, **facts: object) -> Entry:
    """A structured entry: an event, or a part of a description. `replica`, `node` and `attempt` are the entry's own."""
    own = {name: facts.pop(name) for name in ("replica", "node", "attempt") if name in facts}
    time = BEGIN.plus(seconds) if seconds is not None else None
    return Entry(
        text=text, time=time, job=key, origin=origin, fields=dict(facts), source="status", line=number,
        sequence=number, **own,  # type: ignore[arg-type]
    )  # fmt: skip
