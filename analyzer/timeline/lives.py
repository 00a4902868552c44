"""Lives of containers: a replica's lane of log lines cut where its container was started again."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from analyzer.model import SECOND
from analyzer.rulebook import Finding
from analyzer.timeline.evidence import Item, Signal, number_in

SAME_START = 5 * SECOND
"""Lines that stand at the start of a container come within this time of the first of them."""
SAME_LINE = SECOND // 2
"""A start line that comes again within this time is the same one told twice."""
CERTAIN = 60
"""Weight of a rule whose exit line is the runner's own last word, and not only about a command."""
AFTERLIFE = 30 * SECOND
"""Work that goes on this long after a command's exit line shows that the command was only one of the program's own."""
LATE_LINES = 60 * SECOND
"""Lines of the node before may still come in for this long after the first line of the next."""


TOLD = {
    "OOMKilled": "out_of_memory", "Evicted": "preemption", "NodeShutdown": "preemption", "NodeLost": "preemption",
    "Preempting": "preemption", "Terminated": "preemption", "DeadlineExceeded": "timeout",
    "worker-shutdown": "preemption", "deadline-exceeded": "timeout",
}  # fmt: skip
"""What platforms say in a word of how a container or run ended: Kubernetes, and Taskcluster (`reasonResolved`)."""
_ENDS = frozenset(("container_exit", "container_succeeded", "stopped", "peer_lost"))


class Life(msgspec.Struct, eq=False):
    """One life of a replica's container while it is being worked out. Moments in ns; `unit` is its VM or its pod."""

    replica: str
    first: int
    last: int
    place: int
    lane: str = ""
    unit: str | None = None
    node: str | None = None
    label: int | None = None
    trial: int | None = None
    start: int | None = None
    start_stated: bool = False
    start_cut: bool = False  # the log begins in the middle of this life
    end: int | None = None
    end_stated: bool = False
    end_certain: bool = False  # by the runner's own last word
    exit_code: int | None = None
    code_stated: bool = False
    signal: str | None = None
    told: str | None = None  # the platform's own word on the end: OOMKilled, Evicted, …
    reason: str = "unknown"
    reason_deduced: bool = False
    doomed: bool = False
    described: bool = False  # a description of its container tells of it
    alive: bool = False  # a description says that it runs
    stop: int | None = None  # first sign that it was told to end
    failure: int | None = None  # last traceback or crash text
    crashed: bool = False  # that was the text of a crash by signal
    roots: int = 0
    cascades: int = 0
    first_cascade: int | None = None
    waited: int | None = None  # the first complaint that it waited in vain
    peers: set[str] = set()  # machines or names of peers that its complaints name
    named_by_service: bool = False
    finding: Finding | None = None  # the last line with a cause of its own
    memory: bool = False
    done: bool = False
    first_step: int | None = None
    last_step: int | None = None
    step_moment: int | None = None
    resumed: int | None = None
    resumed_at: int | None = None
    from_zero: bool = False
    group_restarts: list[int] = []
    group_count: int = 0
    output: bool = False
    waiting: bool = True  # the runner has said no more than that it waits for the machine's accelerator
    healthy: int = 0  # the last line that is neither a complaint nor a failure nor the end
    healthy_text: str = ""
    lines: int = 0
    marks: dict[tuple[str, str], int] = {}

    @property
    def begin(self) -> int:
        """Where it stands in time: its start, else its first line, else its end."""
        return self.start if self.start is not None else self.first

    @property
    def finish(self) -> int:
        """When it ended as far as is known: the stated end, else its last line."""
        return self.end if self.end is not None else self.last

    @property
    def broke_off(self) -> bool:
        """Whether its last work was followed by a traceback or crash text of its own, and no line says how it ended."""
        own = self.failure is not None and self.roots > 0 and self.stop is None
        return own and self.exit_code is None and self.healthy <= (self.failure or 0)

    @property
    def complained(self) -> bool:
        """Whether it stated a cause of its own that it did no work after, and no line says how it ended."""
        return self.exit_code is None and self.stop is None and self.finding is not None and self.roots > 0

    @property
    def failed(self) -> bool:
        """Whether it is stated to have ended with a non-zero exit code."""
        return self.exit_code not in (None, 0)


def segment(
    lane: str, items: Sequence[Item], beginnings: Collection[int], name: str, *, one: bool = False
) -> list[Life]:
    """The lives in a lane, in order. `beginnings` are places of lines that are known to begin a life.

    `one`: it is known to have had no more than one life.
    """
    lives: list[Life] = []
    by_node: dict[str, Life] = {}
    for item in items:
        life = lives[0] if one and lives else _life_of(item, lives, by_node, item.place in beginnings)
        if life is None:
            replica = item.entry.replica or name
            life = Life(replica if item.output else name, item.moment, item.moment, item.place, lane)
            lives.append(life)
        if item.entry.node:
            by_node[item.entry.node] = life
        _take(life, item, item.place in beginnings)
    for life in lives:
        if life.unit is None:
            life.unit = life.node
    return lives


def _life_of(item: Item, lives: list[Life], by_node: dict[str, Life], begins: bool) -> Life | None:
    """The life that a line belongs to; None if it begins a new one."""
    if not lives:
        return None
    life, entry = lives[-1], item.entry
    if entry.attempt is not None and life.label is not None and entry.attempt != life.label:
        return next((old for old in reversed(lives[-3:]) if old.label == entry.attempt and _is_late(item, old)), None)
    if entry.node and life.node and entry.node != life.node:
        earlier = by_node.get(entry.node)
        return earlier if earlier is not None and _is_late(item, earlier) else None
    starts = [signal for signal in item.signals if signal.event == "container_start"]
    again = any(_starts_again(life, signal) for signal in starts)
    if again or (begins and not (starts and not life.output and all(_is_another(life, s) for s in starts))):
        return None
    if _comes_after_certain_exit(life, item):
        return None
    return life


def _is_late(item: Item, earlier: Life) -> bool:
    return item.moment - earlier.last < LATE_LINES and not any(s.event == "container_start" for s in item.signals)


def _starts_again(life: Life, signal: Signal) -> bool:
    if life.waiting:
        return False
    key = _mark_of(signal)
    if key in life.marks:
        return signal.moment - life.marks[key] >= SAME_LINE
    if _is_another(life, signal):
        return False
    if life.end is not None and signal.moment > life.end:
        return True
    return signal.moment - life.begin > SAME_START


def _is_another(life: Life, signal: Signal) -> bool:
    """Whether it tells of the first start of a container beside others of the same pod, which have started already."""
    named = any(container for _, container in life.marks)
    return named and bool(signal.values.get("container")) and _mark_of(signal) not in life.marks


def _mark_of(signal: Signal) -> tuple[str, str]:
    return signal.finding.rule.id, signal.values.get("container", "")


def _comes_after_certain_exit(life: Life, item: Item) -> bool:
    """Whether the container prints again after the runner's last word, so that it must have been started again."""
    if life.end is None or not life.end_certain or not item.output or item.moment - life.end < 2 * SECOND:
        return False
    begins = all(s.event in ("step", "checkpoint_restored", "training_started") for s in item.signals)
    return bool(item.signals) and begins and not any(_counts_on(life, signal) for signal in item.signals)


def _take(life: Life, item: Item, begins: bool) -> None:
    life.first, life.last = min(life.first, item.moment), max(life.last, item.moment)
    life.output |= item.output
    life.waiting = life.waiting and any(signal.event == "container_waiting" for signal in item.signals)
    entry = item.entry
    if life.node is None:
        life.node = entry.node
    trial = entry.fields.get("trial")
    if isinstance(trial, int):
        life.trial = trial
    elif life.label is None:
        life.label = entry.attempt
    if begins and life.start is None:
        life.start = item.moment
    if item.failure:
        life.failure, life.crashed = item.moment, item.crash
    if item.role == "root":
        life.roots += 1
    elif item.role == "cascade":
        life.cascades += 1
        life.first_cascade = item.moment if life.first_cascade is None else life.first_cascade
        life.waited = item.moment if item.waited and life.waited is None else life.waited
    life.finding = item.finding or life.finding
    life.memory |= item.memory
    if item.output:
        life.lines += 1 + sum(count for _, count in entry.skipped) if entry.skipped else 1
    ill = item.failure or item.goes_on or item.role or any(signal.event in _ENDS for signal in item.signals)
    if not ill and item.moment >= life.healthy:
        life.healthy, life.healthy_text = item.moment, entry.text if item.output else life.healthy_text
    for signal in item.signals:
        _hear(life, signal)


def _hear(life: Life, signal: Signal) -> None:
    event = signal.event
    if event == "container_start":
        life.marks.setdefault(_mark_of(signal), signal.moment)
        if life.start is None or not life.start_stated:
            life.start, life.start_stated = min(life.begin, signal.moment), True
        life.node = life.node or signal.values.get("node")
    elif event in ("container_exit", "container_succeeded"):
        _exit(life, signal)
    elif event == "stopped":
        life.stop = signal.moment if life.stop is None else life.stop
    elif event == "peer_lost":
        life.peers.add(_peer(signal))
    elif event == "worker_restart":
        life.group_restarts.append(signal.moment)
    elif event == "worker_group":
        life.group_count = max(life.group_count, _group_number(signal))
    else:
        _progress(life, signal)


def _exit(life: Life, signal: Signal) -> None:
    if life.end is None or signal.moment >= life.end:
        life.end, life.end_stated = signal.moment, True
    life.end_certain |= signal.finding.rule.weight >= CERTAIN
    number = 0 if signal.event == "container_succeeded" else signal.number
    if number is not None:
        life.exit_code, life.code_stated = number, True
    life.signal = signal.values.get("signal", life.signal)
    life.told = life.told or signal.values.get("reason")
    life.node = life.node or signal.values.get("node")


def _peer(signal: Signal) -> str:
    """Who is gone: a machine, or a replica by its job and number."""
    values = signal.values
    return values.get("peer") or f"{values.get('job', '')}-replica-{values.get('task', '')}"


def _group_number(signal: Signal) -> int:
    """How often the launcher had started its processes again by then."""
    counted = number_in(signal.values, "restart_count")
    return counted if counted is not None else max((number_in(signal.values, "attempt") or 1) - 1, 0)


def _progress(life: Life, signal: Signal) -> None:
    if signal.event in ("step", "checkpoint_saved", "checkpoint_restored") and _outlives_exit(life, signal):
        life.end, life.end_stated, life.end_certain = None, False, False
        life.exit_code, life.code_stated, life.signal = None, False, None
    if signal.event == "training_done":
        life.done = True
    elif signal.event == "no_checkpoint":
        life.from_zero = True
    elif signal.event == "checkpoint_restored":
        life.resumed, life.resumed_at = step_of(signal.values), signal.moment
    elif signal.event == "step" and (step := step_of(signal.values)) is not None:
        life.first_step = step if life.first_step is None else life.first_step
        life.last_step, life.step_moment = step, signal.moment
        life.finding = None  # the program went on, so whatever was said before was survived


def _outlives_exit(life: Life, signal: Signal) -> bool:
    if life.end is None:
        return False
    return _counts_on(life, signal) or (not life.end_certain and signal.moment - life.end > AFTERLIFE)


def _counts_on(life: Life, signal: Signal) -> bool:
    """Whether a step follows those before: a container that was started again begins at a saved one or at zero."""
    step = step_of(signal.values) if signal.event == "step" else None
    return step is not None and life.last_step is not None and step > life.last_step


def step_of(values: dict[str, str]) -> int | None:
    """The step that a line names, else the last number in the name of the checkpoint that it names."""
    if "step" in values:
        return number_in(values, "step")
    tail = values.get("path", "").rstrip("/").rsplit("/", 1)[-1]
    digits = "".join(c if c.isdecimal() else " " for c in tail).split()
    return int(digits[-1]) if digits and len(digits[-1]) < 12 else None
