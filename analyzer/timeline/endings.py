"""How each attempt and each life in it ended: what the service says, what runners say, and what follows from the rules."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.model import SECOND
from analyzer.timeline.attempts import VERDICTS, Try
from analyzer.timeline.evidence import Evidence, Signal
from analyzer.timeline.lives import Life
from analyzer.timeline.names import pool_of
from analyzer.timeline.policy import Limits, Policy
from analyzer.timeline.verdicts import AFTER_VERDICT, FRESH, gone_on_after, life_meant

SKEW = 10 * SECOND
STOP_CODES = frozenset((9, 15, 137, 143))
LAST_WORDS = {"job_succeeded": "success", "job_cancelled": "cancelled"}


class Judge:
    """Works out the ends of one job's attempts. Each step fills in what is still open and leaves what is stated."""

    def __init__(self, evidence: Evidence, policy: Policy, limits: Limits, spot: bool) -> None:
        self.evidence = evidence
        self.policy = policy
        self.limits = limits
        self.spot = spot

    def close(self, tries: Sequence[Try]) -> None:
        """Gives every attempt its end and end reason, and every life its end, exit code and reason."""
        for attempt in tries:
            last = attempt is tries[-1]
            self._attribute(attempt)
            self._find_fatal(attempt, last)
            self._mark_doomed(attempt)
            attempt.end_reason = self._end_reason(attempt, last)
            self._reasons(attempt, last)
            attempt.end = self._end(attempt, last)

    # -- the service's words on replicas

    def _attribute(self, attempt: Try) -> None:
        """Gives exit codes that the service names to the lives that they are about; its number is the one that counts."""
        lanes = _by_replica(attempt.lives)
        named: set[int] = set()
        for signal in attempt.signals:
            if signal.event not in ("replica_failed", "replica_out_of_memory") or signal.replica not in lanes:
                continue
            life = life_meant(signal, [life for life in lanes[signal.replica] if id(life) not in named])
            if life is None:
                continue
            named.add(id(life))
            attempt.meant[id(signal)] = life
            if signal.number is not None:
                life.exit_code, life.code_stated = signal.number, True
            life.signal = signal.values.get("signal") or life.signal
            if signal.event == "replica_out_of_memory":
                life.reason, life.memory = "oom", True

    def _find_fatal(self, attempt: Try, last: bool) -> None:
        """The failure that ended the attempt, where one did."""
        if last and self._word(attempt) in ("success", "cancelled"):
            return
        words = [s for s in attempt.signals if s.event in VERDICTS]
        if words and not gone_on_after(words[-1], attempt.lives):
            attempt.fatal = words[-1]
            attempt.root = self._root_of(attempt, [s for s in words if words[-1].moment - s.moment < FRESH])
        elif not any(s.event in ("stockout", "internal_error") for s in attempt.signals):
            attempt.root = min(self._failed_last(attempt), key=_blame, default=None)

    def _failed_last(self, attempt: Try) -> list[Life]:
        """Lives that failed and were not survived: a replica's last one, or the one before a container soon shut down."""
        torn_down = min((s.moment for s in attempt.signals if s.event == "teardown"), default=None)
        found = []
        for lives in attempt.lanes().values():
            life = lives[-1]
            if not life.failed and len(lives) > 1 and life.last - life.begin < AFTER_VERDICT:
                life = lives[-2]
            told = torn_down is not None and life.finish > torn_down - SKEW and life.exit_code in STOP_CODES
            if life.failed and not told:
                found.append(life)
        return found

    def _root_of(self, attempt: Try, words: Sequence[Signal]) -> Life | None:
        named = []
        for signal in words:
            if signal.event in ("low_memory", "low_disk"):
                pools = [pool.strip() for pool in signal.values.get("pool", "").split(",")]
                members = [life for life in attempt.lives if pool_of(life.replica) in pools]
                if len({life.replica for life in members}) == 1:
                    named.append(members[-1])
            elif id(signal) in attempt.meant:
                named.append(attempt.meant[id(signal)])
        return min(named, key=_blame, default=None)

    def _mark_doomed(self, attempt: Try) -> None:
        """Marks containers that were started again though the attempt had already failed for good."""
        failed_at = self._failed_at(attempt)
        if failed_at is None:
            return
        for lives in attempt.lanes().values():
            for before, life in zip(lives, lives[1:], strict=False):
                ended = before.finish
                life.doomed = before is attempt.root or before.doomed or (ended >= failed_at - SKEW and life.begin > failed_at)

    def _failed_at(self, attempt: Try) -> int | None:
        if attempt.root is not None:
            return attempt.root.finish
        return attempt.fatal.moment if attempt.fatal is not None else None

    # -- how the attempt ended

    def _word(self, attempt: Try) -> str | None:
        """The service's last word on the job in this attempt."""
        words = [s for s in attempt.signals if s.event in ("job_succeeded", "job_failed", "job_cancelled")]
        return LAST_WORDS.get(words[-1].event, "failed") if words else None

    def _end_reason(self, attempt: Try, last: bool) -> str | None:
        word = self._word(attempt)
        if word in ("success", "cancelled"):
            return word
        ender = next((s for s in reversed(attempt.signals) if s.event in ("stockout", "internal_error", "quota_denied")), None)
        if attempt.fatal is None and ender is not None:
            return self._placement(attempt, ender)
        if attempt.fatal is not None or attempt.root is not None:
            return self._failure(attempt)
        if not last:
            return self._quiet(attempt)
        if word == "failed":
            return "unknown"
        return self._last_without_word(attempt)

    def _placement(self, attempt: Try, ender: Signal) -> str:
        if ender.event == "internal_error":
            return "internal"
        if ender.event == "quota_denied":
            return "quota"
        return "preemption" if self.policy.spot_restarts and self._was_running(attempt) else "stockout"

    def _was_running(self, attempt: Try) -> bool:
        """Whether all replicas had come up, so that a lack of capacity means that machines were taken away."""
        if attempt.running is not None:
            return True
        came = {life.replica for life in attempt.lives}
        return bool(came) and came >= self.evidence.names.known and any(life.last_step is not None for life in attempt.lives)

    def _failure(self, attempt: Try) -> str:
        root, fatal = attempt.root, attempt.fatal
        if fatal is not None and fatal.event in ("replica_out_of_memory", "low_memory"):
            return "out_of_memory"
        if fatal is not None and fatal.event == "low_disk":
            return "storage"
        if root is None:
            number = fatal.number if fatal is not None else None
            return "crash" if number in self.policy.transient_exit_codes else "user_exception"
        if root.reason == "oom" or root.told == "OOMKilled":
            return "out_of_memory"
        if root.told in _TOLD:
            return _TOLD[root.told]
        taken = self.policy.exit_reasons.get(root.exit_code or 0)
        if taken in ("preempted", "maintenance"):
            return "preemption"
        if self._exhausted(root, attempt):
            return "restarts_exhausted"
        return "crash" if root.exit_code in self.policy.transient_exit_codes else "user_exception"

    def _exhausted(self, root: Life, attempt: Try) -> bool:
        limit = self.limits.worker_restarts
        if limit is None:
            return False
        lives = attempt.lanes()[root.lane]
        before = lives[: lives.index(root) + 1]
        return sum(one.unit == other.unit for one, other in zip(before, before[1:], strict=False)) >= limit

    def _quiet(self, attempt: Try) -> str:
        """Why an attempt ended that no line tells of: its restarts used up, a crash, or machines taken away."""
        for lives in attempt.lanes().values():
            if not lives[-1].doomed and self._exhausted(lives[-1], attempt):
                attempt.root = lives[-1]
                return "restarts_exhausted"
        if any(s.event in ("preempted", "evicted") for s in self._machine_words(attempt)):
            return "preemption"
        if self.spot or any(life.stop is not None for life in attempt.lives):
            return "preemption"
        crashed = [life for life in attempt.lives if life.failure is not None and life.roots]
        if crashed:
            attempt.root = min(crashed, key=_blame)
            return "crash" if self.policy.transient_exit_codes else "user_exception"
        return "preemption" if self.policy.spot_restarts and attempt.lives else "unknown"

    def _machine_words(self, attempt: Try) -> list[Signal]:
        first = min((life.begin for life in attempt.lives), default=attempt.begin)
        last = max((life.last for life in attempt.lives), default=attempt.begin)
        return [s for s in self.evidence.machines if first <= s.moment <= last + 600 * SECOND]

    def _last_without_word(self, attempt: Try) -> str | None:
        """The end of a last attempt without the service's last word: by the primary's exit, or by a teardown."""
        primary = self.primary(attempt)
        if primary is not None and primary.exit_code == 0:
            return "success"
        if any(s.event == "teardown" for s in attempt.signals):
            return "timeout" if self._timed_out(attempt) else "cancelled"
        if attempt.lives and all(life.exit_code == 0 for life in attempt.lives if not life.doomed):
            return "success"
        return None

    def _timed_out(self, attempt: Try) -> bool:
        begun = attempt.running or min((life.begin for life in attempt.lives), default=attempt.begin)
        ended = next((s.moment for s in attempt.signals if s.event == "teardown"), begun)
        return self.limits.timeout is not None and ended - begun >= (self.limits.timeout - 60) * SECOND

    def primary(self, attempt: Try) -> Life | None:
        """The last life of the replica whose exit ends the job."""
        names = [life.replica for life in attempt.lives]
        chosen = next((n for n in ("workerpool0-0", "master-replica-0", "chief-replica-0") if n in names), None)
        if chosen is None and len(set(names)) == 1:
            chosen = names[0]
        lives = [life for life in attempt.lives if life.replica == chosen and not life.doomed]
        return lives[-1] if lives else None

    # -- how each life ended

    def _reasons(self, attempt: Try, last: bool) -> None:
        over = not (last and attempt.end_reason is None)
        taken = self._taken(attempt)
        for lives in attempt.lanes().values():
            for n, life in enumerate(lives):
                following = lives[n + 1] if n + 1 < len(lives) else None
                if following is not None:
                    self._ended_inside(life, following, attempt)
                elif not over and life.end is None and life.exit_code is None:
                    life.reason = "running"
                else:
                    self._ended_last(life, attempt, taken)
                if life.signal is None:
                    life.signal = signal_of(life.exit_code, life.code_stated)

    def _ended_inside(self, life: Life, following: Life, attempt: Try) -> None:
        """A life that was followed by another one in the same attempt."""
        if life.exit_code == 0:
            life.reason = "completed"
        elif life.reason == "oom" or (life is attempt.root and following.doomed):
            self._ended_last(life, attempt, None)
        elif following.doomed:
            life.reason, life.reason_deduced = self._beside(life, attempt), True
        elif life.unit is not None and following.unit is not None and life.unit != following.unit:
            life.reason = self._moved(life)
        else:
            life.reason = "oom" if life.told == "OOMKilled" else "retryable"
            life.reason_deduced = not life.code_stated

    def _moved(self, life: Life) -> str:
        if life.failed and life.exit_code not in STOP_CODES:
            return self.policy.exit_reasons.get(life.exit_code or 0, "retryable")
        for signal in self.evidence.machines:
            if signal.moment >= life.begin - SKEW and signal.moment <= life.last + 600 * SECOND and _same_machine(signal, life):
                return {"evicted": "preempted", "host_error": "unknown"}.get(signal.event, signal.event)
        life.reason_deduced = True
        return self.policy.moved_means

    def _ended_last(self, life: Life, attempt: Try, taken: Life | None) -> None:
        reason = attempt.end_reason
        life.reason_deduced = not life.code_stated
        if life.reason == "oom":
            life.reason_deduced = False
        elif life.exit_code == 0:
            life.reason = "completed"
        elif life is attempt.root:
            life.reason = self._root_reason(life, attempt)
        elif life is taken:
            life.reason, life.reason_deduced = "preempted", True
        elif reason == "success" and life is self.primary(attempt):
            self._completed(life)
        else:
            life.reason = self._beside(life, attempt)

    def _completed(self, life: Life) -> None:
        life.reason = "completed"
        if life.exit_code is None and self.policy.primary_exit_ends_job:
            life.exit_code = 0

    def _root_reason(self, life: Life, attempt: Try) -> str:
        if attempt.end_reason == "out_of_memory":
            return "oom"
        if attempt.end_reason == "restarts_exhausted":
            return "retryable"
        if attempt.end_reason == "preemption":
            return "preempted"
        if life.exit_code in self.policy.transient_exit_codes or (attempt.end_reason == "crash" and life.exit_code is None):
            return "crash"
        return "error"

    def _beside(self, life: Life, attempt: Try) -> str:
        """The end of a replica that was not the one to blame: it fell with its peer, or the service stopped it."""
        if attempt.end_reason == "success" and life.done and life.stop is None and not life.failed:
            return "completed"
        if life.failed and life.exit_code not in STOP_CODES:
            failed_at = self._failed_at(attempt)
            if failed_at is None:
                return "crash" if life.exit_code in self.policy.transient_exit_codes else "error"
            return "cascade"
        if not attempt.signals and attempt.root is None and life.exit_code is None:
            return "unknown"
        return "stopped"

    def _taken(self, attempt: Try) -> Life | None:
        """The replica whose machine was taken away in an attempt that ended by preemption: the first to be told to end."""
        if attempt.end_reason != "preemption" or attempt.root is not None:
            return attempt.root
        last = [lives[-1] for lives in attempt.lanes().values()]
        hit = next((life for s in self._machine_words(attempt) for life in last if _same_machine(s, life)), None)
        if hit is None:
            hit = min(last, key=_first_to_go, default=None)
        attempt.root = hit
        return hit

    # -- when it ended

    def _end(self, attempt: Try, last: bool) -> int | None:
        if last and attempt.end_reason is None:
            return None
        final = [s.moment for s in attempt.signals if s.event in ("job_succeeded", "job_failed", "job_cancelled", "teardown")]
        if last and final:
            return max(final)
        lives = [life for life in attempt.lives if not life.doomed]
        words = [attempt.fatal.moment] if attempt.fatal is not None else []
        words += [s.moment for s in attempt.signals if s.event in ("stockout", "internal_error")]
        latest = max(lives, key=lambda life: life.finish, default=None)
        if latest is None or latest.end_stated:
            return max((*words, *(life.finish for life in lives)), default=None)
        # Nothing states the last container's end, so the failure that ended the attempt stands for it.
        if words:
            return words[-1]
        return attempt.root.finish if attempt.root is not None and attempt.root.end_stated else latest.finish


_TOLD = {"Evicted": "preemption", "NodeShutdown": "preemption", "NodeLost": "preemption", "DeadlineExceeded": "timeout"}


def _by_replica(lives: Sequence[Life]) -> dict[str | None, list[Life]]:
    found: dict[str | None, list[Life]] = {}
    for life in lives:
        found.setdefault(life.replica, []).append(life)
    return found


def _blame(life: Life) -> tuple[bool, int, str]:
    """Orders failed lives: one with a cause of its own before one that only complains of a peer, then by time."""
    return (life.cascades > 0 and life.roots == 0, life.finish, life.replica)


def _first_to_go(life: Life) -> tuple[bool, int, str]:
    """Orders lives by who was told to end before a peer's death showed in its own lines."""
    told = life.stop is not None and (life.first_cascade is None or life.first_cascade > life.stop)
    return (not told, life.stop if life.stop is not None and told else life.last, life.replica)


def _same_machine(signal: Signal, life: Life) -> bool:
    node = signal.finding.message.first.node or signal.values.get("node")
    return (node is not None and node == life.node) or signal.replica == life.replica


def signal_of(code: int | None, stated: bool) -> str | None:
    """The signal that an exit code stands for: 128+n of a container; None where the code is no death by signal."""
    names = {1: "SIGHUP", 2: "SIGINT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV",
             13: "SIGPIPE", 15: "SIGTERM"}  # fmt: skip
    if code is None or not stated:
        return None
    return names.get(code - 128) if code > 128 else None
