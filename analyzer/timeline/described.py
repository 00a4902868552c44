"""What descriptions tell: states of containers and tasks with their times and exit codes, and counts of restarts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from analyzer.entries import Story
from analyzer.expressions import expression
from analyzer.model import SECOND, Entry, Instant
from analyzer.timeline.attempts import Try, earlier_attempts
from analyzer.timeline.evidence import Evidence
from analyzer.timeline.lives import Life

_EPOCH = Instant.of(datetime(1971, 1, 1, tzinfo=UTC))
_SIDECAR = expression(
    r"^(?:istio-|linkerd|envoy|vault-agent|cloud-?sql|gke-gcsfuse|gke-metadata|fluent|otel|opentelemetry|datadog|dapr|ray-autoscaler)"
    r"|sidecar|-proxy$|-exporter$|^autoscaler$"
)
"""Containers that others put beside a program: meshes, mounts, agents."""
SAME_STATE = 5 * SECOND
"""A state's times and the lines of its container agree within this."""
_HELPER_STEPS = frozenset(("batch", "extern"))
"""Slurm's steps that are no tasks of the job."""


class Container(msgspec.Struct):
    """What descriptions say of one replica: the states of the container that counts, in order, and its restarts."""

    replica: str
    states: list[dict[str, Any]]
    restarts: int

    @property
    def alive(self) -> bool:
        """Whether it was still running, or about to be started again, when it was described."""
        return any(state.get("state") in ("running", "waiting") for state in self.states)

    @property
    def ran_once(self) -> bool:
        """Whether it has ended and was never started again: one state, and a count of restarts that says 0."""
        counts = [state.get("restart_count") for state in self.states]
        return len(counts) == 1 and counts[0] is not None and not (self.restarts or self.alive)


def containers(story: Story) -> dict[str, Container]:
    """The containers and tasks that descriptions tell of, one a replica: restarted most often, failed, or no helper.

    A pipeline's task is none where the custom job behind it speaks for itself.
    """
    seen: dict[str, dict[str, list[dict[str, Any]]]] = {}
    jobs = {entry.job.id for entry in story.entries if entry.job is not None}
    for entry in story.entries:
        fields = entry.fields
        if fields.get("backing_job") in jobs:
            continue
        if fields.get("kind") in ("container", "task", "pod") and not fields.get("event"):
            name = str(fields.get("pod") or entry.replica or fields.get("display_name") or "")
            if name and name not in _HELPER_STEPS:
                container = str(fields.get("container") or "")
                seen.setdefault(name, {}).setdefault(container, []).append(_state(entry))
    return {name: _main(name, by_container) for name, by_container in sorted(seen.items())}


def _state(entry: Entry) -> dict[str, Any]:
    return {**entry.fields, "node": entry.node, "attempt": entry.attempt}


def _main(replica: str, by_name: Mapping[str, list[dict[str, Any]]]) -> Container:
    def rank(name: str) -> tuple[int, bool, bool, str]:
        states = by_name[name]
        failed = any(state.get("exit_code") not in (None, 0) for state in states)
        own = not (_SIDECAR.search(name) or any(state.get("init") for state in states))
        return (max(int(state.get("restart_count") or 0) for state in states), failed, own, name)

    name = max(by_name, key=rank)
    states = sorted(by_name[name], key=lambda s: (not s.get("last_state"), str(s.get("started") or "")))
    own = [s for s in states if s["kind"] != "pod"]
    distinct = {(s.get("started"), s.get("finished"), s.get("exit_code"), s.get("last_state")): s for s in own}
    return Container(replica, list(distinct.values()), rank(name)[0])


def starts_of(container: Container) -> list[int]:
    """When the container's lives began, as far as its states say."""
    found = [moment for state in container.states if (moment := moment_of(state.get("started"))) is not None]
    return sorted(set(found))


def add_states(lives: list[Life], container: Container, *, one: bool = False) -> list[Life]:
    """A replica's lives with what its container's states say; a state that no line shows becomes a life of its own.

    `one`: there is but one life, whatever the times, since the log states none.
    """
    for state in container.states:
        begin, end = moment_of(state.get("started")), moment_of(state.get("finished"))
        known = begin if begin is not None else end
        if known is None:
            continue
        life = lives[0] if one and lives else _matching(lives, begin, end)
        if life is None:
            life = Life(container.replica, known, end if end is not None else known, 0, container.replica)
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
    life.told, life.described = state.get("reason") or life.told, True
    life.memory |= bool(state.get("oom_killed"))
    life.alive = state.get("state") == "running"
    life.node = life.node or state.get("node")
    life.label = life.label if life.label is not None else state.get("attempt")


def moment_of(text: object) -> int | None:
    """A time of a description; the epoch stands there for a container that never started."""
    moment = Instant.parse(text) if isinstance(text, str) else None
    return int(moment) if moment is not None and moment > _EPOCH else None


def add_to_last(tries: Sequence[Try], evidence: Evidence, story: Story) -> list[Try]:
    """The attempts with what descriptions of the job say: when it was created, when it first ran, how it ended.

    A description tells how things stand at last, so its words go to the last attempt, and only where no line of the
    log says the same. Where the input is nothing but a description, it gives the only attempt.
    """
    times = _job_times(story)
    attempts = list(tries)
    if not attempts:
        if not (times or evidence.described):
            return []
        attempts = [Try(1, min(times.values(), default=evidence.last_moment))]
    if attempts[0].running is None:
        attempts[0].running = times.get("started")
    last = attempts[-1]
    heard = {(signal.event, signal.replica) for signal in last.signals}
    moment = times.get("finished", evidence.last_moment)
    for signal in evidence.described:
        if (signal.event, signal.replica) not in heard:
            last.signals.append(msgspec.structs.replace(signal, moment=max(moment, last.begin)))
    return attempts


def _job_times(story: Story) -> dict[str, int]:
    """When the job was created, first ran and ended, by its description."""
    found: dict[str, int] = {}
    for fields in story.descriptions:
        for key in ("created", "started", "finished"):
            moment = moment_of(fields.get(key))
            if moment is not None and not fields.get("event"):
                found[key] = moment
    return found


def stated_retries(story: Story, evidence: Evidence) -> int:
    """How often a controller or scheduler says that it started the whole job again."""
    counts = [fields.get("restart_count") for fields in story.descriptions if fields.get("involved_kind") == "JobSet"]
    said = [earlier_attempts(signal.values) for signal in evidence.job if signal.event == "earlier_attempts"]
    return max((int(count) for count in (*counts, *said) if count is not None), default=0)
