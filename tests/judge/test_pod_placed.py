"""What was over before the end: a pod that found no node, disk or image at first, a stop that was outlived."""

from __future__ import annotations

import msgspec
from small_jobs import KEY, rule, said

from analyzer.entries import Options, Story
from analyzer.judge import judge
from analyzer.model import Message, Origin, Timeline
from analyzer.rulebook import Matcher

FROM = {"from": "[cluster]"}
MATCHER = Matcher(
    [
        rule("stockout.full", "no node is free", weight=80, **FROM),
        rule("configuration.disk", "disk cannot be attached", weight=40, **FROM),
        rule("storage.attach", "disk (?P<volume>\\w+) is held elsewhere", weight=80, **FROM),
        rule("lifecycle.attached", "has disk (?P<volume>\\w+)", role="progress", event="volume_attached", **FROM),
        rule("quota.registry", 'refused image "(?P<image>[^"]+)', weight=80, **FROM),
        rule("cancelled.stop", "machine was stopped", weight=40, event="machine_stopped", **{"from": "[node]"}),
        rule("user_exception.failed", "training failed", weight=20),
        rule("lifecycle.pulled", 'pulled image "(?P<image>[^"]+)', role="progress", event="image_pulled", **FROM),
        rule("lifecycle.scheduled", "pod assigned", role="progress", event="pod_scheduled", **FROM),
    ]
)


def event(second: int, text: str, reason: str) -> Message:
    message = said(second, text, "train-0-x7k2q", Origin.CLUSTER)
    entry = msgspec.structs.replace(message.first, fields={"kind": "event", "reason": reason})
    return msgspec.structs.replace(message, entries=(entry,))


def cause(*told: Message) -> str:
    findings = [finding for message in told for finding in MATCHER.find(message)]
    return judge(Story(KEY, tuple(m.first for m in told)), told, findings, Timeline(), Options()).category


def test_why_a_pod_found_no_node_is_over_once_it_has_one() -> None:
    """What comes later is the cause then, though it weighs less; an earlier pod of that name does not count."""
    full, disk = event(5, "no node is free", "FailedScheduling"), event(90, "disk cannot be attached", "FailedMount")
    assert cause(full, disk) == "stockout"
    assert cause(full, event(60, "pod assigned", "Scheduled"), disk) == "configuration"
    assert cause(event(1, "pod assigned", "Scheduled"), full, disk) == "stockout"


def test_why_a_disk_was_not_attached_is_over_once_it_is() -> None:
    """Another disk's success, or an earlier one, does not count."""
    held, disk = event(5, "disk d1 is held elsewhere", "FailedAttachVolume"), event(90, "disk cannot be attached", "x")
    assert cause(held, disk) == "storage"
    assert cause(held, event(60, "has disk d1", "SuccessfulAttachVolume"), disk) == "configuration"
    assert cause(held, event(60, "has disk d2", "SuccessfulAttachVolume"), disk) == "storage"
    assert cause(event(1, "has disk d1", "SuccessfulAttachVolume"), held, disk) == "storage"


def test_why_an_image_was_not_pulled_is_over_once_it_is_there() -> None:
    """Another image's arrival, or an earlier one, does not count."""
    held, disk = event(5, 'registry refused image "a:1"', "Failed"), event(90, "disk cannot be attached", "x")
    assert cause(held, disk) == "quota"
    assert cause(held, event(60, 'pulled image "a:1"', "Pulled"), disk) == "configuration"
    assert cause(held, event(60, 'pulled image "b:1"', "Pulled"), disk) == "quota"
    assert cause(event(1, 'pulled image "a:1"', "Pulled"), held, disk) == "quota"


def test_a_stop_that_a_program_outlived_is_no_cause() -> None:
    """A program that speaks minutes later was not ended by it; one that speaks its last within minutes may be."""
    stop = said(5, "the machine was stopped", "n", Origin.NODE)
    assert cause(stop, said(60, "training failed", "train-0", Origin.REPLICA)) == "cancelled"
    assert cause(stop, said(900, "training failed", "train-0", Origin.REPLICA)) == "user_exception"
