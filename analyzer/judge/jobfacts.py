"""What is known of the job itself: out of its description first, then out of its entries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from analyzer.entries import Story
from analyzer.model import Entry, Instant, Job, Timeline


def job_of(story: Story, timeline: Timeline, state: str | None) -> Job:
    """The job's facts. Where descriptions contradict each other the latest one wins."""
    described = list(story.descriptions)
    count = _latest(described, "accelerator_count")
    accelerator = _latest(described, "accelerator")
    return Job(
        id=story.key.id,
        platform=story.key.platform,
        project=story.key.project or _text(_latest(described, "project")),
        region=_text(_latest(described, "region")) or _region(story.entries),
        display_name=_text(_latest(described, "display_name")),
        state=state or _text(_latest(described, "state")),
        machine_type=_text(_latest(described, "machine_type")),
        accelerator=f"{count} × {accelerator}" if accelerator and count else _text(accelerator),
        replicas=replica_names(story, timeline),
        created=Instant.parse(_latest(described, "created")),
        started=Instant.parse(_latest(described, "started")) or _running_since(timeline),
        ended=Instant.parse(_latest(described, "finished")) or _end(timeline),
    )


def replica_names(story: Story, timeline: Timeline) -> list[str]:
    """All replicas that the description or the log names, in natural order."""
    names = {lane.name for attempt in timeline.attempts for lane in attempt.replicas}
    names |= {entry.replica for entry in story.entries if entry.replica and entry.replica != "service"}
    for fields in story.descriptions:
        names |= set(fields.get("replica_names") or ())
    return sorted(names, key=natural)


def natural(name: str) -> list[tuple[int, int, str]]:
    """A sort key by which worker-2 comes before worker-10."""
    parts: list[tuple[int, int, str]] = []
    digits = ""
    word = ""
    for char in name + "\0":
        if char.isdecimal() and char.isascii():
            digits += char
            if word:
                parts.append((1, 0, word))
                word = ""
        else:
            if digits:
                parts.append((0, int(digits[:18]), digits))
                digits = ""
            word += char
    parts.append((1, 0, word))
    return parts


def _latest(described: list[dict[str, Any]], key: str) -> Any:
    return next((fields[key] for fields in reversed(described) if fields.get(key) not in (None, "")), None)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _region(entries: Iterable[Entry]) -> str | None:
    zone = next((str(e.fields["zone"]) for e in entries if e.fields.get("zone")), None)
    return zone.rsplit("-", 1)[0] if zone and zone.count("-") >= 2 else None


def _running_since(timeline: Timeline) -> Instant | None:
    return next((attempt.running_since for attempt in timeline.attempts if attempt.running_since), None)


def _end(timeline: Timeline) -> Instant | None:
    return timeline.attempts[-1].end if timeline.attempts else None
