"""What the log says to the timeline, sorted out: signals of single replicas, words about the whole job, output."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from analyzer.entries import Story
from analyzer.model import Entry, Message, Origin
from analyzer.model.numbers import number
from analyzer.rulebook import Finding, Role
from analyzer.rulebook.hearsay import OF_A_REPLICA
from analyzer.timeline.clock import Clock
from analyzer.timeline.names import Names, cluster_of

OF_A_MACHINE = frozenset(("preempted", "maintenance", "host_error", "evicted", "out_of_memory_kill"))
"""Events that are about a machine, and through it about what ran there."""
_OF_PEERS = frozenset(("network", "timeout"))
"""Categories whose messages are in a job of several replicas mostly complaints about one that is gone."""
DESCRIBED = frozenset(("container", "pod", "task", "job", "trial", "node"))
"""Kinds of structured entries that are read field by field, so that a rule about them adds nothing here."""


class Signal(msgspec.Struct, frozen=True, gc=False):
    """A line that says something to the timeline: the event of the rule that matched it, with the values it read."""

    event: str
    moment: int
    place: int
    replica: str | None
    values: dict[str, str]
    finding: Finding

    @property
    def number(self) -> int | None:
        """The exit code it states, as the service counts it: the signal's number where a launcher printed -n."""
        code = number_in(self.values, "exit_code")
        return None if code is None else abs(code)


def number_in(values: Mapping[str, str], name: str) -> int | None:
    """A whole number among the values of a rule; None where there is none, or one longer than any that is meant."""
    return number(values.get(name))


def trial_of(finding: Finding) -> int | None:
    """The trial of a hyperparameter tuning job that a finding is about: the one that it names, or that says it."""
    said = finding.message.first.fields.get("trial")
    return said if isinstance(said, int) else number_in(finding.values, "trial")


class Item(msgspec.Struct, gc=False):
    """A line of a replica's lane, or a line about its container, with what it says."""

    entry: Entry
    moment: int
    place: int
    signals: tuple[Signal, ...] = ()
    failure: bool = False  # a traceback or crash text begins here
    crash: bool = False  # it is the text of a crash by signal
    goes_on: bool = False  # it is a further line of such a text
    role: str | None = None  # root: it has a cause of its own; cascade: it complains of a peer
    waited: bool = False  # it complains that it waited in vain
    memory: bool = False  # a rule says that memory ran out here
    finding: Finding | None = None  # the most telling root finding
    output: bool = True  # printed by the container itself


class Evidence(msgspec.Struct):
    """Everything that the reconstruction builds on.

    `lanes` by the replica's name, "" where no replica is known; `job` are words about the job in order of time,
    `described` those of a description, which tells how things stand and not when; `machines` those about machines.
    """

    clock: Clock
    lanes: dict[str, list[Item]]
    job: list[Signal]
    described: list[Signal]
    machines: list[Signal]
    names: Names
    last_moment: int
    failed_trials: frozenset[int] = frozenset()  # of a tuning job, by its description


def gather(story: Story, messages: Sequence[Message], findings: Iterable[Finding]) -> Evidence:
    """Sorts a story's lines and findings by whom they are about."""
    clock = Clock(story.entries)
    places = {id(entry): place for place, entry in enumerate(story.entries)}
    names = Names((entry.replica for entry in story.entries if is_output(entry)), _declared(story))
    marks: dict[int, _Marks] = {}
    _mark_failures(messages, places, marks)
    job, described, machines = [], [], []
    for signal in _signals(findings, places, clock, names, marks):
        if signal.event in OF_A_REPLICA:
            marks.setdefault(signal.place, _Marks()).signals.append(signal)
        elif _is_description(signal.finding.message.first):
            described.append(signal)
        elif signal.event in OF_A_MACHINE:
            machines.append(signal)
        else:
            job.append(signal)
    said = {signal.place for signal in (*job, *described, *machines)}
    lanes = _lanes(story, clock, marks, said)
    last = clock.moments[-1] if clock.moments else 0
    lost = frozenset(_failed_trials(story))
    return Evidence(clock, lanes, _in_order(job), _in_order(described), _in_order(machines), names, last, lost)


def _failed_trials(story: Story) -> Iterator[int]:
    for entry in story.entries:
        trial = entry.fields.get("trial")
        ended_badly = str(entry.fields.get("state") or "").upper() in ("FAILED", "INFEASIBLE")
        if entry.fields.get("kind") == "trial" and ended_badly and isinstance(trial, int):
            yield trial


def _declared(story: Story) -> set[str]:
    """The replicas that the job's description and its cluster specification name."""
    named = {str(name) for fields in story.descriptions for name in fields.get("replica_names") or ()}
    for text in {entry.text for entry in story.entries if "--cluster=" in entry.text}:
        named |= cluster_of(text)
    return named


def is_output(entry: Entry) -> bool:
    """Whether a container printed the line."""
    return entry.origin in (Origin.REPLICA, Origin.TEXT) and entry.replica != "service" and not entry.fields.get("kind")


class _Marks(msgspec.Struct):
    signals: list[Signal] = []
    failure: bool = False
    crash: bool = False
    goes_on: bool = False
    memory: bool = False
    waited: bool = False
    finding: Finding | None = None
    noise: int = -1  # weights of the rules that call the line noise, a complaint about a peer, a cause of its own
    complaint: int = -1
    cause: int = -1

    @property
    def role(self) -> str | None:
        """What the line is in the story of a failure; noise wins a tie, and so does a complaint over a cause."""
        if max(self.complaint, self.cause) <= self.noise:
            return None
        return "root" if self.cause > self.complaint else "cascade"


def _mark_failures(messages: Sequence[Message], places: dict[int, int], marks: dict[int, _Marks]) -> None:
    for message in messages:
        if message.kind in ("traceback", "crash") or message.exceptions:
            place = places.get(id(message.first))
            if place is not None:
                mark = marks.setdefault(place, _Marks())
                mark.failure, mark.crash = True, message.kind == "crash"
            for entry in message.entries[1:]:
                further = places.get(id(entry))
                if further is not None:
                    marks.setdefault(further, _Marks()).goes_on = True


def _signals(
    findings: Iterable[Finding], places: dict[int, int], clock: Clock, names: Names, marks: dict[int, _Marks]
) -> list[Signal]:
    """The signals of findings, each event of a message once; other findings leave their role on the line."""
    found: dict[tuple[int, str, str | None, str], Signal] = {}
    for finding in findings:
        first = finding.message.first
        place = places.get(id(first))
        if place is None:
            place = _nearest(clock, first)
        event = finding.event
        if finding.role in (Role.ROOT, Role.CASCADE, Role.NOISE) and not finding.hearsay:
            _mark_role(marks.setdefault(place, _Marks()), finding)
        if event is None or (event in OF_A_REPLICA and _is_description(first)):
            continue
        replica = names.resolve(finding.replica)
        key = (id(finding.message), event, replica, finding.values.get("container", ""))
        known = found.get(key)
        if known is None or known.finding.rule.weight < finding.rule.weight:
            values = {**(known.values if known else {}), **finding.values}
            found[key] = Signal(event, clock.moments[place], place, replica, values, finding)
    return list(found.values())


def _is_description(entry: Entry) -> bool:
    return entry.fields.get("kind") in DESCRIBED and not entry.fields.get("event")


def _mark_role(mark: _Marks, finding: Finding) -> None:
    rule = finding.rule
    if finding.role is Role.NOISE:
        mark.noise = max(mark.noise, rule.weight)
        return
    complaint = finding.role is Role.CASCADE or rule.category in _OF_PEERS
    if complaint:
        mark.complaint = max(mark.complaint, rule.weight)
        mark.waited |= rule.category == "timeout"
    else:
        mark.cause = max(mark.cause, rule.weight)
        mark.memory |= rule.category == "out_of_memory"
    if finding.role is Role.ROOT and (mark.finding is None or mark.finding.rule.weight < rule.weight):
        mark.finding = finding


def _nearest(clock: Clock, entry: Entry) -> int:
    """The place of an entry that the story holds only in another form (joined out of parts)."""
    return min(bisect_left(clock.moments, int(entry.time or 0)), max(len(clock.moments) - 1, 0))


def _lanes(story: Story, clock: Clock, marks: dict[int, _Marks], said: set[int]) -> dict[str, list[Item]]:
    lanes: dict[str, list[Item]] = {}
    nothing = _Marks()
    for place, entry in enumerate(story.entries):
        mark = marks.get(place, nothing)
        output = is_output(entry)
        if not (output or mark.signals) or (place in said and entry.replica is None and not mark.signals):
            continue
        item = Item(entry, clock.moments[place], place, tuple(mark.signals), mark.failure, mark.crash, output=output)
        item.goes_on = mark.goes_on
        if mark.role is not None:
            item.role, item.memory, item.finding = mark.role, mark.memory, mark.finding
            item.waited = mark.waited and mark.role == "cascade"
        named = mark.signals[0].replica if mark.signals and not output else entry.replica
        lanes.setdefault(lane_name(named, entry), []).append(item)
    # Beside named replicas, or the service's own entries, text without a speaker is some client's unless it tells more.
    others = len(lanes) > 1 or any(entry.origin is Origin.SERVICE for entry in story.entries)
    if "" in lanes and others and not any(item.signals or item.failure for item in lanes[""]):
        del lanes[""]
    return {name: lanes[name] for name in sorted(lanes) if _tells_of_a_container(lanes[name])}


def _tells_of_a_container(items: Sequence[Item]) -> bool:
    """Whether a lane has output, or words on starts and ends; other words alone make no container."""
    ends = ("container_start", "container_exit", "container_succeeded")
    return any(item.output or any(signal.event in ends for signal in item.signals) for item in items)


def lane_name(replica: str | None, entry: Entry) -> str:
    """The lane of a replica; trials of a hyperparameter tuning job run side by side, each with its own replicas."""
    trial = entry.fields.get("trial")
    return (replica or "") if trial is None else f"{replica or ''}@{trial}"


def _in_order(signals: list[Signal]) -> list[Signal]:
    return sorted(
        signals, key=lambda signal: (signal.moment, signal.place, signal.replica or "", signal.finding.rule.id)
    )
