"""What a container says of what only others can know is believed last."""

from __future__ import annotations

from small_jobs import KEY, RULES, rule, said, service

from analyzer.entries import Options, Story
from analyzer.judge import judge
from analyzer.model import Message, Timeline
from analyzer.rulebook import Matcher
from analyzer.rulebook.hearsay import mark_hearsay


def test_a_container_that_says_what_others_know_is_believed_last() -> None:
    """Where the service speaks, a first-hand cause beats what a container says of machines and quotas."""
    spare = rule("preemption.spot", "machine was taken", weight=90, event="preempted", **{"from": "[service, replica]"})
    told = [service(1, "Job is set up"), said(2, "the machine was taken"), said(3, "BOOM aloud")]
    matcher = Matcher([*RULES, spare])
    findings = mark_hearsay([f for message in told for f in matcher.find(message)], told, "vertex")
    assert [(f.rule.id, f.hearsay, f.event) for f in findings if f.hearsay] == [("preemption.spot", True, None)]
    diagnosis = judge(Story(KEY, tuple(m.first for m in told)), told, findings, Timeline(), Options())
    assert diagnosis.category == "user_exception"


def test_where_only_containers_speak_their_word_stays() -> None:
    """A log of nothing but output has no better witness."""
    spare = rule("preemption.spot", "machine was taken", weight=90, event="preempted")
    told = [said(2, "the machine was taken")]
    findings = mark_hearsay(Matcher([spare]).find(told[0]), told, "vertex")
    assert [f.hearsay for f in findings] == [False]


def test_an_exception_is_first_hand() -> None:
    """A call that the program made itself was refused: that is its own experience."""
    refused = rule("quota.api", "quota exceeded", event="quota_denied", **{"from": "[service, replica]"})
    text = 'Traceback (most recent call last):\n  File "/app/t.py", line 3, in <module>\n    f()\nErr: quota exceeded'
    told = [service(1, "Job is set up"), said(2, text)]
    findings = mark_hearsay([f for message in told for f in Matcher([refused]).find(message)], told, "vertex")
    assert [f.hearsay for f in findings] == [False]


def test_a_notice_that_the_runner_bears_out_is_no_hearsay() -> None:
    """A container that says its machine goes is right where its runner is told to end then and nothing failed before."""
    notice = rule(
        "preemption.notice", "machine goes", weight=46, event="preempted",
        **{"from": "[service, replica]", "explains": "[network.*]"},
    )  # fmt: skip
    stop = rule("lifecycle.stop", "told to end", role="teardown", event="stopped", cause=None)
    matcher = Matcher([*RULES, notice, stop])

    def cause(*told: Message) -> str:
        findings = mark_hearsay([f for message in told for f in matcher.find(message)], told, "vertex")
        return judge(Story(KEY, tuple(m.first for m in told)), told, findings, Timeline(), Options()).category

    start, taken = service(1, "Job is set up"), said(60, "my machine goes", "workerpool1-0")
    end, broke = said(61, "was told to end", "workerpool1-0"), said(75, "NCCL broke")
    assert cause(start, taken, end, broke) == "preemption"
    assert cause(start, taken, broke) == "network"
    assert cause(start, said(50, "BOOM aloud"), taken, end, broke) == "user_exception"
