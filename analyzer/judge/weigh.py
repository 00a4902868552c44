"""Points for and against each candidate. Every point carries its reason, and the reasons are shown to the reader."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TypeVar

import msgspec

from analyzer.judge.candidates import Candidate, exit_code_of
from analyzer.judge.course import CLOCK_SLACK, OWN_WORDS, Course
from analyzer.model import Instant, Origin
from analyzer.rulebook import Finding, Role
from analyzer.rulebook.conditions import names
from analyzer.rulebook.patterns import compile_pattern

VERDICT_LAG = 300.0
"""Seconds by which a service's own conclusion may follow what it explains (about one minute is documented)."""

PEER_TROUBLE = frozenset(("network", "timeout"))
"""Categories that a healthy replica shows when another one is gone."""

PEER_LAG = 60.0
"""Seconds by which a peer's end may be logged after its connections break: the runner and the service report late."""

STOPPED = frozenset(("timeout", "cancelled"))
"""Categories that say what ended a job which may have hung before."""

NOT_ITS_OWN = PEER_TROUBLE | {"preemption", "cancelled", "hardware"}
"""Categories that do not say that the program or its machine failed by itself."""

PROGRAM = frozenset((Origin.REPLICA, Origin.TEXT))

MACHINES = frozenset((Origin.NODE, Origin.AUDIT))
"""Speakers outside the job, whose lines stand in its log only by their time."""

SURVIVED = 100
"""Points that a failure loses which the program provably survived: more than any rule's weight can make up for."""

CRASHES = "user_exception.crash."
"""Rules on crashes of the interpreter: after the work they come from libraries that are being unloaded."""

SURELY_ON = 3
"""Signs of progress from which on it is sure: one or two lines may have been under way when the program died."""

PEER_WAIT = 3600.0
"""Seconds that a replica may wait for a dead peer before it says so (collective timeouts are 10 to 60 minutes)."""

STOP_LAG = 60.0
"""Seconds from a notice that a machine goes to the end of what runs on it (30 are documented for Spot VMs)."""

STILL_THERE = 300.0
"""Seconds after the stop of a machine or container from which on what its program says shows that it ran on."""

_Key = TypeVar("_Key")

HEARSAY = 40
"""Points that a container loses for words on what others would know: it is believed if nothing else stands."""

OOM_EXITS = frozenset((9, 137, 247, -9))
CRASH_EXITS = frozenset((4, 6, 7, 8, 11, 132, 134, 135, 136, 139, -4, -6, -7, -8, -11, 245, 250))


CHORES = frozenset(("image", "permission", "storage"))
"""Categories of what goes wrong while a script clears up after its program: an upload, a missing tool."""

SCRIPT_EXIT = "verdict.script_exit"
"""The rule on what a script says of how its program ended."""


def weigh(candidates: Sequence[Candidate], findings: Sequence[Finding], course: Course) -> None:
    """Gives every candidate its points; marks those that another explains."""
    verdicts = _verdicts(findings)
    _bear_out(candidates, findings, course)
    for candidate in candidates:
        weight = candidate.finding.rule.weight
        candidate.give(weight, _how_specific(weight), rule=candidate.finding.rule.id)
        _survival(candidate, course)
        _agreement(candidate, verdicts)
        _speaker(candidate)
    _taken_then_failed(candidates, course)
    _got_what_lacked(candidates, findings)
    _stood_still(candidates, course)
    _outlived(candidates, course)
    _cleared_up(candidates, findings)
    own_deaths = _own_deaths(findings, course) if course.has_peers else []
    for candidate in candidates:
        _after_a_peer_died(candidate, own_deaths)
    _explain(candidates)
    _first_of_all([c for c in candidates if c.explained_by is None], course)


def _how_specific(weight: int) -> str:
    word = "exact" if weight >= 80 else "specific" if weight >= 50 else "general" if weight >= 25 else "generic"
    return f"rule_is_{word}"


def _bear_out(candidates: Sequence[Candidate], findings: Sequence[Finding], course: Course) -> None:
    """A container's word that its machine goes is believed where its runner was told to end before anything failed."""
    stops: dict[str | None, list[Instant]] = {}
    for finding in findings:
        if finding.role is Role.TEARDOWN and finding.event == "stopped" and finding.time is not None:
            stops.setdefault(finding.replica, []).append(finding.time)
    notices = [c for c in candidates if c.finding.hearsay and c.finding.rule.category == "preemption"]
    if not stops or not notices:
        return
    own = [c for c in candidates if c.finding.role is Role.ROOT and not c.finding.hearsay]
    failed = [c.time for c in own if c.time is not None and not course.job_went_on_after(c.finding.message)]
    first = min((*failed, *(end for end, _, _ in course.deaths())), default=None)
    for times in stops.values():
        times.sort()
    for candidate in notices:
        time = candidate.time
        if time is None or (first is not None and first < time):
            continue
        if _any_within(stops.get(candidate.replica, ()), time.plus(-CLOCK_SLACK), time.plus(STOP_LAG)):
            candidate.finding = msgspec.structs.replace(candidate.finding, hearsay=False)
            candidate.give(12, "runner_was_stopped")


def _survival(candidate: Candidate, course: Course) -> None:
    message = candidate.finding.completed or candidate.finding.message
    if candidate.finding.role is Role.VERDICT:
        if not course.in_last_life(None, candidate.time):
            candidate.give(-30, "earlier_attempt")
        return
    went_on = course.went_on_after(message)
    if message.origin in MACHINES and not message.first.time_stated:
        went_on = 0  # a machine's undated line says nothing of what came after it
    elif course.ended_well_after(message):
        # What others say weighs more than a container's word that all went well.
        doubtful = message.origin not in OWN_WORDS and course.containers_alone_end_well
        candidate.give(-45 if doubtful else -SURVIVED, "reached_its_end")
        went_on = 0
    if went_on:
        candidate.give(-SURVIVED if went_on >= SURELY_ON else -45, "went_on")
    elif course.output_went_on_after(message):
        candidate.give(-SURVIVED, "output_went_on")
    elif candidate.finding.rule.id.startswith(CRASHES) and course.results_stored_around(message):
        candidate.give(-SURVIVED, "results_stored")
    elif course.job_went_on_after(message) >= 3:
        candidate.give(-15, "job_went_on")
    if not course.in_last_life(candidate.replica, candidate.time, candidate.trial):
        candidate.give(-30, "earlier_run")
    if candidate.others:
        candidate.give(min(6, 2 * len(candidate.others)), "seen_times", times=len(candidate.others) + 1)


def _taken_then_failed(candidates: Sequence[Candidate], course: Course) -> None:
    """A machine that was taken away is no cause once the job ran again and failed by itself: restarts are for that."""
    last = course.last_attempt
    if last is None or not any(lane.runs for lane in last.replicas):
        return
    own = [c for c in candidates if c.finding.role is Role.ROOT and c.finding.rule.category not in NOT_ITS_OWN]
    own = [c for c in own if c.finding.message.origin in PROGRAM and course.in_last_life(c.replica, c.time, c.trial)]
    latest = max((c for c in own if c.score > 0), key=lambda c: c.position, default=None)
    if latest is None:
        return
    taken = [c for c in candidates if c.finding.rule.category == "preemption"]
    for candidate in taken:
        over = not course.in_last_life(candidate.replica, candidate.time, candidate.trial)
        if over or course.began_anew_between(candidate.finding.message, latest.finding.message):
            candidate.give(-SURVIVED, "ran_again_then_failed")


def _got_what_lacked(candidates: Sequence[Candidate], findings: Sequence[Finding]) -> None:
    """Why a pod found no node, or its disk could not be attached or image pulled, is over once it has got it."""
    nodes = {f.replica: f.time for f in findings if f.event == "pod_scheduled"}
    images = {(f.replica, f.values.get("image")): f.time for f in findings if f.event == "image_pulled"}
    volumes = {f.values.get("volume"): f.time for f in findings if f.event == "volume_attached"}
    for candidate in candidates:
        reason = candidate.finding.message.first.fields.get("reason")
        volume = candidate.finding.values.get("volume")
        if reason == "FailedScheduling" and _came_after(nodes, candidate.finding.replica, candidate.time):
            candidate.give(-60, "got_a_node")
        elif reason in ("Failed", "BackOff") and _came_after(images, _image_of(candidate), candidate.time):
            candidate.give(-60, "got_its_image")
        elif reason == "FailedAttachVolume" and _came_after(volumes, volume, candidate.time):
            candidate.give(-60, "got_its_volume")


def _image_of(candidate: Candidate) -> tuple[str | None, str | None]:
    """The pod of an event about an image, and that image."""
    found = compile_pattern(r'image \\?"(?P<image>[^"\\]+)').search(candidate.finding.message.text)
    return candidate.finding.replica, found.groupdict()["image"] if found else None


def _came_after(came: Mapping[_Key, Instant | None], what: _Key, missed: Instant | None) -> bool:
    """Whether something that was missed came later; where no time is told, whether it came at all."""
    if what not in came:
        return False
    time = came[what]
    return time is None or missed is None or time >= missed


def _stood_still(candidates: Sequence[Candidate], course: Course) -> None:
    """That it was stopped is no cause where the job stood still since a process of it had failed by itself."""
    raised = [c for c in candidates if _is_raised(c) and c.finding.rule.category not in NOT_ITS_OWN]
    still = [c.position for c in raised if not course.job_went_on_after(c.finding.message)]
    for candidate in candidates:
        if candidate.finding.rule.category in STOPPED and still and min(still) < candidate.position:
            candidate.give(-60, "stood_still")


def _outlived(candidates: Sequence[Candidate], course: Course) -> None:
    """That its machine or container was stopped is no cause where a program began after it or ran minutes later."""
    stopped = [c for c in candidates if c.finding.event == "machine_stopped"]
    own = [c for c in candidates if c.finding.message.origin in PROGRAM or c.finding.message.exceptions]
    spoken = [c.time for c in own if c not in stopped]
    last = max((*(time for time in spoken if time), *(end for end, _, _ in course.deaths())), default=None)
    begun = max((run.start for _, run in course.all_runs() if run.start and "start" not in run.deduced), default=None)
    for candidate in stopped:
        time = candidate.time
        if time is None:
            continue
        if (last and last > time.plus(STILL_THERE)) or (begun and begun > time.plus(CLOCK_SLACK)):
            candidate.give(-SURVIVED, "outlived")


def _cleared_up(candidates: Sequence[Candidate], findings: Sequence[Finding]) -> None:
    """What a script does after it told that its program failed is no reason for that failure."""
    told = {f.message.replica: f for f in findings if f.rule.id == SCRIPT_EXIT and f.time is not None}
    for candidate in candidates if told else ():
        last, time = told.get(candidate.finding.message.replica), candidate.time
        later = last is not None and last.time is not None and time is not None and last.time < time
        chore = candidate.finding.rule.category in CHORES and not candidate.finding.message.exceptions
        if last is not None and later and chore and candidate.finding.role is Role.ROOT:
            candidate.give(-45, "told_failed", code=exit_code_of(last))


def _verdicts(findings: Iterable[Finding]) -> dict[str, Finding]:
    """The last conclusion about each replica, by its name in one spelling; the last of all stands last."""
    found: dict[str, Finding] = {}
    for finding in findings:
        if finding.role is Role.VERDICT and finding.event in ("replica_failed", "container_exit") and finding.replica:
            name = _spelled(finding.replica)
            found.pop(name, None)
            found[name] = finding
    return found


def _agreement(candidate: Candidate, verdicts: dict[str, Finding]) -> None:
    mine = verdicts.get(_spelled(candidate.replica)) if candidate.replica else None
    message = candidate.finding.message
    if mine is not None and message is not mine.message:
        candidate.give(12, "same_replica")
    elif candidate.replica and verdicts and candidate.finding.role is Role.ROOT and message.origin is Origin.REPLICA:
        candidate.give(-8, "other_replica")
    verdict = mine or next(reversed(verdicts.values()), None)
    code = exit_code_of(verdict) if verdict is not None else None
    category = candidate.finding.rule.category
    if code is None:
        return
    if category == "out_of_memory" and code in OOM_EXITS:
        candidate.give(10, "code_of_memory", code=code)
    elif "crash" in candidate.cause and code in CRASH_EXITS:
        candidate.give(10, "code_of_crash", code=code)
    elif code == 1 and candidate.finding.message.kind == "traceback":
        candidate.give(6, "code_of_exception")


def _spelled(replica: str) -> str:
    return replica.casefold().replace(" ", "-")


def _speaker(candidate: Candidate) -> None:
    message = candidate.finding.message
    if candidate.finding.hearsay:
        candidate.give(-HEARSAY, "hearsay")
    if message.kind == "traceback" and message.exceptions and candidate.finding.role is Role.ROOT:
        candidate.give(4, "whole_traceback")
    if message.origin in (Origin.NODE, Origin.AUDIT, Origin.STATUS, Origin.SERVICE, Origin.CLUSTER):
        candidate.give(5, f"said_by_{message.origin.value}")


def _own_deaths(findings: Sequence[Finding], course: Course) -> list[tuple[Instant, str, str]]:
    """Ends of runs that no trouble with peers had announced: those replicas died first, and the others noticed."""
    troubled: dict[str | None, list[Instant]] = {}
    for finding in findings:
        if finding.time is not None and (finding.role is Role.CASCADE or finding.rule.category in PEER_TROUBLE):
            troubled.setdefault(finding.replica, []).append(finding.time)
    for times in troubled.values():
        times.sort()
    return [
        (end, replica, how)
        for end, replica, how in course.deaths()
        if not _any_within(troubled.get(replica, ()), end.plus(-PEER_LAG), end.plus(1.0))
    ]


def _any_within(times: Sequence[Instant], begin: Instant, end: Instant) -> bool:
    """Whether one of some times, which are in order, lies between two."""
    place = bisect_left(times, begin)
    return place < len(times) and times[place] <= end


def _after_a_peer_died(candidate: Candidate, deaths: Sequence[tuple[Instant, str, str]]) -> None:
    """A lost connection or a vain wait says little once a peer is known to have died by itself before it."""
    if candidate.finding.rule.category not in PEER_TROUBLE or candidate.time is None:
        return
    first = bisect_left(deaths, candidate.time.plus(-PEER_WAIT), key=lambda death: death[0])
    for end, replica, how in islice(deaths, first, None):
        if end > candidate.time.plus(PEER_LAG):
            return
        if replica != candidate.replica:
            candidate.give(-45, "peer_had_died", replica=replica, how=how)
            return


def _explain(candidates: Sequence[Candidate]) -> None:
    """Marks what a stronger candidate, or one not much weaker, explains; the strongest one that does is named.

    Those that are alike but for their time are asked about together, the latest first, so that thousands of replicas
    which all lost their peer cost no more than one look each.
    """
    unexplained: dict[tuple[str, float, bool], list[Candidate]] = {}
    for candidate in sorted(candidates, key=_moment):
        kind = (candidate.finding.rule.id, candidate.score, candidate.finding.hearsay)
        unexplained.setdefault(kind, []).append(candidate)
    edges: dict[tuple[str, str], bool] = {}
    for candidate in sorted(candidates, key=lambda c: (-c.score, c.position)):
        if candidate.explained_by is None:
            for others in unexplained.values():
                if others and _explains(candidate, others[0], edges) and not _weaker_by_far(candidate, others[0]):
                    _explain_later_ones(candidate, others)


def _explain_later_ones(candidate: Candidate, others: list[Candidate]) -> None:
    """Takes those that come after a candidate (clocks allowed for) off the end of others that are in order."""
    itself = False
    while others and _not_after(candidate, others[-1]):
        other = others.pop()
        itself = itself or other is candidate
        if other is not candidate:
            other.explained_by = candidate
    if itself:
        others.append(candidate)


def _moment(candidate: Candidate) -> tuple[bool, int]:
    """The order of time, those last that have none: nothing is known to come after them."""
    return candidate.time is None, int(candidate.time or 0)


def _explains(candidate: Candidate, other: Candidate, known: dict[tuple[str, str], bool]) -> bool:
    """Whether the one's rule names the other's; `known` are the answers that were given already."""
    pair = (candidate.finding.rule.id, other.finding.rule.id)
    if pair not in known:
        edges = candidate.finding.rule.explains
        known[pair] = any(names(edge, other.cause) or names(edge, other.finding.rule.id) for edge in edges)
    return known[pair]


def _weaker_by_far(candidate: Candidate, other: Candidate) -> bool:
    """A cause that was survived cannot explain one that was not, nor hearsay what is known at first hand."""
    if candidate.finding.hearsay and not other.finding.hearsay:
        return True
    return candidate.score + 30 < other.score


def _not_after(candidate: Candidate, other: Candidate) -> bool:
    if candidate.time is None or other.time is None:
        return True
    late = VERDICT_LAG if candidate.finding.message.origin is not Origin.REPLICA else CLOCK_SLACK
    return candidate.time <= other.time.plus(late)


def _is_raised(candidate: Candidate) -> bool:
    return candidate.finding.message.kind == "traceback"


def _first_of_all(candidates: Sequence[Candidate], course: Course) -> None:
    """The first of the failures that ended the job gains: later ones on other replicas mostly follow from it.

    Where one replica raised what others only logged, it is the one that ended of it.
    """
    final = [c for c in candidates if c.finding.role is Role.ROOT and not course.went_on_after(c.finding.message)]
    raised = {c.finding.rule.id for c in final if _is_raised(c) and c.finding.rule.category not in PEER_TROUBLE}
    ended = [c for c in final if _is_raised(c) or c.finding.rule.id not in raised]
    timed = [c for c in ended if c.time is not None and course.in_last_life(c.replica, c.time, c.trial)]
    if len(timed) < 2:
        return
    first = min(timed, key=lambda c: (int(c.time or 0), c.position))
    first.give(8, "first_failure")
