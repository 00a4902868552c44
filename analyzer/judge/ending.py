"""How a program's own output ends, where nobody states how it ended: its last acts, read as a person reads them.

A program that shows or stores its results as its last act did its work, and so did one that ends in order after its
work without a word of trouble. That holds only at the very end of the output: with training, a failure or an
alarming line after it, the same words were those of an evaluation on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzer.expressions import expression
from analyzer.judge.course import BEGINNINGS, OWN_WORDS, at_its_end
from analyzer.model import Message
from analyzer.rulebook import Finding, Role
from analyzer.timeline.evidence import number_in

TAIL = 40
"""So many messages may follow the last act, notes of libraries as it ends; so much of a log's end is kept."""
_WORK = frozenset(("step", "checkpoint_saved"))
_LAST_ACTS = frozenset(("results", "last_sign"))
_ALARM = expression(
    r"(?i)\b(?:error|exception|fail(?:ed|ure|ing|s)?|fatal|abort\w*|killed|terminat(?:ed|ing)|panic|cannot|unable"
    r"|denied|refused|timed out|core dumped|segmentation fault|invalid|missing|not found)\b"
)
_HARMLESS = expression(
    r"(?i)\((?:ignored|success)\)|\b(?:0|no|without) (?:error|fail|exception|invalid|missing)\w*"
    r"|\b(?:absolute|squared|mean|percentage|standard|test|train|val\w*|relative) error\b|\berror rate\b"
    r"|\b(?:error|fail(?:ed|ure)s?)[=: ]{1,3}0?\.?\d"
    r"|\bsuccess(?:ful)?ly terminated\b|^\W*(?:\w[\w.-]*:\s*)?(?:info|debug)\b"
)
_TOLD_TO_STOP = expression(
    r"(?i)\bsig(?:term|int|usr\d)\b|\bsignal (?:2|15)\b|\bpreempt|\binterrupt|\bemergency\b|\bevict|\btime limit\b"
    r"|\bwall ?(?:time|clock)\b|\brequeue|\bshutdown (?:requested|notice)|\btermination notice"
)
"""Words of a program that was told to stop: what it stores after them is no result but what it had."""


def last_act(messages: Sequence[Message], findings: Sequence[Finding]) -> Finding | None:
    """The finding that proves a good end of the program's own output; None where its last lines do not."""
    by_message: dict[int, list[Finding]] = {}
    for finding in findings:
        by_message.setdefault(id(finding.message), []).append(finding)
    acts = [
        finding
        for message in messages[-TAIL:]
        for finding in by_message.get(id(message), ())
        if finding.event in _LAST_ACTS and message.origin in OWN_WORDS
    ]
    acts = [act for act in acts if _is_quiet(_since(messages, act.message), by_message)]
    if any(_TOLD_TO_STOP.search(message.text) for message in _since_work(messages, by_message)):
        return None
    for act in acts:
        if act.event == "results" and not _is_periodic(act, findings):
            return act
    orderly = next((act for act in acts if act.event == "last_sign"), None)
    worked = any(finding.event in _WORK or finding.event == "results" for finding in findings)
    if orderly is not None and worked and _is_quiet(messages[-TAIL:], by_message, while_working=True):
        return orderly
    return None


def counted_out(findings: Sequence[Finding]) -> Finding | None:
    """The last progress line where its counter came to the number of steps that the program said it would make."""
    planned = [number_in(finding.values, "steps") for finding in findings if finding.event == "steps_planned"]
    steps = [finding for finding in findings if finding.event == "step"]
    if not planned or planned[-1] is None or not steps:
        return None
    step = number_in(steps[-1].values, "step")
    return steps[-1] if step is not None and step >= planned[-1] - 1 else None  # counted from 0 or from 1


def _since(messages: Sequence[Message], message: Message) -> Sequence[Message]:
    last = messages[-TAIL:]
    return last[next(place for place, other in enumerate(last) if other is message) + 1 :]


def _since_work(messages: Sequence[Message], known: dict[int, list[Finding]]) -> Iterator[Message]:
    """The program's own messages of the end, back to the last step of training."""
    for message in reversed(messages[-TAIL:]):
        findings = known.get(id(message), ())
        if any(finding.event == "step" for finding in findings):
            return
        if message.origin in OWN_WORDS and not any(finding.role is Role.NOISE for finding in findings):
            yield message


def _is_quiet(messages: Sequence[Message], known: dict[int, list[Finding]], *, while_working: bool = False) -> bool:
    """Whether some messages hold no training, no new beginning and nothing alarming but what is known as harmless."""
    return not any(_is_trouble(message, known.get(id(message), ()), while_working) for message in messages)


def _is_trouble(message: Message, findings: Sequence[Finding], while_working: bool) -> bool:
    if any(finding.role is Role.ROOT or _ends_badly(finding) for finding in findings):
        return not _is_dull(findings)
    if not while_working and any(finding.event in _WORK or finding.event in BEGINNINGS for finding in findings):
        return True
    if message.origin not in OWN_WORDS or findings:
        return False
    return any(_ALARM.search(line) and not _HARMLESS.search(line) for line in message.text.splitlines())


def _ends_badly(finding: Finding) -> bool:
    return finding.role is Role.VERDICT and finding.values.get("exit_code", "0").strip("-0:") != ""


def _is_dull(findings: Sequence[Finding]) -> bool:
    """Whether a noise rule that is as specific names the message."""
    noise = max((finding.rule.weight for finding in findings if finding.role is Role.NOISE), default=-1)
    return all(finding.rule.weight <= noise for finding in findings if finding.role is Role.ROOT)


def _is_periodic(act: Finding, findings: Sequence[Finding]) -> bool:
    """Whether the same was said before training went on: then it is one of many, unless the counter is at its end."""
    said_before = False
    for finding in findings:
        if finding is act:
            break
        if finding.rule.id == act.rule.id and finding.event == act.event:
            said_before = True
        elif finding.event == "step" and said_before:
            return not any(_at_last_epoch(step) for step in _last_steps(findings))
    return False


def _last_steps(findings: Sequence[Finding], most: int = 4) -> Iterator[Finding]:
    """The last progress lines of a job."""
    for finding in reversed(findings):
        if finding.event == "step":
            yield finding
            most -= 1
            if not most:
                return


def _at_last_epoch(finding: Finding) -> bool:
    epoch, epochs = finding.values.get("epoch"), finding.values.get("epochs")
    return at_its_end(finding) or (epoch is not None and epoch == epochs)
