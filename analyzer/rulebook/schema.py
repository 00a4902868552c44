"""What a rule file may say. One YAML file is one rule and knows one thing about messages.

The structs are the schema: unknown keys are refused, and `diagnose rules schema` prints them as JSON Schema.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from analyzer.model import Origin


class Role(StrEnum):
    """What a finding can be in the story of a failure."""

    ROOT = "root"  # can be the cause
    VERDICT = "verdict"  # the service's, scheduler's or launcher's own conclusion
    CASCADE = "cascade"  # what others do when a peer dies
    TEARDOWN = "teardown"  # the end of a run after its verdict
    NOISE = "noise"  # loud but harmless
    PROGRESS = "progress"  # a sign of life or a step of the life cycle


# What a finding may tell the timeline, and the values it takes from the rule's named groups.
EVENTS = (
    "job_queued",  # the service accepted or queued the job
    "attempt_begin",  # the service sets the job up (again)
    "job_running",  # all replicas are available
    "job_succeeded", "job_failed", "job_cancelled",  # the service's last word
    "teardown",  # the service stops what still runs
    "container_start",  # a runner line that stands at the start of a container's life; node
    "container_waiting",  # a runner's line before the start: it waits for the accelerator of its machine
    "pod_scheduled",  # a pod that waited for a node has got one
    "image_pulled",  # a pod has got its image; image
    "volume_attached",  # a disk that a pod waited for is at its node
    "container_exit",  # a runner's or platform's line that a container ended; exit_code, signal, reason
    "container_succeeded",  # the same for an end with exit code 0
    "replica_failed",  # the service's word on a replica's end; replica, exit_code, reason
    "replica_out_of_memory",  # the service's word that a replica ran out of memory; replica, exit_code
    "low_memory", "low_disk",  # the service's word on a pool that ran out of memory or disk; pool
    "stockout", "internal_error", "quota_denied",  # the attempt could not be placed
    "machine_stopped",  # the machine or the container engine was stopped under the program
    "preempted", "maintenance", "host_error", "evicted",  # a machine was taken away; node
    "restart",  # a line that says a replica is restarted; replica
    "job_restart",  # the service or scheduler tries the whole job again
    "numbered_attempt",  # a scheduler's line that names the attempt it starts; attempt
    "earlier_attempts",  # attempts before this one: count, or preempted and failed, or attempt from 1
    "worker_restart",  # a launcher starts the processes of a container again; left, limit
    "worker_group",  # a launcher has its processes together; restart_count or attempt
    "retries_exhausted",  # the service or controller will not try again
    "task_exit",  # a launcher's word on the end of one task; node, task, exit_code, reason
    "stopped",  # a container was told to end by the service or scheduler
    "training_started", "step", "checkpoint_saved", "checkpoint_restored", "training_done",  # step, epoch, path
    "steps_planned",  # how many steps the program means to make; steps
    "results",  # the program shows or stores its results: at the end of its output they are its last act
    "last_sign",  # a line of a program that ends in order, well or not
    "peer_lost",  # a replica complains that another one is gone; peer (its machine), or job and task
    "no_checkpoint",  # training looked for a checkpoint and found none
    "out_of_memory_kill",  # the kernel or container runtime killed a process for memory
)  # fmt: skip


class Text(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A text in English and German. `{name}` stands for a value; `{name|words}` gives words where there is none."""

    en: str
    de: str = ""

    def of(self, lang: str) -> str:
        """The text in a language; English where the German is missing."""
        return (self.de or self.en) if lang == "de" else self.en


class Condition(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True, rename={"not_": "not"}):
    """A tree over one message (or, with `finding`, `absent` and `sequence`, over the job's findings).

    Exactly one of these per node: `any`, `all`, `not`, `regex`, `exception`, `fields`, `finding`, `absent`, `sequence`.
    """

    any: list[Condition] | None = None
    all: list[Condition] | None = None
    not_: Condition | None = None
    regex: str | None = None  # searched in the clean text, RE2 syntax, ^ and $ at line ends; named groups give values
    exception: str | list[str] | None = (
        None  # type names, short or dotted, of any link in a chain; "*": any
    )
    translated: list[str] = []  # beside `exception`: types of which the exception raised from them says more
    message: str | None = None  # beside `exception`: a regex that the same link's message must match
    fields: dict[str, str | int | list[str | int]] | None = (
        None  # structured facts; one of them, `/…/` is a regex
    )
    finding: str | None = None  # a rule id, or its beginning with `*`; scope job
    min: int = 1  # beside `finding`: how many at least
    absent: str | None = None  # no finding of this rule (or id beginning with `*`); scope job
    sequence: list[str] | None = None  # findings of these rules in this order of time; scope job
    within: float | None = None  # beside `sequence`: seconds from the first to the last


class Step(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One thing to do. `command` is filled with the case's values, each quoted for a shell."""

    do: Text
    command: str | None = None
    applies_if: Text | None = None


class Example(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An example as a message: its text (several lines are one message), who says it, and structured fields."""

    text: str = ""
    origin: Origin | None = None
    fields: dict[str, Any] = {}
    values: dict[str, str] = {}  # what the rule must read out of it


class Examples(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What a rule must match and what it must not. A plain string is an example's text.

    For a rule of scope job an example is a list of messages.
    """

    match: list[str | Example | list[str | Example]] = []
    no_match: list[str | Example | list[str | Example]] = []


class Rule(msgspec.Struct, forbid_unknown_fields=True, frozen=True, rename={"from_": "from"}):
    """One rule. `id` is its path below `rules/` with dots.

    `title` is a short clause that can follow a colon ("workerpool0-0 failed: the GPU ran out of memory"). `cause` is
    `category.cause`. `weight` (0–100) is how specific the rule is: 10 generic, 50 usual, 80 exact. `explains` names
    causes or rule ids (a trailing `*` stands for the rest, `@peers` for a list of `tables/groups.yaml`) that follow
    from this one and are no causes beside it.
    `from` lists who may say it; left out, a root takes replica, text, service and status, any other takes all.
    """

    id: str
    title: Text
    role: Role
    when: Condition
    scope: str = "message"  # message | job
    cause: str | None = None
    event: str | None = None
    platforms: list[str] = []
    from_: list[Origin] = []
    weight: int = 50
    explains: list[str] = []
    why: Text | None = None
    remedy: list[Step] = []
    again: Text | None = None
    retry: str | None = None
    sources: list[str] = []
    examples: Examples = msgspec.field(default_factory=Examples)

    @property
    def category(self) -> str | None:
        """The first part of the cause."""
        return self.cause.split(".", 1)[0] if self.cause else None

    @property
    def origins(self) -> frozenset[Origin]:
        """Who may say it."""
        if self.from_:
            return frozenset((*self.from_, Origin.TEXT))
        if self.role is Role.ROOT:
            return frozenset((Origin.REPLICA, Origin.TEXT, Origin.SERVICE, Origin.STATUS))
        return frozenset(Origin)


def expressions(condition: Condition) -> list[str]:
    """All regular expressions of a condition."""
    found = [pattern for pattern in (condition.regex, condition.message) if pattern]
    for part in (*(condition.any or ()), *(condition.all or ())):
        found += expressions(part)
    return found + (expressions(condition.not_) if condition.not_ else [])


def json_schema() -> str:
    """The schema of a rule file as JSON Schema 2020-12."""
    schema = msgspec.json.schema(Rule)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return msgspec.json.format(msgspec.json.encode(schema), indent=1).decode() + "\n"
