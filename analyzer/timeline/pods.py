"""Pods: restarts that events count, pods that a node refused, and which pod came in place of which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from analyzer.entries import Story
from analyzer.expressions import expression
from analyzer.timeline.described import SAME_STATE
from analyzer.timeline.evidence import Evidence
from analyzer.timeline.lives import Life

_RANDOM = expression(r"-(?=[a-z0-9]{4,5}$)(?:[b-df-hj-np-tv-z0-9]+|[a-z0-9]*[0-9][a-z0-9]*)$")
"""The ending that a controller gives to a pod: four or five letters and digits, without vowels or with a digit."""
_REFUSED = ("UnexpectedAdmissionError", "OutOf")


def counted_starts(evidence: Evidence) -> dict[str, int]:
    """Restarts that events count themselves: an event that came several times carries its count."""
    found: dict[str, int] = {}
    for name, items in evidence.lanes.items():
        by_container: dict[str, list[int]] = {}
        for item in items:
            if any(s.event == "container_start" for s in item.signals) and item.entry.fields.get("count"):
                container = next(s.values.get("container", "") for s in item.signals if s.event == "container_start")
                by_container.setdefault(container, []).append(int(item.entry.fields["count"]))
        counts = [max(len(numbers), *numbers) for numbers in by_container.values()]
        if counts and max(counts) > 1:
            found[name] = max(counts) - 1
    return found


def add_rejected(story: Story, lanes: dict[str, list[Life]], evidence: Evidence) -> None:
    """Adds pods that a node refused to start: they never ran, but stand for a retry of their job."""
    for place, entry in enumerate(story.entries):
        fields = entry.fields
        pod = fields.get("pod")
        refused = str(fields.get("reason") or "").startswith(_REFUSED)
        if fields.get("kind") in ("event", "pod") and pod and refused and str(pod) not in lanes:
            moment = evidence.clock.moments[place]
            life = Life(str(pod), moment, moment, place, str(pod), unit=str(pod), node=entry.node, label=entry.attempt)
            life.told, life.end, life.end_stated = str(fields["reason"]), moment, True
            lanes[str(pod)] = [life]


def join_pods(lanes: Mapping[str, list[Life]], running: Iterable[str]) -> dict[str, list[Life]]:
    """Lanes of pods joined that came one in place of the other: of one name but for its random ending, and in turn.

    `running`: pods that a description says still run, so that none came in their place.
    """
    families: dict[str, list[str]] = {}
    for pod in lanes:
        stem = _RANDOM.sub("", pod)
        families.setdefault(stem, []).append(pod)
    alive = set(running)
    joined: dict[str, list[Life]] = {}
    for stem, pods in sorted(families.items()):
        for number, slot in enumerate(_slots([lanes[pod] for pod in pods], alive)):
            name = stem if number == 0 else f"{stem}#{number}"
            joined[name if len(pods) > 1 else pods[0]] = slot
    for name, lives in joined.items():
        for life in lives:
            life.lane = name
            life.unit = life.replica
    return joined


def _slots(pods: list[list[Life]], alive: set[str]) -> list[list[Life]]:
    slots: list[list[Life]] = []
    for lives in sorted(pods, key=lambda lives: (lives[0].begin, lives[0].replica)):
        for slot in slots:
            if slot[-1].replica not in alive and slot[-1].finish <= lives[0].begin + SAME_STATE:
                slot.extend(lives)
                break
        else:
            slots.append(list(lives))
    return slots
