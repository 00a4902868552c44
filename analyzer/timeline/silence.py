"""Hangs: the replica that stopped talking first, and what each said last before it waited in vain."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.model import SECOND
from analyzer.timeline.attempts import Try
from analyzer.timeline.beginnings import mask
from analyzer.timeline.clock import Clock
from analyzer.timeline.lives import Life
from analyzer.timeline.sentences import duration, say

SILENCE = 30 * SECOND
"""A replica that says nothing for so long while others do, or before it complains, is taken to have hung."""
_OTHER_STORIES = frozenset((None, "success", "cancelled", "out_of_memory", "preemption", "stockout", "internal"))
"""Ends of attempts that tell by themselves why replicas waited for others."""
MOST_LINES = 3
LONGEST = 100


def tell_silence(tries: Sequence[Try], clock: Clock, lang: str) -> list[str]:
    """The replica that stopped talking first, where a failed attempt has no failure of its own but only complaints."""
    if not tries or not clock.real or tries[-1].end_reason in _OTHER_STORIES:
        return []
    last = tries[-1]
    if any(life.trial is not None for life in last.lives):
        return []
    if any(life.roots and not life.cascades for life in last.lives) or not any(life.cascades for life in last.lives):
        return []
    ends = sorted((lives[-1] for lives in last.lanes().values() if lives[-1].output), key=_silent_since)
    if len(ends) < 2:
        return []
    return _first(ends, clock, lang) + _last_lines(ends, lang)


def _silent_since(life: Life) -> tuple[int, str]:
    return life.healthy, life.lane


def _first(ends: Sequence[Life], clock: Clock, lang: str) -> list[str]:
    first, second = ends[:2]
    pace = (first.healthy - first.begin) / max(first.lines, 1)
    ahead = second.healthy - first.healthy
    usual = sorted(life.lines for life in ends)[len(ends) // 2]
    if ahead < max(SILENCE, 2 * pace) or first.lines * 4 < usual:  # one that never talked much says nothing by silence
        return []
    time = clock.shown(first.healthy)
    return [say("silent_first", lang, replica=first.replica, ahead=duration(ahead), time=time)]


def _last_lines(ends: Sequence[Life], lang: str) -> list[str]:
    """What the replicas said last before those that complain of the others had waited: like lines are told once."""
    groups: dict[str, list[Life]] = {}
    for life in ends:
        if any(sign.isalnum() for sign in life.healthy_text):
            groups.setdefault(mask(life.healthy_text), []).append(life)
    if not groups or not any(life.waited is not None and life.waited - life.healthy >= SILENCE for life in ends):
        return []
    told = [_said(group, lang) for group in list(groups.values())[:MOST_LINES]]
    return [say("last_lines" if len(groups) <= MOST_LINES else "last_lines_more", lang, lines="; ".join(told))]


def _said(group: Sequence[Life], lang: str) -> str:
    text = group[0].healthy_text.strip().split("\n", 1)[0]
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    if len(group) == 1:
        return say("last_line_of", lang, replica=group[0].replica, line=text)
    return say("last_line_of_several", lang, count=len(group), line=text)
