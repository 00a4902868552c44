"""What restarts cost: time waited and worked, work lost since the last checkpoint, and how often to save one.

The interval is Young's first-order optimum as Daly gives it (J. T. Daly, A higher order estimate of the optimum
checkpoint interval for restart dumps, 2006): √(2 · time to write a checkpoint · mean time between failures).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from math import sqrt

import msgspec

from analyzer.model import SECOND
from analyzer.timeline.attempts import Try
from analyzer.timeline.lives import Life
from analyzer.timeline.policy import Policy
from analyzer.timeline.progress import Saved, known_ends
from analyzer.timeline.sentences import duration, say

HOUR = 3600 * SECOND
ASSUMED_WRITE = 60 * SECOND
INTERRUPTED = frozenset(("error", "oom", "crash", "retryable", "preempted", "maintenance"))


class Cost(msgspec.Struct, frozen=True):
    """Lengths of time in ns: waiting for machines, running, in between; work lost; the longest time unsaved."""

    waiting: int
    worked: int
    between: int
    lost: int
    unsaved: int
    failures: int


def cost_of(tries: Sequence[Try], saved: Sequence[Saved], last_moment: int) -> Cost:
    """Adds up what the attempts of a job spent and lost."""
    moments = [s.moment for s in saved]
    waiting = worked = lost = unsaved = failures = 0
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
        failures += len(broken)
        ends = known_ends(attempt)
        lost += sum(_lost(ends[id(life)], life, moments, begun) for life in broken)
    starts = [attempt.start for attempt in tries if attempt.start is not None]
    whole = (tries[-1].end or last_moment) - starts[0] if starts else 0
    return Cost(waiting, worked, max(whole - waiting - worked, 0), lost, unsaved, failures)


def _begun(attempt: Try) -> int | None:
    """When the program of an attempt ran: when all replicas were up, else when the first one was."""
    first = min((life.begin for life in attempt.lives), default=None)
    return attempt.running if attempt.running is not None else first


def _longest_gap(moments: Sequence[int], begun: int, ended: int) -> int:
    inside = moments[bisect_right(moments, begun) : bisect_right(moments, ended)]
    edges = [begun, *inside, ended]
    return max((later - earlier for earlier, later in pairwise(edges)), default=0)


def _lost(end: int, life: Life, moments: Sequence[int], begun: int) -> int:
    """Work since the last checkpoint before a life's end, but no more than the life itself or its attempt."""
    at = bisect_right(moments, end)
    kept = moments[at - 1] if at else 0
    return max(end - max(kept, life.begin, begun), 0)


def tell_cost(
    cost: Cost, saved: Sequence[Saved], policy: Policy, lang: str, *, over: bool, recurs: bool = False
) -> list[str]:
    """Sentences on time spent, on work lost, and on checkpoints that are missing or too far apart.

    `over`: the job has ended. `recurs`: it fails each time at the same place, so that no interval is worked out.
    """
    told = []
    parts = (("waiting", cost.waiting), ("training", cost.worked), ("between", cost.between))
    shown = [say(name, lang, time=duration(time)) for name, time in parts if time >= SECOND]
    if len(shown) > 1:
        told.append(say("spent", lang, parts=", ".join(shown)))
    if cost.lost >= 60 * SECOND and cost.failures and (over or cost.failures > 1):
        told.append(say("lost", lang, lost=duration(cost.lost)))
    far = policy.checkpoint_hours is not None and cost.unsaved > policy.checkpoint_hours * HOUR
    if far and policy.checkpoint_hours is not None:
        hours = f"{policy.checkpoint_hours:g}"
        if saved:
            told.append(say("checkpoints_too_far_apart", lang, gap=duration(cost.unsaved), hours=hours))
        else:
            told.append(say("no_checkpoint_at_all", lang, worked=duration(cost.unsaved), hours=hours))
    if not recurs and (cost.failures > 1 or (far and cost.failures)):
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
