"""What a timeline tells in plain sentences: repeats, limits used, doomed containers, resumed or not, silence, gaps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from analyzer.model import SECOND
from analyzer.model.numbers import number
from analyzer.timeline.attempts import Try
from analyzer.timeline.endings import Setting, time_up
from analyzer.timeline.lives import Life
from analyzer.timeline.names import pool_of
from analyzer.timeline.restarts import Count, retry_limit
from analyzer.timeline.sentences import duration, say

MOST_NAMES = 8


def tell_limits(tries: Sequence[Try], counted: Count, setting: Setting, lang: str) -> list[str]:
    """How much of the documented limits was used, and where more was counted than they allow."""
    told = []
    limit = setting.limits.worker_restarts
    most = sorted(((used, name) for name, used in counted.most_in_attempt.items()), reverse=True)
    for used, name in [pair for pair in most if limit is not None and pair[0] >= limit][:3]:
        if limit is not None and used > limit:
            told.append(say("limit_breached", lang, replica=name, used=used, limit=limit))
        else:
            told.append(_used_up(tries, name, used, lang))
    retries = counted.kinds.job_retries
    if tries and tries[-1].end_reason is None:
        told += _next(tries[-1], setting, retries, lang)
    if retries:
        told.append(_retries(tries, retries, retry_limit(tries, setting.policy, setting.limits, setting.spot), lang))
    return told


def _next(now: Try, setting: Setting, retries: int, lang: str) -> list[str]:
    """What the service does when the worker that was restarted most often in the running attempt fails again."""
    limit, total = setting.limits.worker_restarts, setting.limits.job_retries
    restarts = {
        lives[-1].replica: sum(one.unit == other.unit for one, other in pairwise(lives))
        for lives in now.lanes().values()
    }
    name = max(sorted(restarts), key=lambda lane: restarts[lane], default=None)
    if limit is None or total is None or name is None or not restarts[name]:
        return []
    used, left = restarts[name], max(total - retries, 0)
    after = "next_place" if used < limit else "next_retry" if left else "next_end"
    then = say(after, lang, left=left, total=total)
    return [say("next_restart", lang, replica=name, used=used, limit=limit, then=then)]


def _retries(tries: Sequence[Try], used: int, limit: int | None, lang: str) -> str:
    if limit is None:
        return say("retries_counted", lang, attempts=used + 1)
    name = "retries_left"
    if used > limit:
        name = "retries_breached"
    elif used == limit and tries[-1].end_reason not in (None, "success", "cancelled"):
        name = "retries_used"
    return say(name, lang, attempts=used + 1, used=used, limit=limit)


def _used_up(tries: Sequence[Try], name: str, used: int, lang: str) -> str:
    """Which attempts a replica used its restarts up in, and what came of the last of these."""
    where = [
        attempt for attempt in tries if sum(life.replica == name and not life.doomed for life in attempt.lives) > used
    ] or list(tries[-1:])
    then = "then_retry" if where[-1] is not tries[-1] else "then_failed" if where[-1].end_reason != "success" else None
    numbers = ", ".join(str(attempt.number) for attempt in where)
    after = say(then, lang) if then else ""
    return say("restarts_used", lang, replica=name, used=used, limit=used, attempt=numbers, then=after)


def tell_settings(tries: Sequence[Try], setting: Setting, lang: str) -> list[str]:
    """What the job's description set on retries and times, where it showed in how the job went."""
    limits, told = setting.limits, []
    if limits.restart_job and len(tries) > 1:
        told.append(say("restart_job", lang, retries=len(tries) - 1))
    if limits.retries_off and tries and tries[-1].end_reason not in (None, "success", "cancelled"):
        told.append(say("retries_off", lang))
    reached = time_up(tries[-1], limits) if tries and tries[-1].end_reason == "timeout" else None
    if reached is not None:
        limit = limits.wait if reached == "wait" else limits.timeout
        told.append(say("wait_up" if reached == "wait" else "time_up", lang, limit=duration((limit or 0) * SECOND)))
    return told


def tell_deduced(tries: Sequence[Try], lang: str) -> list[str]:
    """Which attempts no line announces, so that deduced ones are told from stated ones."""
    quiet = [str(attempt.number) for attempt in tries if attempt.quiet]
    if not quiet:
        return []
    return [say("deduced_attempt" if len(quiet) == 1 else "deduced_attempts", lang, numbers=", ".join(quiet))]


def tell_doomed(tries: Sequence[Try], lang: str) -> list[str]:
    """That containers were started again in vain, so that nobody takes their lines for a cause."""
    doomed = [life for attempt in tries for life in attempt.lives if life.doomed]
    if not doomed:
        return []
    return [say("doomed_one" if len(doomed) == 1 else "doomed", lang, count=len(doomed), replica=doomed[0].replica)]


def tell_resumed(tries: Sequence[Try], lang: str) -> list[str]:
    """Whether the last restart took up a checkpoint or began anew."""
    before: dict[tuple[str, int | None], Life] = {}
    last: tuple[Life, Life] | None = None
    for attempt in tries:
        for life in attempt.lives:
            if life.doomed:
                continue
            lane = (life.replica, life.trial)
            if lane in before and (life.resumed is not None or life.from_zero or life.first_step is not None):
                pair = (before[lane], life)
                last = pair if last is None or pair[1].begin >= last[1].begin else last
            if life.last_step is not None or lane not in before:
                before[lane] = life
    if last is None:
        return []
    earlier, life = last
    done = earlier.last_step
    if life.resumed is not None:
        if done is not None and done > life.resumed:
            return [say("resumed", lang, step=life.resumed, lost=done - life.resumed, last=done)]
        return [say("resumed_somewhere", lang, step=life.resumed)]
    anew = life.from_zero or (done is not None and life.first_step is not None and life.first_step * 2 < done)
    return [say("from_zero", lang, last=done)] if anew and done else []


def tell_missing(tries: Sequence[Try], setting: Setting, lang: str) -> list[str]:
    """Replicas that the job has but that never came up in the last attempt in which any did."""
    if not setting.policy.primary_exit_ends_job:
        return []
    came = [attempt for attempt in tries if attempt.lives and attempt.start is not None]
    if not came:
        return []
    present = {life.replica for life in came[-1].lives}
    missing = sorted(_expected(setting) - present)
    if not missing:
        return []
    names = ", ".join(missing[:MOST_NAMES]) + (", …" if len(missing) > MOST_NAMES else "")
    name = "never_started_one" if len(missing) == 1 else "never_started"
    return [say(name, lang, count=len(missing), names=names, attempt=came[-1].number)]


def _expected(setting: Setting) -> set[str]:
    """The replicas that entries and the job's description name, and those whose numbers are missing between them."""
    known = setting.evidence.names.known | setting.evidence.names.declared
    highest: dict[str, int] = {}
    for name in known:
        head, _, last = name.rpartition("-")
        if pool_of(name) != name and (index := number(last)) is not None:
            highest[head] = max(highest.get(head, 0), index)
    between = {f"{head}-{index}" for head, most in highest.items() for index in range(min(most, 10_000))}
    return set(known) | between


def tell_cut(tries: Sequence[Try], lang: str) -> list[str]:
    """That the log does not reach the job's begin."""
    return [say("cut_off", lang)] if any(life.start_cut for attempt in tries[:1] for life in attempt.lives) else []
