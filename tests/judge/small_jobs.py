"""Small jobs of a few messages, with rules made for the purpose."""

from __future__ import annotations

from analyzer.entries import Options, Story
from analyzer.judge import judge
from analyzer.model import (
    SECOND,
    Attempt,
    Diagnosis,
    Entry,
    Instant,
    JobKey,
    Message,
    Origin,
    ReplicaRuns,
    Run,
    Timeline,
)
from analyzer.rulebook import Matcher, Rule
from analyzer.rulebook.load import parse_rule
from analyzer.stitch import message_of

KEY = JobKey("vertex", "acme-ml", "77")


def rule(name: str, regex: str, role: str = "root", **more: object) -> Rule:
    """A rule with the least that one must have."""
    keys = {"cause": f"{name}", "weight": 50, "event": None, "explains": []} | more
    lines = [f"id: {name}", f"title: {{en: {name} happened, de: {name} geschah}}", f"role: {role}"]
    lines += [
        f"{key}: {value}"
        for key, value in keys.items()
        if value is not None and not (key == "cause" and role in ("noise", "progress", "cascade"))
    ]
    lines.append(f"when: {{regex: '{regex}'}}")
    return parse_rule("\n".join(lines), "test.yaml")


RULES = [
    rule("user_exception.boom", "BOOM (?P<what>\\w+)"),
    rule("out_of_memory.gpu", "GPU IS FULL", weight=80, explains="[network.nccl]"),
    rule("user_exception.nan", "rank (?P<rank>\\d+) found NaN"),
    rule("network.nccl", "NCCL broke", weight=55),
    rule("timeout.limit", "TIME IS UP", weight=88),
    rule("preemption.spot", "PREEMPTED", weight=80),
    rule("progress.restored", "resumed", role="progress", event="checkpoint_restored"),
    rule("progress.step", "step (?P<step>\\d+) done", role="progress", event="step"),
    rule("noise.shout", "BOOM harmless", role="noise", weight=60),
    rule(
        "verdict.exit",
        "replica (?P<replica>\\S+) exited with (?P<exit_code>\\d+)",
        role="verdict",
        cause=None,
        event="replica_failed",
    ),
    rule("verdict.done", "Job completed", role="progress", event="job_succeeded"),
    rule("cascade.reset", "connection reset", role="cascade"),
]


def said(second: int, text: str, replica: str | None = "workerpool0-0", origin: Origin = Origin.REPLICA) -> Message:
    """A message of a replica at a second."""
    bare = message_of(text)
    entry = Entry(
        text=text,
        time=Instant((1_700_000_000 + second) * SECOND),
        replica=replica,
        origin=origin,
        job=KEY,
        insert_id=f"i{second}",
    )
    return Message(text=bare.text, entries=(entry,), kind=bare.kind, exceptions=bare.exceptions)


def service(second: int, text: str) -> Message:
    """A message of the service."""
    return said(second, text, "service", Origin.SERVICE)


ONE_RUN = Timeline(attempts=[Attempt(number=1, replicas=[ReplicaRuns(name="workerpool0-0", runs=[Run()])])])
"""A timeline that knows no more than that the replica ran."""


def judged(*messages: Message, options: Options | None = None, timeline: Timeline | None = None) -> Diagnosis:
    """The diagnosis of some messages, without a timeline unless one is given."""
    matcher = Matcher(RULES)
    findings = [finding for message in messages for finding in matcher.find(message)]
    story = Story(KEY, tuple(message.first for message in messages))
    return judge(story, messages, findings, timeline or Timeline(), options or Options())
