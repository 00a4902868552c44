"""The course of a job as the judge needs it: lives of replicas, signs of life after a moment, who ended first."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from analyzer.judge.ordinary import Ordinary
from analyzer.judge.sentences import sentence
from analyzer.model import Attempt, Instant, Message, Origin, Run, Timeline
from analyzer.rulebook import Finding
from analyzer.timeline.evidence import trial_of

SIGNS_OF_LIFE = frozenset(("step", "checkpoint_saved", "training_done", "job_succeeded"))
ENDS_BADLY = frozenset(("job_failed", "job_cancelled"))
OWN_WORDS = frozenset((Origin.REPLICA, Origin.TEXT))
ENDS_WELL = frozenset(("training_done", "job_succeeded"))
BEGINNINGS = frozenset(
    ("checkpoint_restored", "container_start", "attempt_begin", "numbered_attempt", "worker_restart", "job_restart",
     "restart")
)  # fmt: skip
OWN_DEATHS = frozenset(("error", "oom", "crash", "retryable", "preempted"))
REFUTES = frozenset(("error", "oom", "crash", "retryable"))
"""Ends of a run that show it did not reach its end, whatever its program said last."""
FAILURES = frozenset(("error", "oom", "crash", "retryable", "preempted", "maintenance", "unknown"))
Speaker = tuple[str | None, object]
"""A replica, and the trial that it is of."""
CLOCK_SLACK = 10.0
"""Seconds that clocks of replicas may be apart (the documented exports differ by up to 5 s each way)."""


class Course:
    """Answers questions about the order of things in one job."""

    def __init__(
        self, messages: Sequence[Message], findings: Sequence[Finding], timeline: Timeline, lang: str = "en"
    ) -> None:
        self.timeline = timeline
        self.lang = lang  # of the reasons that are drawn from it
        self._place = {id(message): place for place, message in enumerate(messages)}
        self._runs = _runs_of(timeline)
        self._last_starts = {
            lane: run.start
            for lane, runs in self._runs.items()
            for _, run in runs
            if not run.doomed and run.start is not None
        }
        self._signs: dict[Speaker, dict[int | None, list[int]]] = {}
        self._all_signs: list[int] = []
        self._beginnings = sorted(
            self._place[id(finding.message)]
            for finding in findings
            if finding.event in BEGINNINGS and id(finding.message) in self._place
        )
        self._ordinary = Ordinary(messages, findings)
        told = [(f.event, self._place[id(f.message)]) for f in findings if id(f.message) in self._place]
        self._first_done = min((place for event, place in told if event == "training_done"), default=None)
        self._last_results = max((place for event, place in told if event == "results"), default=None)
        self._last_good_end: dict[Speaker, int] = {}
        self._last_good_end_of_any: dict[object, int] = {}  # by trial
        # Whether only containers themselves say that the training reached its end.
        self.containers_alone_end_well = all(
            f.message.origin is Origin.REPLICA for f in findings if f.event in ENDS_WELL
        )
        self._told_to_fail = any(f.event in ENDS_BADLY and f.message.origin not in OWN_WORDS for f in findings)
        for finding in findings:
            if finding.event in SIGNS_OF_LIFE and id(finding.message) in self._place and not self._is_refuted(finding):
                place = self._place[id(finding.message)]
                speaker = _speaker(finding.message)
                self._signs.setdefault(speaker, {}).setdefault(finding.message.rank, []).append(place)
                self._all_signs.append(place)
                if finding.event in ENDS_WELL or at_its_end(finding):
                    self._last_good_end[speaker] = max(place, self._last_good_end.get(speaker, -1))
                    any_end = self._last_good_end_of_any.get(speaker[1], -1)
                    self._last_good_end_of_any[speaker[1]] = max(place, any_end)
        for places in (*(by_rank for ranks in self._signs.values() for by_rank in ranks.values()), self._all_signs):
            places.sort()

    @property
    def last_attempt(self) -> Attempt | None:
        """The final attempt that came to anything (one may only have been announced); None without a timeline."""
        attempts = self.timeline.attempts
        tried = [attempt for attempt in attempts if attempt.replicas or attempt.end_reason is not None] or attempts
        return tried[-1] if tried else None

    @property
    def has_peers(self) -> bool:
        """Whether the job has more than one replica."""
        return len({lane.name for attempt in self.timeline.attempts for lane in attempt.replicas}) > 1

    def went_on_after(self, message: Message) -> int:
        """How many signs of life the same stream gave after a message (any rank, where the message names none)."""
        place = self._place.get(id(message))
        if place is None:
            return 0
        return sum(
            len(places) - bisect_right(places, place)
            for rank, places in self._signs.get(_speaker(message), {}).items()
            if rank is None or message.rank is None or rank == message.rank
        )

    def job_went_on_after(self, message: Message) -> int:
        """How many signs of life the whole job gave after a message."""
        place = self._place.get(id(message))
        return 0 if place is None else len(self._all_signs) - bisect_right(self._all_signs, place)

    def output_went_on_after(self, message: Message) -> bool:
        """Whether a program that speaks alone printed its ordinary lines again after a message."""
        place = self._place.get(id(message))
        return place is not None and not self.has_peers and self._ordinary.went_on_after(place)

    def results_stored_around(self, message: Message) -> bool:
        """Whether the training was done before a message, and its results were shown or stored after it."""
        place = self._place.get(id(message))
        if place is None or self._first_done is None or self._last_results is None:
            return False
        return self._first_done < place < self._last_results

    def began_anew_between(self, one: Message, other: Message) -> bool:
        """Whether a container, an attempt or a resumed training began after one message and before another."""
        first, last = self._place.get(id(one)), self._place.get(id(other))
        if first is None or last is None:
            return False
        after = bisect_right(self._beginnings, first)
        return after < len(self._beginnings) and self._beginnings[after] < last

    def ended_well_after(self, message: Message) -> bool:
        """Whether a replica said after a message that training is done, or reached its last step.

        Any replica's word counts, but only that of the message's own where the attempt is known to have failed.
        """
        place = self._place.get(id(message))
        last = self.last_attempt
        failed = last is not None and last.end_reason not in (None, "success", "cancelled")
        speaker = _speaker(message)
        end = self._last_good_end.get(speaker, -1) if failed else self._last_good_end_of_any.get(speaker[1], -1)
        return place is not None and end > place

    def _is_refuted(self, finding: Finding) -> bool:
        """Whether others tell that the job, or the run whose program says it reached its end, ended with a failure."""
        if finding.event != "training_done" or finding.message.origin is not Origin.REPLICA:
            return False
        if self._told_to_fail:
            return True
        pair = self.run_at(finding.message.replica, finding.time, trial_of(finding))
        if pair is None:
            return False
        run = pair[1]
        return run.doomed or (run.reason in REFUTES and run.exit_code not in (None, 0))

    def runs(self, replica: str | None, trial: int | None = None) -> Sequence[tuple[Attempt, Run]]:
        """The runs of a replica (of one trial of a tuning job) over all attempts, in order."""
        return self._runs.get((replica, trial), ())

    def all_runs(self) -> list[tuple[Attempt, Run]]:
        """The runs of all replicas over all attempts."""
        return [pair for runs in self._runs.values() for pair in runs]

    def run_at(self, replica: str | None, time: Instant | None, trial: int | None = None) -> tuple[Attempt, Run] | None:
        """The run of a replica that a moment falls into: the last one that had begun (clock slack allowed for)."""
        known = self.runs(replica, trial)
        runs = [pair for pair in known if not pair[1].doomed] or known
        if not runs:
            return None
        if time is None:
            return runs[-1]
        begun = [pair for pair in runs if pair[1].start is None or pair[1].start <= time]
        return begun[-1] if begun else runs[0]

    def in_last_life(self, replica: str | None, time: Instant | None, trial: int | None = None) -> bool:
        """Whether a moment lies in the replica's last run that counts, and in the last attempt."""
        last = self.last_attempt
        if time is None or last is None:
            return True
        if last.start is not None and time.plus(CLOCK_SLACK) < last.start:
            return False
        start = self._last_starts.get((replica, trial))
        return start is None or time.plus(1.0) >= start

    def exit_of(
        self, replica: str | None, time: Instant | None, trial: int | None = None
    ) -> tuple[int | None, str | None]:
        """Exit code and signal of the run that a moment falls into."""
        pair = self.run_at(replica, time, trial)
        return (pair[1].exit_code, pair[1].signal) if pair else (None, None)

    def failing_run(self) -> tuple[str, Attempt, Run] | None:
        """The run that ended the job: of each replica of the last attempt its last failure, and of these the first.

        Runs that died because a peer died, that the service stopped, or that were started after the end do not count.
        """
        last = self.last_attempt
        ends = []
        for lane in last.replicas if last else ():
            failed = [run for run in lane.runs if not run.doomed and run.reason in FAILURES and run.end is not None]
            if failed and failed[-1].end is not None:
                ends.append((int(failed[-1].end), lane.name, failed[-1]))
        if not ends or last is None:
            return None
        _, name, run = min(ends, key=lambda item: item[:2])
        return name, last, run

    def deaths(self) -> list[tuple[Instant, str, str]]:
        """Runs that ended by themselves, not because of a peer: end, replica, how it is told; in order."""
        found = []
        for attempt in self.timeline.attempts:
            for lane in attempt.replicas:
                for run in lane.runs:
                    if run.end is not None and run.reason in OWN_DEATHS and not run.doomed:
                        how = self._how(run)
                        found.append((run.end, lane.name, how))
        return sorted(found)

    def _how(self, run: Run) -> str:
        if run.exit_code is None:
            return sentence(f"run_{run.reason}", self.lang)
        return sentence("run_code", self.lang, {"code": str(run.exit_code)})


def _speaker(message: Message) -> Speaker:
    """Who says a message. Trials of a tuning job run side by side under the same replicas' names."""
    return message.replica, message.first.fields.get("trial")


def _runs_of(timeline: Timeline) -> dict[Speaker, list[tuple[Attempt, Run]]]:
    found: dict[Speaker, list[tuple[Attempt, Run]]] = {}
    for attempt in timeline.attempts:
        for lane in attempt.replicas:
            found.setdefault((lane.name, lane.trial), []).extend((attempt, run) for run in lane.runs)
    return found


def at_its_end(finding: Finding) -> bool:
    """Whether a progress line has counted up to its total."""
    step, final = finding.values.get("step"), finding.values.get("final_step")
    return finding.event == "step" and step is not None and step == final
