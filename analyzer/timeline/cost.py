"""What restarts cost: time waited and worked, work lost since the last checkpoint, and how often to save one.

The interval is Young's first-order optimum as Daly gives it (J. T. Daly, A higher order estimate of the optimum
checkpoint interval for restart dumps, 2006): √(2 · time to write a checkpoint · mean time between failures).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import sqrt

import msgspec

from analyzer.model import SECOND
from analyzer.timeline.attempts import Try
from analyzer.timeline.lives import Life
from analyzer.timeline.policy import Policy
from analyzer.timeline.progress import Saved, known_ends, shows_work
from analyzer.timeline.sentences import duration, say

HOUR = 3600 * SECOND
ASSUMED_WRITE = 60 * SECOND
INTERRUPTED = frozenset(("error", "oom", "crash", "retryable", "preempted", "maintenance"))


class Cost(msgspec.Struct, frozen=True):
    """Lengths of time in ns: waiting for machines, running, in between; work lost; the longest time unsaved.

    `failures` are interruptions that a next try may be spared: no end by the program's own error, which recurs.
    `losses` are all ends that lost work; `resumed`: whether a life took up a checkpoint.
    """

    waiting: int
    worked: int
    between: int
    lost: int
    unsaved: int
    failures: int
    losses: int
    resumed: bool


def cost_of(tries: Sequence[Try], saved: Sequence[Saved], last_moment: int) -> Cost:
    """Adds up what the attempts of a job spent and lost."""
    moments = [s.moment for s in saved]
    waiting = worked = unsaved = failures = 0
    stretches: list[tuple[int, int, int]] = []
    after = _following(tries)
    for attempt in tries:
        begun, ended = _begun(attempt), attempt.end if attempt.end is not None else last_moment
        start = attempt.start
        if begun is None:
            waiting += max(ended - start, 0) if start is not None else 0
            continue
        waiting += max(begun - start, 0) if start is not None else 0
        worked += max(ended - begun, 0)
        unsaved = max(unsaved, _longest_gap(moments, begun, ended))
        broken = [life for life in attempt.lives if life.reason in INTERRUPTED and not life.doomed]
        failures += sum(life.reason != "error" for life in broken)
        ends = known_ends(attempt)
        for life in broken:
            stretches += _lost(ends[id(life)], life, after.get(id(life)), moments, begun)
    resumed = any(life.resumed for attempt in tries for life in attempt.lives)
    lost = _together(stretches) if shows_work(tries, saved) else 0
    starts = [attempt.start for attempt in tries if attempt.start is not None]
    whole = (tries[-1].end or last_moment) - starts[0] if starts else 0
    return Cost(waiting, worked, max(whole - waiting - worked, 0), lost, unsaved, failures, len(stretches), resumed)


def _begun(attempt: Try) -> int | None:
    """When the program of an attempt ran: when all replicas were up, else when the first one was."""
    first = min((life.begin for life in attempt.lives), default=None)
    return attempt.running if attempt.running is not None else first


def _longest_gap(moments: Sequence[int], begun: int, ended: int) -> int:
    inside = moments[bisect_right(moments, begun) : bisect_right(moments, ended)]
    edges = [begun, *inside, ended]
    return max((later - earlier for earlier, later in pairwise(edges)), default=0)


def _following(tries: Sequence[Try]) -> dict[int, Life]:
    """The next life of the same replica, by the identity of a life."""
    before: dict[str, Life] = {}
    found = {}
    for attempt in tries:
        for lane, lives in attempt.lanes().items():
            for life in lives:
                if lane in before:
                    found[id(before[lane])] = life
                before[lane] = life
    return found


def _lost(
    end: int, life: Life, following: Life | None, moments: Sequence[int], begun: int
) -> Iterator[tuple[int, int, int]]:
    """The stretch of work lost by a life's end, with its trial: since the last checkpoint, within life and attempt.

    Nothing where the next life took up a checkpoint that no line shows being saved: how old that was is not known.
    """
    at = bisect_right(moments, end)
    kept = max(moments[at - 1] if at else 0, life.begin, begun)
    unseen = following is not None and (following.resumed or 0) > 0 and not (at and moments[at - 1] >= life.begin)
    if not unseen and end > kept:
        yield life.trial or 0, kept, end


def _together(stretches: Sequence[tuple[int, int, int]]) -> int:
    """How long some stretches are, where those of replicas that work together count once."""
    total, reached, of = 0, 0, -1
    for trial, since, end in sorted(stretches):
        reached = reached if trial == of else 0
        total += max(end - max(since, reached), 0)
        reached, of = max(reached, end), trial
    return total


def tell_cost(
    cost: Cost, saved: Sequence[Saved], policy: Policy, lang: str, *, over: bool, told_at_end: bool = False,
    recurs: bool = False,
) -> list[str]:  # fmt: skip
    """Sentences on time spent, on work lost, and on checkpoints that are missing or too far apart.

    `over`: the job has ended. `told_at_end`: the timeline tells by itself what work the end lost. `recurs`: it fails
    each time at the same place, so that no interval is worked out.
    """
    told = []
    parts = (("waiting", cost.waiting), ("training", cost.worked), ("between", cost.between))
    shown = [say(name, lang, time=duration(time)) for name, time in parts if time >= SECOND]
    if len(shown) > 1:
        told.append(say("spent", lang, parts=", ".join(shown)))
    known = told_at_end and cost.losses == 1
    if cost.lost >= 60 * SECOND and not known and (over or cost.losses > 1):
        told.append(say("lost", lang, lost=duration(cost.lost)))
    unseen = cost.resumed and not saved  # checkpoints there are, but no line tells of their saving
    far = policy.checkpoint_hours is not None and cost.unsaved > policy.checkpoint_hours * HOUR and not unseen
    if far and policy.checkpoint_hours is not None:
        hours = f"{policy.checkpoint_hours:g}"
        if saved:
            told.append(say("checkpoints_too_far_apart", lang, gap=duration(cost.unsaved), hours=hours))
        else:
            told.append(say("no_checkpoint_at_all", lang, worked=duration(cost.unsaved), hours=hours))
    if not recurs and not unseen and (cost.failures > 1 or (far and cost.failures)):
        told += _interval(cost, saved, lang)
    return told


def _interval(cost: Cost, saved: Sequence[Saved], lang: str) -> list[str]:
    """The interval that loses least, where a checkpoint is quickly written beside the time between failures."""
    writes = sorted(s.write for s in saved if s.write > 0)
    write = writes[len(writes) // 2] if writes else ASSUMED_WRITE
    between = cost.worked / cost.failures
    if between < 10 * write:
        return []
    sentence = say(
        "interval" if cost.failures > 1 else "interval_one", lang, failures=cost.failures, worked=duration(cost.worked),
        interval=duration(sqrt(2 * write * between)), write=duration(write), between=duration(between),
        basis=say("measured" if writes else "assumed", lang),
    )  # fmt: skip
    return [sentence]
