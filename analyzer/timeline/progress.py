"""Steps, checkpoints and what was lost: how far the training came, where it resumed, what each restart cost."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import zip_longest

import msgspec

from analyzer.model import SECOND, Checkpoint, Progress
from analyzer.timeline.attempts import ENDERS, VERDICTS, Try
from analyzer.timeline.evidence import Evidence, Signal
from analyzer.timeline.lives import Life, step_of

SAME_CHECKPOINT = 600 * SECOND
"""Lines about one checkpoint (started, written, finished) come within this time."""


class Saved(msgspec.Struct, frozen=True):
    """A line that says that a checkpoint was written."""

    moment: int
    replica: str | None
    step: int | None
    signal: Signal
    write: int = 0  # ns from the first line about it to the last, where several tell of one


def saved_checkpoints(evidence: Evidence) -> list[Saved]:
    """All checkpoints in order of time; of several lines of a replica about one step the last."""
    found: dict[tuple[str | None, int | None, int], Saved] = {}
    for name, items in evidence.lanes.items():
        known: dict[int, Saved] = {}
        for item in items:
            for signal in item.signals:
                if signal.event != "checkpoint_saved":
                    continue
                step = step_of(signal.values)
                before = known.get(step) if step is not None else None
                write = 0
                if before is not None and signal.moment - before.moment < SAME_CHECKPOINT:
                    found.pop((name, before.step, before.signal.place), None)
                    write = before.write + signal.moment - before.moment
                saved = Saved(signal.moment, signal.replica or name or None, step, signal, write)
                found[name, step, signal.place] = saved
                if step is not None:
                    known[step] = saved
    return sorted(found.values(), key=lambda s: (s.moment, s.signal.place))


def shown_checkpoints(saved: Sequence[Saved], evidence: Evidence) -> list[Checkpoint]:
    """The checkpoints as the contract has them."""
    return [Checkpoint(replica=s.replica, time=evidence.clock.shown(s.moment), step=s.step) for s in saved]


def progress_of(tries: Sequence[Try], evidence: Evidence) -> Progress:
    """The last step that was logged, and where the last life that resumed took up."""
    lives = [life for attempt in tries for life in attempt.lives if not life.doomed]
    stepped = [life for life in lives if life.last_step is not None]
    latest = max(stepped, key=lambda life: (life.step_moment or 0, life.last_step or 0), default=None)
    resumed = [life for life in lives if life.resumed is not None]
    taken_up = max(resumed, key=lambda life: life.resumed_at or 0, default=None)
    return Progress(
        last_step=latest.last_step if latest else None,
        last_step_time=evidence.clock.shown(latest.step_moment) if latest else None,
        resumed_from_step=taken_up.resumed if taken_up else None,
    )


def lost_seconds(tries: Sequence[Try], saved: Sequence[Saved], evidence: Evidence) -> float | None:
    """Work lost at the end: from the last checkpoint, or from when all replicas ran, to the end of the failing run.

    A run that ended silently may have worked until something tells of its end, not only until its last line. None where
    no line shows any work.
    """
    if not tries or not evidence.clock.real or tries[-1].end_reason in (None, "success"):
        return None
    if not shows_work(tries, saved):
        return None
    last = tries[-1]
    ran = [moment for attempt in tries if (moment := all_up(attempt)) is not None]
    failing = last.root if last.root is not None else _last_life(last.lives)
    if failing is None:
        return None
    end = known_ends(last)[id(failing)]
    since = next((s.moment for s in reversed(saved) if s.moment <= end), ran[0] if ran else None)
    return None if since is None else max(end - since, 0) / SECOND


def shows_work(tries: Sequence[Try], saved: Sequence[Saved]) -> bool:
    """Whether a line shows that the program got to work at all: a step or a checkpoint."""
    return bool(saved) or any(life.last_step is not None for attempt in tries for life in attempt.lives)


def known_ends(attempt: Try) -> dict[int, int]:
    """When each life of an attempt had ended at the latest, by its identity: as stated, else as something tells of it.

    That is the service's word or the container's next start. A life that printed its own failure, or that it was told
    to end, did not work any longer than that.
    """
    words = sorted(signal.moment for signal in attempt.signals if signal.event in ENDERS | VERDICTS)
    found: dict[int, int] = {}
    for lives in attempt.lanes().values():
        for life, following in zip_longest(lives, lives[1:]):
            failed = life.failure is not None and life.failure >= life.healthy
            at = bisect_right(words, life.last)
            later = words[at : at + 1] + ([following.begin] if following is not None else [])
            silent = not (life.end_stated or failed or life.stop is not None)
            found[id(life)] = min(later, default=life.finish) if silent else life.finish
    return found


def all_up(attempt: Try) -> int | None:
    """When all replicas of an attempt ran: as the service says, else (it is the rule) when the last one had started."""
    if attempt.running is not None or not attempt.lives or attempt.start is None:
        return attempt.running
    return max(lives[0].begin for lives in attempt.lanes().values())


def _last_life(lives: Iterable[Life]) -> Life | None:
    return max((life for life in lives if not life.doomed), key=lambda life: life.finish, default=None)
