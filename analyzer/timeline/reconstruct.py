"""The restart timeline of a job: from evidence to lives, from lives to attempts, from attempts to what they tell."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from analyzer.entries import Options, Story
from analyzer.model import SECOND, Attempt, Message, ReplicaRuns, Run, Timeline
from analyzer.rulebook import Finding
from analyzer.timeline import described, pods, restarts
from analyzer.timeline.attempts import ENDERS, SKEW, Cutter, Try, begun_again
from analyzer.timeline.beginnings import find_beginnings
from analyzer.timeline.cost import cost_of, tell_cost
from analyzer.timeline.endings import Judged, Setting, end_moment, end_reason
from analyzer.timeline.events import events_of
from analyzer.timeline.evidence import Evidence, Item, Signal, gather
from analyzer.timeline.failures import blame_judged, find_failure
from analyzer.timeline.lives import Life, segment
from analyzer.timeline.policy import Limits, Policy, limits_of, policy_of
from analyzer.timeline.progress import Saved, lost_seconds, progress_of, saved_checkpoints, shown_checkpoints
from analyzer.timeline.reasons import give_reasons
from analyzer.timeline.remarks import (
    tell_cut,
    tell_deduced,
    tell_doomed,
    tell_limits,
    tell_missing,
    tell_resumed,
    tell_settings,
)
from analyzer.timeline.repeats import repeats, tell_repeats
from analyzer.timeline.sentences import say
from analyzer.timeline.silence import tell_silence


def reconstruct(
    story: Story, messages: Sequence[Message], findings: Sequence[Finding], options: Options,
    judged: Judged | None = None,
) -> Timeline:  # fmt: skip
    """The timeline of a job out of its entries and what rules found in them; what is deduced is marked as such.

    `judged` is what the judge made of the first telling, for a second one (see `analyzer.timeline.settled`).
    """
    policy = policy_of(story.key.platform)
    limits = limits_of(policy, story.descriptions)
    evidence = gather(story, messages, findings)
    lanes, stated = _lanes(story, evidence, policy)
    spot = _is_spot(evidence, lanes, limits) and policy.spot_restarts is not None
    tries = Cutter(lanes, policy, limits, spot).cut(evidence.job)
    tries = described.add_to_last(tries, evidence, story)
    setting = Setting(evidence, policy, limits, spot, judged)
    _close(tries, setting)
    counted = restarts.count(tries, stated, described.stated_retries(story, evidence))
    saved = saved_checkpoints(evidence)
    lost = lost_seconds(tries, saved, evidence)
    return Timeline(
        attempts=[_attempt(attempt, setting, options.lang) for attempt in tries],
        restarts_total=counted.kinds.total,
        restarts=counted.kinds,
        restarts_by_replica=counted.by_replica,
        budgets=restarts.budgets(tries, counted, policy, limits, spot),
        checkpoints=shown_checkpoints(saved, evidence),
        progress=progress_of(tries, evidence),
        lost_seconds=lost,
        events=events_of(tries, evidence, options.lang),
        remarks=_remarks(tries, counted, saved, lost, setting, options.lang, story.key.id),
    )


def _remarks(
    tries: Sequence[Try], counted: restarts.Count, saved: Sequence[Saved], lost: float | None, setting: Setting,
    lang: str, job: str,
) -> list[str]:  # fmt: skip
    """What the timeline tells in plain sentences, the most telling first."""
    evidence = setting.evidence
    again = repeats(tries, job)
    told = tell_repeats(again, lang)
    told += tell_limits(tries, counted, setting, lang)
    told += tell_settings(tries, setting, lang)
    told += tell_silence(tries, evidence.clock, lang)
    told += tell_missing(tries, setting, lang)
    told += tell_resumed(tries, lang)
    if evidence.clock.real and tries:
        over = tries[-1].end_reason is not None
        cost = cost_of(tries, saved, evidence.last_moment)
        recurs = any(repeat.recurs for repeat in again)
        told += tell_cost(cost, saved, setting.policy, lang, over=over, told_at_end=lost is not None, recurs=recurs)
    return told + tell_deduced(tries, lang) + tell_doomed(tries, lang) + tell_cut(tries, lang)


def _cut_lanes(evidence: Evidence) -> set[str]:
    """Lanes that the log begins in the middle of: the service speaks, but not before them of setting the job up."""
    begins = {"job_queued", "attempt_begin", *ENDERS}
    told = min((signal.moment for signal in evidence.job if signal.event in begins), default=None)
    if not evidence.job:
        return set()
    return {name for name, items in evidence.lanes.items() if told is None or items[0].moment < told - SKEW}


def _close(tries: Sequence[Try], setting: Setting) -> None:
    """Gives every attempt its end and end reason, and every life its end, exit code and reason."""
    for attempt in tries:
        last = attempt is tries[-1]
        succeeded = setting.judged is not None and setting.judged.outcome == "succeeded"
        find_failure(attempt, last, setting.told or setting.survived, succeeded=succeeded)
        if last and setting.judged is not None and setting.judged.outcome == "failed":
            blame_judged(attempt, setting.judged.replica)
        attempt.end_reason = end_reason(attempt, last, setting)
        give_reasons(attempt, last, setting)
        attempt.end = end_moment(attempt, last)


def _lanes(story: Story, evidence: Evidence, policy: Policy) -> tuple[dict[str, list[Life]], dict[str, int]]:
    """Lives by lane, and restarts that descriptions and events count themselves."""
    known = described.containers(story)
    if len(known) == 1 and set(evidence.lanes) == {""}:  # the only container that is described printed the only lines
        evidence.lanes = {next(iter(known)): evidence.lanes[""]}
    cut = _cut_lanes(evidence) if policy.primary_exit_ends_job else set()
    _forget_machines_of_other_trials(evidence.lanes)
    beginnings = find_beginnings(evidence.lanes, _words(evidence.job), cut)
    lanes: dict[str, list[Life]] = {}
    again = [signal.place for signal in begun_again(evidence.job)]
    # Without times the order of files stands for them, and a description's count of restarts is more certain.
    once = {name for name, container in known.items() if container.ran_once and not evidence.clock.real}
    for name, items in evidence.lanes.items():
        starts = beginnings.places.get(name, set()) | _stated_starts(items, known.get(name))
        starts |= set() if name else _first_after(again, items)
        owner = name.partition("@")[0] or story.key.id
        lives = lanes[name] = segment(name, items, starts, owner, one=name in once)
        lives[0].start_cut = name in cut and not lives[0].start_stated and not beginnings.is_start(items[0])
    for name, container in known.items():
        lives = described.add_states(lanes.get(name, []), container, one=name in once)
        if lives:
            lanes[name] = lives
    events = pods.counted_starts(evidence)
    stated = {name: number for name, number in events.items() if name not in known}
    stated |= {name: container.restarts for name, container in known.items() if container.restarts}
    if story.key.platform == "gke":
        pods.add_rejected(story, lanes, evidence)
        lanes = pods.join_pods(lanes, [name for name, container in known.items() if container.alive])
    return lanes, stated


def _forget_machines_of_other_trials(lanes: Mapping[str, Sequence[Item]]) -> None:
    """Takes the machine off a trial's lines where another trial runs on it: trials share none, so the label errs."""
    first: dict[str, str] = {}
    last: dict[tuple[str, str], int] = {}
    trials = {name: items for name, items in lanes.items() if items[0].entry.fields.get("trial") is not None}
    said = [(item.place, name.rpartition("@")[2], item) for name, items in trials.items() for item in items]
    for place, trial, item in sorted(said, key=lambda told: told[:2]):
        if (node := item.entry.node) is not None:
            first.setdefault(node, trial)
            last[node, trial] = place
    for place, trial, item in said:
        node = item.entry.node
        if node is not None and first[node] != trial and last[node, first[node]] > place:
            item.entry = msgspec.structs.replace(item.entry, node=None)


def _first_after(places: Iterable[int], items: Sequence[Item]) -> set[int]:
    """Places of the first lines after the words that a job starts again, in output that names no replica."""
    order = [item.place for item in items]
    found = (bisect_right(order, place) for place in places)
    return {order[at] for at in found if 0 < at < len(order)}


def _words(job: Iterable[Signal]) -> dict[str, list[int]]:
    """When the service said that a replica had failed, by replica."""
    words: dict[str, list[int]] = {}
    for signal in job:
        if signal.event in ("replica_failed", "replica_out_of_memory") and signal.replica is not None:
            words.setdefault(signal.replica, []).append(signal.moment)
    return words


def _stated_starts(items: Sequence[Item], container: described.Container | None) -> set[int]:
    """Places of the first lines after the starts that a description states."""
    if container is None:
        return set()
    moments = [item.moment for item in items]
    found = (bisect_left(moments, start - SECOND) for start in described.starts_of(container))
    return {items[at].place for at in found if at < len(items)}


def _is_spot(evidence: Evidence, lanes: Mapping[str, Sequence[Life]], limits: Limits) -> bool:
    """Whether the job ran on Spot machines: its description says so, or it ended for lack of capacity while it ran."""
    if limits.strategy_stated:
        return limits.spot
    ends = ("stockout", "internal_error", "replica_failed", "replica_out_of_memory", "job_succeeded")
    final = [s for s in evidence.job if s.event in ends]
    if not final or final[-1].event != "stockout":
        return False
    moment = final[-1].moment
    set_up = max((s.moment for s in evidence.job if s.event == "attempt_begin" and s.moment < moment), default=0)
    recent = [lives[-1] for lives in lanes.values() if set_up < lives[-1].begin < moment]
    return any(life.last_step is not None or life.stop is not None for life in recent)


def _attempt(attempt: Try, setting: Setting, lang: str) -> Attempt:
    shown = setting.evidence.clock.shown
    lanes: dict[tuple[str, int], ReplicaRuns] = {}
    for life in sorted(attempt.lives, key=lambda life: (life.replica, life.trial or 0, life.begin, life.place)):
        if life.output or life.start is not None or life.code_stated:
            lane = lanes.setdefault((life.replica, life.trial or 0), ReplicaRuns(name=life.replica, trial=life.trial))
            lane.runs.append(_run(life, setting, lang))
    return Attempt(
        number=attempt.number,
        start=shown(attempt.start),
        end=shown(attempt.end),
        end_reason=attempt.end_reason,
        running_since=shown(attempt.running),
        replicas=list(lanes.values()),
    )


def _run(life: Life, setting: Setting, lang: str) -> Run:
    shown = setting.evidence.clock.shown
    running = life.reason == "running"
    deduced = [] if life.start_stated else ["start"]
    if not running and not life.end_stated:
        deduced.append("end")
    if life.exit_code is not None and not life.code_stated:
        deduced.append("exit_code")
    if life.reason_deduced and life.reason != "unknown":
        deduced.append("reason")
    return Run(
        start=None if life.start_cut else shown(life.begin),
        end=None if running else shown(life.finish),
        exit_code=life.exit_code,
        signal=life.signal,
        reason=life.reason,
        node=life.node,
        doomed=life.doomed,
        deduced=deduced,
        last_entry=shown(life.last),
        why=_why(life, lang),
    )


def _why(life: Life, lang: str) -> str:
    """How the end of a run is known, in a short plain sentence."""
    if life.reason == "running":
        return say("why_running", lang)
    if life.code_stated:
        told = life.told if not life.named_by_service and life.described else None
        name = "why_service" if life.named_by_service else "why_state" if told else "why_runner"
        return say(name, lang, code=life.exit_code, told=told)
    if life.end_stated:
        return say("why_state", lang, told=life.told) if life.told else say("why_exit_line", lang)
    known = {
        "maintenance": "why_moved", "retryable": "why_again", "stopped": "why_stopped", "completed": "why_primary",
        "preempted": "why_taken",
    }  # fmt: skip
    return say(known.get(life.reason, "why_last_line"), lang)
