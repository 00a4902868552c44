"""Whether a job fails again and again in the same way, and at the same place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from analyzer.model import label_of
from analyzer.timeline.attempts import Try
from analyzer.timeline.beginnings import mask
from analyzer.timeline.lives import Life
from analyzer.timeline.sentences import say, title_of

FAILURES = frozenset(("error", "oom", "crash", "retryable"))
MOST_NAMED = 3


class Repeat(msgspec.Struct, frozen=True):
    """Several failures of one replica, or of the job where each attempt failed on another one."""

    who: str
    lives: tuple[Life, ...]

    @property
    def same_kind(self) -> bool:
        """Whether all of them ended in the same way: the same message, numbers aside, and the same exit code."""
        codes = {life.exit_code for life in self.lives} - {None}
        return len(codes) < 2 and len({_kind(life) for life in self.lives}) == 1

    @property
    def steps(self) -> list[int]:
        """The last steps before the failures, where all are known."""
        steps = [life.last_step for life in self.lives if life.last_step is not None]
        return steps if len(steps) == len(self.lives) else []

    @property
    def recurs(self) -> bool:
        """Whether it is one error at one place, as far as is known, so that saving more often helps nothing."""
        known = self.lives[-1].finding is not None
        return self.same_kind and (len(set(self.steps)) == 1 if self.steps else known)


def repeats(tries: Sequence[Try], job: str) -> list[Repeat]:
    """Replicas that failed more than once, in order of name; else the job, where more than one attempt failed."""
    by_replica: dict[str, list[Life]] = {}
    for life in _failed(life for attempt in tries for life in attempt.lives):
        by_replica.setdefault(label_of(life.replica, life.trial), []).append(life)
    found = [Repeat(name, tuple(lives)) for name, lives in sorted(by_replica.items()) if len(lives) > 1]
    if found:
        return found
    roots = tuple(_failed(attempt.root for attempt in tries if attempt.root is not None))
    return [Repeat(job, roots)] if len(roots) > 1 else []


def tell_repeats(found: Sequence[Repeat], lang: str) -> list[str]:
    """A sentence for each of the first few."""
    return [_tell(repeat, lang) for repeat in found[:MOST_NAMED]]


def _tell(repeat: Repeat, lang: str) -> str:
    times, steps = len(repeat.lives), repeat.steps
    if not repeat.same_kind:
        what = "; ".join(dict.fromkeys(_what(life, lang) for life in repeat.lives[:MOST_NAMED]))
        return say("failures_differ", lang, replica=repeat.who, times=times, what=what)
    telling = [life for life in repeat.lives if life.exit_code is not None] or list(repeat.lives)
    what = _what(telling[-1], lang)
    if steps and len(set(steps)) == 1:
        place = say("at_step", lang, step=steps[0])
        return say("same_failure", lang, replica=repeat.who, times=times, place=place, what=what)
    if steps:
        shown = ", ".join(str(step) for step in steps[:5]) + (", …" if len(steps) > 5 else "")
        return say("same_failure_elsewhere", lang, replica=repeat.who, times=times, steps=shown, what=what)
    return say("same_failure_again", lang, replica=repeat.who, times=times, what=what)


def _failed(lives: Iterable[Life]) -> list[Life]:
    return [life for life in lives if life.reason in FAILURES and not life.doomed]


def _kind(life: Life) -> tuple[str, str] | None:
    return (life.finding.rule.id, mask(life.finding.message.text)) if life.finding is not None else None


def _what(life: Life, lang: str) -> str:
    if life.finding is not None:
        return title_of(life.finding, life.replica, lang)
    return say("no_exit_code", lang) if life.exit_code is None else say("exit_code", lang, code=life.exit_code)
