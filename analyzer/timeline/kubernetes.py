"""What pods tell: states of their containers, counts of restarts, and which pod came in place of which."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from analyzer.entries import Story
from analyzer.model import SECOND, Entry, Instant
from analyzer.timeline.evidence import Evidence
from analyzer.timeline.lives import Life

_RANDOM = re.compile(r"-(?=[a-z0-9]{4,5}$)(?:[b-df-hj-np-tv-z0-9]+|[a-z0-9]*[0-9][a-z0-9]*)$")
"""The ending that a controller gives to a pod: four or five letters and digits, without vowels or with a digit."""
_EPOCH = Instant.of(datetime(1971, 1, 1, tzinfo=UTC))
SAME_STATE = 5 * SECOND


class Container(msgspec.Struct):
    """What the descriptions say of the container of a pod that counts: its states in order, and its restarts."""

    pod: str
    states: list[dict[str, Any]]
    restarts: int


def containers(story: Story) -> dict[str, Container]:
    """The containers that the descriptions of a job's pods tell of, one a pod: the one that was restarted most often."""
    seen: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for entry in story.entries:
        fields = entry.fields
        if fields.get("kind") == "container":
            pod = str(fields.get("pod") or entry.replica or "")
            seen.setdefault(pod, {}).setdefault(str(fields.get("container") or ""), []).append(_state(entry))
    return {pod: _main(pod, by_name) for pod, by_name in sorted(seen.items())}


def _state(entry: Entry) -> dict[str, Any]:
    return {**entry.fields, "node": entry.node, "attempt": entry.attempt}


def _main(pod: str, by_name: Mapping[str, list[dict[str, Any]]]) -> Container:
    def rank(name: str) -> tuple[int, bool, str]:
        states = by_name[name]
        failed = any(state.get("exit_code") not in (None, 0) for state in states)
        return (max(int(state.get("restart_count") or 0) for state in states), failed, name)

    name = max(by_name, key=rank)
    states = sorted(by_name[name], key=lambda s: (not s.get("last_state"), str(s.get("started") or "")))
    distinct = {(s.get("started"), s.get("finished"), s.get("exit_code"), s.get("last_state")): s for s in states}
    return Container(pod, list(distinct.values()), rank(name)[0])


def starts_of(container: Container) -> list[int]:
    """When the container's lives began, as far as its states say."""
    found = [moment for state in container.states if (moment := _moment(state.get("started"))) is not None]
    return sorted(set(found))


def add_states(lives: list[Life], container: Container) -> list[Life]:
    """A pod's lives with what the states of its container say; states that no line shows become lives of their own."""
    for state in container.states:
        begin, end = _moment(state.get("started")), _moment(state.get("finished"))
        if begin is None and end is None:
            continue
        life = _matching(lives, begin, end)
        if life is None:
            moment = begin if begin is not None else end
            assert moment is not None
            life = Life(container.pod, moment, end if end is not None else moment, 0, container.pod)
            lives.append(life)
        _fill(life, state, begin, end)
    lives.sort(key=lambda life: (life.begin, life.place))
    return lives


def _matching(lives: Iterable[Life], begin: int | None, end: int | None) -> Life | None:
    for life in lives:
        if life.end_stated and end is not None and life.end is not None and abs(life.end - end) > SAME_STATE:
            continue
        starts_before = end is None or life.first <= end + SAME_STATE
        ends_after = begin is None or life.last >= begin - SAME_STATE
        if starts_before and ends_after and not (life.end_stated and end is None):
            return life
    return None


def _fill(life: Life, state: Mapping[str, Any], begin: int | None, end: int | None) -> None:
    if begin is not None:
        life.start, life.start_stated = begin, True
        life.first = min(life.first, begin)
    if end is not None:
        life.end, life.end_stated = end, True
        life.last = max(life.last, end)
    if state.get("exit_code") is not None:
        life.exit_code, life.code_stated = int(state["exit_code"]), True
    life.told = state.get("reason") or life.told
    life.node = life.node or state.get("node")
    life.label = life.label if life.label is not None else state.get("attempt")


def _moment(text: object) -> int | None:
    """A time of a description; the epoch stands there for a container that never started."""
    moment = Instant.parse(text) if isinstance(text, str) else None
    return int(moment) if moment is not None and moment > _EPOCH else None


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
        refused = fields.get("reason") == "UnexpectedAdmissionError" or str(fields.get("reason") or "").startswith("OutOf")
        if fields.get("kind") in ("event", "pod") and pod and refused and str(pod) not in lanes:
            moment = evidence.clock.moments[place]
            life = Life(str(pod), moment, moment, place, str(pod), unit=str(pod), node=entry.node, label=entry.attempt)
            life.told, life.end, life.end_stated = str(fields["reason"]), moment, True
            lanes[str(pod)] = [life]


def join_pods(lanes: Mapping[str, list[Life]], running: Iterable[str]) -> dict[str, list[Life]]:
    """Lanes of pods that came one in place of the other, joined: the same name but for its random ending, one after another.

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
