"""How each life of a container ended, once it is known how its attempt did."""

from __future__ import annotations

from analyzer.timeline.attempts import SKEW, Try
from analyzer.timeline.endings import MACHINE_DELAY, Setting, machine_words, primary, same_machine
from analyzer.timeline.failures import STOP_CODES, failed_at, is_of_other_trial
from analyzer.timeline.lives import TOLD, Life
from analyzer.timeline.policy import Policy

_BARE = frozenset((6, 9, 11, 15))
_MACHINE_REASONS = {
    "preempted": "preempted",
    "evicted": "preempted",
    "maintenance": "maintenance",
    "host_error": "unknown",
}
_SIGNALS = {
    1: "SIGHUP", 2: "SIGINT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 10: "SIGUSR1",
    11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 15: "SIGTERM",
}  # fmt: skip


def give_reasons(attempt: Try, last: bool, setting: Setting) -> None:
    """Gives every life of an attempt its reason, and the exit code that follows from it."""
    over = not (last and attempt.end_reason is None)
    taken, main = _taken(attempt, setting), primary(attempt)
    for lives in attempt.lanes().values():
        for n, life in enumerate(lives):
            following = lives[n + 1] if n + 1 < len(lives) else None
            if following is not None:
                _ended_inside(life, following, attempt, setting)
            elif not over and life.end is None and life.exit_code is None:
                life.reason = "running" if setting.told or life.alive else "unknown"
            else:
                _ended_last(life, attempt, setting, taken=taken, main=main)
            life.signal = life.signal or signal_of(life, setting.policy)


def signal_of(life: Life, policy: Policy) -> str | None:
    """The signal that a stated exit code stands for; None where it is no death by signal.

    A container counts 128+n; a built-in runner of the training service gives the bare number of the signals that end
    a program from outside or by a crash.
    """
    code = life.exit_code
    if code is None or not life.code_stated:
        return None
    if policy.runner_signals and life.start_stated and code in _BARE:
        return _SIGNALS[code]
    return _SIGNALS.get(code - 128) if code > 128 else None


def _ended_inside(life: Life, following: Life, attempt: Try, setting: Setting) -> None:
    """A life that was followed by another one in the same attempt."""
    if life.exit_code == 0:
        life.reason = "completed"
    elif life.reason == "oom" or life is attempt.root:
        _ended_last(life, attempt, setting)
    elif following.doomed:
        life.reason, life.reason_deduced = _beside(life, attempt, setting), True
    elif life.unit is not None and following.unit is not None and life.unit != following.unit:
        life.reason = _moved(life, setting)
    else:
        life.reason = "oom" if life.told == "OOMKilled" else "retryable"
        life.reason_deduced = not life.code_stated


def _moved(life: Life, setting: Setting) -> str:
    """Why a replica went on elsewhere: its exit, a word on its machine, or what the platform documents."""
    if life.failed and life.exit_code not in STOP_CODES:
        return setting.policy.exit_reasons.get(life.exit_code or 0, "retryable")
    for signal in setting.evidence.machines:
        if life.begin - SKEW <= signal.moment <= life.last + MACHINE_DELAY and same_machine(signal, life):
            return _MACHINE_REASONS.get(signal.event, "oom")
    life.reason_deduced = True
    return setting.policy.moved_means


def _ended_last(
    life: Life, attempt: Try, setting: Setting, *, taken: Life | None = None, main: Life | None = None
) -> None:
    """A replica's last life in an attempt. `taken`: the one whose machine was taken away; `main`: the primary's."""
    life.reason_deduced = not life.code_stated
    if life.reason == "oom":
        life.reason_deduced = False
    elif life.exit_code == 0:
        life.reason = "completed"
    elif life is attempt.root:
        life.reason = _root_reason(life, attempt, setting)
    elif life is taken:
        life.reason, life.reason_deduced = "preempted", True
    elif attempt.end_reason == "success" and life is main and not life.failed:
        life.reason = "completed"
        if life.exit_code is None and setting.policy.primary_exit_ends_job:
            life.exit_code = 0
    else:
        life.reason = _beside(life, attempt, setting)


def _root_reason(life: Life, attempt: Try, setting: Setting) -> str:
    """The reason of the life that ended the attempt."""
    known = {"out_of_memory": "oom", "restarts_exhausted": "retryable", "preemption": "preempted"}
    if attempt.end_reason in known:
        return known[attempt.end_reason]
    if life.memory and life.exit_code is None:
        return "oom"
    if TOLD.get(life.told or "") == "timeout":
        return "stopped"
    crashed = life.exit_code in setting.policy.transient_exit_codes
    return "crash" if crashed or (attempt.end_reason == "crash" and life.exit_code is None) else "error"


def _beside(life: Life, attempt: Try, setting: Setting) -> str:
    """The end of a replica that was not the one to blame: it fell with its peer, or the service stopped it."""
    ended_well = life.done or life.trial is not None
    if life.trial is not None and life.trial in setting.evidence.failed_trials and life.exit_code is None:
        return "error"
    if attempt.end_reason == "success" and ended_well and life.stop is None and not life.failed:
        return "completed"
    if not setting.told and life.exit_code is None and life.stop is None:
        return "cascade" if attempt.root is not None and life.cascades else "unknown"
    if life.failed and life.exit_code not in STOP_CODES:
        if failed_at(attempt) is not None and not is_of_other_trial(life, attempt):
            return "cascade"
        return "crash" if life.exit_code in setting.policy.transient_exit_codes else "error"
    return "stopped"


def _taken(attempt: Try, setting: Setting) -> Life | None:
    """The replica whose machine was taken away in an attempt that ended by preemption."""
    if attempt.end_reason != "preemption" or attempt.root is not None:
        return attempt.root
    last = [lives[-1] for lives in attempt.lanes().values()]
    words = machine_words(attempt, setting.evidence)
    hit = next((life for signal in words for life in last if same_machine(signal, life)), None)
    attempt.root = hit if hit is not None else _first_to_go(last)
    return attempt.root


def _first_to_go(lives: list[Life]) -> Life | None:
    """The replica that went first: its peers name it, or it was told to end before a peer's death reached it."""
    named: dict[str, int] = {}
    for life in lives:
        for peer in life.peers:
            named[peer] = named.get(peer, 0) + 1

    def order(life: Life) -> tuple[int, bool, int, str]:
        told = life.stop is not None and (life.first_cascade is None or life.first_cascade >= life.stop)
        moment = life.stop if told and life.stop is not None else life.last
        return (-named.get(life.node or "", 0) - named.get(life.replica, 0), not told, moment, life.replica)

    return min(lives, key=order, default=None)
