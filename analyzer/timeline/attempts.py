"""Attempts: the lives of all replicas cut where the whole job was tried again.

What tells of a new attempt, the surest first: an attempt number on the entries; a scheduler's word that it starts the
job again; the service setting the job up a second time; a container after the service's word that the attempt could
not be placed or failed; and, where a retry left no line at all, all replicas coming back on other machines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from analyzer.model import SECOND
from analyzer.timeline.evidence import Signal, number_in
from analyzer.timeline.lives import Life
from analyzer.timeline.policy import Limits, Policy
from analyzer.timeline.verdicts import AFTER_VERDICT, gone_on_after

SKEW = 10 * SECOND
"""Clocks of replicas and service may be this far apart."""
SAME_WORD = 60 * SECOND
"""Two words about one retry (requeue and its confirmation) come within this time."""
ENDERS = frozenset(("stockout", "internal_error"))
FINAL = frozenset(("job_succeeded", "job_failed", "job_cancelled"))
VERDICTS = frozenset(("replica_failed", "replica_out_of_memory", "low_memory", "low_disk"))


class Try(msgspec.Struct, eq=False):
    """One attempt while it is being worked out."""

    number: int
    begin: int
    lives: list[Life] = []
    signals: list[Signal] = []
    rules: set[str] = set()
    ended: Signal | None = None
    label: int | None = None
    earlier: int | None = None  # how many attempts a line counts before it
    running: int | None = None
    end: int | None = None
    end_reason: str | None = None
    root: Life | None = None
    fatal: Signal | None = None
    announced: bool = False  # a scheduler or controller said that it starts the job again
    quiet: bool = False  # nothing but new machines tells that it began
    current: dict[str, Life] = {}  # the last life of each lane so far
    fates: Counter[str] = msgspec.field(default_factory=Counter)  # what follows those: see `Cutter._fate`
    latest: int = 0  # the last line of any life so far
    meant: dict[int, Life] = {}  # which life a word of the service is about, by its place

    @property
    def start(self) -> int | None:
        """Its first line, or its first container's start; None where the log begins in the middle of it."""
        if any(life.start_cut for life in self.lives):
            return None
        return min((self.begin, *(life.begin for life in self.lives), *(signal.moment for signal in self.signals)))

    @property
    def over(self) -> bool:
        """Whether the service's last word on the job was heard: what is said after it repeats what is known."""
        return any(signal.event in FINAL for signal in self.signals)

    def lanes(self) -> dict[str, list[Life]]:
        """Its lives by lane, in order."""
        found: dict[str, list[Life]] = {}
        for life in self.lives:
            found.setdefault(life.lane, []).append(life)
        return found


def earlier_attempts(values: Mapping[str, str]) -> int:
    """How many attempts a line counts before its own: as it says, by how they ended, or by its own number from 1."""
    attempt = number_in(values, "attempt")
    if attempt is not None:
        return max(attempt - 1, 0)
    return sum(number_in(values, name) or 0 for name in ("count", "preempted", "failed"))


def begun_again(job: Sequence[Signal]) -> list[Signal]:
    """The words, in order, after which the job's next attempt prints: a higher number, or a start after a requeue."""
    found: list[Signal] = []
    known: dict[str, int] = {}
    requeued = False
    for signal in job:
        if signal.event == "job_restart":
            requeued = True
        elif signal.event == "attempt_begin" and requeued:
            requeued = False
            found.append(signal)
        elif signal.event in ("numbered_attempt", "earlier_attempts"):
            numbered = signal.event == "numbered_attempt"
            number = (number_in(signal.values, "attempt") or 0) if numbered else earlier_attempts(signal.values)
            if number > known.setdefault(signal.event, number):
                found.append(signal)
            known[signal.event] = number
    return found


class Cutter:
    """Walks through lives and the service's words in order of time and cuts them into attempts."""

    def __init__(self, lanes: Mapping[str, Sequence[Life]], policy: Policy, limits: Limits, spot: bool) -> None:
        self.lanes = lanes
        self.policy = policy
        self.limits = limits
        self.spot = spot
        self.order = {id(life): n for lives in lanes.values() for n, life in enumerate(lives)}
        self.of_life: dict[int, Try] = {}
        self.tries: list[Try] = []

    def cut(self, job: Sequence[Signal]) -> list[Try]:
        """All attempts in order. Words that come before anything else belong to the first.

        Trials of a hyperparameter tuning job run side by side, and one that begins is no retry of another: they are
        lanes of one attempt.
        """
        if any(life.trial is not None for lives in self.lanes.values() for life in lives):
            return [self._of_trials(job)]
        steps: list[tuple[int, int, int, Signal | Life]] = [(s.moment, 1, s.place, s) for s in job]
        # A life that the log begins in the middle of was there before anything that the log tells.
        lives = [life for lane in self.lanes.values() for life in lane]
        steps += [(-1 if life.start_cut else life.begin, 0, life.place, life) for life in lives]
        for _, _, _, step in sorted(steps, key=lambda item: item[:3]):
            if not self.tries:
                self.tries.append(Try(1, step.begin if isinstance(step, Life) else step.moment))
            if isinstance(step, Life):
                self._live(step)
            else:
                self._hear(step)
        return [attempt for attempt in self.tries if attempt.lives or attempt.signals]

    def _of_trials(self, job: Sequence[Signal]) -> Try:
        lives = sorted((life for lane in self.lanes.values() for life in lane), key=lambda life: life.begin)
        running = next((signal.moment for signal in job if signal.event == "job_running"), None)
        begin = min((lives[0].begin, *(signal.moment for signal in job)))
        return Try(1, begin, lives=lives, signals=list(job), running=running)

    @property
    def now(self) -> Try:
        """The attempt that is going on."""
        return self.tries[-1]

    def _next(self, begin: int, *, announced: bool = False, quiet: bool = False) -> Try:
        self.tries.append(Try(self.now.number + 1, begin, announced=announced, quiet=quiet))
        return self.now

    # -- the service's words

    def _hear(self, signal: Signal) -> None:
        event, now = signal.event, self.now
        if event == "attempt_begin":
            if self._begins_again(signal):
                now = self._next(signal.moment)
            now.rules.add(signal.finding.rule.id)
        elif event == "job_restart":
            if (now.lives or now.ended or now.rules) and not self._already_told(signal):
                now = self._next(signal.moment, announced=True)
        elif event == "restart":
            if self._all_start_again(signal.moment):
                now = self._next(signal.moment, announced=True)
        elif event == "numbered_attempt":
            now = self._numbered(signal)
        elif event == "earlier_attempts":
            now = self._counted(signal)
        elif event == "job_running" and now.running is not None and self._all_changed(signal.moment):
            now = self._next(signal.moment)
        if event == "job_running" and now.running is None:
            now.running = signal.moment
        if event in ENDERS:
            if now.ended is not None and not now.over and signal.moment - now.ended.moment > SAME_WORD:
                now = self._next(signal.moment)
            now.ended = signal
        now.signals.append(signal)

    def _numbered(self, signal: Signal) -> Try:
        """The attempt that a scheduler's line gives a number to; a higher one than the last begins a new attempt."""
        number = number_in(signal.values, "attempt") or 0
        known = self.now.label
        first_seen = known is None and self.now.number == 1 and bool(self.now.lives)
        if number > (0 if first_seen else number if known is None else known):
            self._next(signal.moment, announced=True)
        self.now.label = number
        return self.now

    def _counted(self, signal: Signal) -> Try:
        """The attempt that a line belongs to which counts those before it; a higher count begins a new attempt."""
        number, known = earlier_attempts(signal.values), self.now.earlier
        if known is not None and number > known:
            self._next(signal.moment, announced=True)
        self.now.earlier = number
        return self.now

    def _begins_again(self, signal: Signal) -> bool:
        now = self.now
        if now.ended is not None or signal.finding.rule.id in now.rules:
            return True
        return any(life.begin < signal.moment - SKEW for life in now.lives)

    def _already_told(self, signal: Signal) -> bool:
        told = [other for other in self.now.signals if other.event == "job_restart"]
        return bool(told) and signal.moment - told[-1].moment < SAME_WORD

    def _all_start_again(self, moment: int) -> bool:
        """Whether all of several replicas end after a controller's word on a restart, and then begin a further life."""
        following = [self._following(life) for life in self.now.current.values()]
        return len(following) > 1 and all(life is not None and life.begin > moment for life in following)

    # -- lives

    def _live(self, life: Life) -> None:
        previous = self._previous(life)
        attempt = self._attempt_of(life, previous)
        if attempt.label is None and life.label is not None:
            attempt.label = life.label
        attempt.lives.append(life)
        replaced = attempt.current.get(life.lane)
        if replaced is not None:
            attempt.fates[self._fate(replaced)] -= 1
        attempt.current[life.lane] = life
        attempt.fates[self._fate(life)] += 1
        attempt.latest = max(attempt.latest, life.last)
        self.of_life[id(life)] = attempt

    def _previous(self, life: Life) -> Life | None:
        number = self.order[id(life)]
        return self.lanes[life.lane][number - 1] if number else None

    def _attempt_of(self, life: Life, previous: Life | None) -> Try:
        now = self.now
        if life.label is not None and now.label is not None:
            return self._by_label(life)
        before = self.of_life.get(id(previous)) if previous is not None else None
        same_unit = previous is not None and previous.unit is not None and previous.unit == life.unit
        if before is not None and before is not now:
            return before if same_unit and not self._told_before(life) else now
        if self.limits.restart_job and self._whole_job_restarts(life, previous):
            return self._next(life.begin, announced=True)
        if not same_unit and self._tried_again(life, previous):
            return self._next(life.begin, quiet=True)
        return now

    def _whole_job_restarts(self, life: Life, previous: Life | None) -> bool:
        """Whether a life begins a retry of a job that its description restarts as a whole for any worker's restart.

        All its replicas begin again then; one that starts only to be shut down with the job does not.
        """
        if previous is None or self.of_life.get(id(previous)) is not self.now:
            return False
        return not self.now.fates["silent"] and self._lasts(life)

    def _lasts(self, life: Life) -> bool:
        """Whether a container works on after its start, or at least is started once more."""
        return life.healthy - life.begin > AFTER_VERDICT or self._following(life) is not None

    def _told_before(self, life: Life) -> bool:
        """Whether the attempt that is going on had been announced before a container started."""
        return (self.now.announced or bool(self.now.rules)) and self.now.begin < life.begin

    def _by_label(self, life: Life) -> Try:
        now = self.now
        if life.label == now.label:
            return now
        for earlier in reversed(self.tries[-3:]):
            if earlier.label == life.label and life.begin - earlier.latest < SKEW:
                return earlier
        if not now.lives and now.label is None:
            return now
        return self._next(life.begin)

    def _tried_again(self, life: Life, previous: Life | None) -> bool:
        now = self.now
        if now.ended is not None and life.begin > now.ended.moment - SKEW:
            return True
        if not now.current or life.start_cut:
            return False
        if previous is not None and (previous.unit is None or life.unit is None):
            # Where no line names its machine, one that is started only to be shut down is no sign of a retry.
            return self.policy.primary_exit_ends_job and self._lasts(life) and self._all_changed(life.begin)
        if len(now.current) > 1 or previous is None:
            return self._all_changed(life.begin)
        return self._single_tried_again(previous, life)

    def _failed_for_good(self, moment: int) -> bool:
        """Whether the service named a transient exit code that its replica did not survive."""
        for signal in reversed(self.now.signals):
            if signal.event in VERDICTS and signal.moment < moment:
                transient = signal.number in self.policy.transient_exit_codes
                return transient and not gone_on_after(signal, self.now.lives, moment)
        return False

    def _all_changed(self, moment: int) -> bool:
        """Whether every replica that says anything after a moment says it from another machine than before.

        Where the service named a failure that is tried again, one such replica is enough, else it must be most of them.
        """
        now = self.now
        if now.latest > moment + SKEW or now.fates["goes on"]:
            return False
        if now.fates["changed"] and self._failed_for_good(moment):
            return True
        return now.fates["changed"] > now.fates["silent"] and now.fates["changed"] >= 2

    def _fate(self, life: Life) -> str:
        """Whether its lane is silent after it, or begins again, and then on another machine or on the same."""
        following = self._following(life)
        if following is None:
            return "silent"
        unknown = following.unit is None or life.unit is None
        return "changed" if unknown or following.unit != life.unit else "goes on"

    def _following(self, life: Life) -> Life | None:
        lives, number = self.lanes[life.lane], self.order[id(life)] + 1
        return lives[number] if number < len(lives) else None

    def _single_tried_again(self, previous: Life, life: Life) -> bool:
        """The same for a job of one replica, where another machine alone may also mean that its VM was replaced."""
        if self.policy.replaced == "retry" or self.spot:
            return True
        if previous.exit_code in self.policy.transient_exit_codes or self._failed_for_good(life.begin):
            return True
        limit = self.limits.worker_restarts
        restarts = sum(other.unit == previous.unit for other in self.now.lives) - 1
        named = sum(s.event == "replica_failed" and s.replica == life.replica for s in self.now.signals)
        return limit is not None and max(restarts, named) >= limit
