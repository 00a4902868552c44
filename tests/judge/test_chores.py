"""What a script does after its program failed is not why it failed."""

from __future__ import annotations

import pytest
from small_jobs import KEY, RULES, rule, said

from analyzer.entries import Options, Story
from analyzer.judge import judge
from analyzer.model import Diagnosis, Message, Timeline
from analyzer.rulebook import Matcher

TOLD = said(10, "train.sh: program ended with 1")
MISSING = "upload: command not found"


def judged(*told: Message) -> Diagnosis:
    """The diagnosis of a job with a script that says how its program ended."""
    script = rule("verdict.script_exit", "ended with (?P<exit_code>\\d+)", role="verdict", cause=None, weight=26)
    missing = rule("image.command", "command not found", weight=30)
    matcher = Matcher([*RULES, script, missing])
    findings = [finding for message in told for finding in matcher.find(message)]
    return judge(Story(KEY, tuple(m.first for m in told)), list(told), findings, Timeline(), Options())


@pytest.mark.parametrize(("second", "category"), [(5, "image"), (12, "unknown")])
def test_a_tool_that_is_missing_after_the_program_failed_is_no_cause(second: int, category: str) -> None:
    """Before the script's word it may be the reason; after it, it belongs to the clearing up."""
    told = sorted((TOLD, said(second, MISSING)), key=lambda message: int(message.time or 0))
    assert judged(*told).category == category


def test_another_replica_s_script_says_nothing_of_this_one() -> None:
    """Each script speaks of its own program."""
    assert judged(TOLD, said(12, MISSING, "workerpool1-0")).category == "image"


def test_what_the_program_itself_raised_stays_the_cause() -> None:
    """Only chores are passed over."""
    assert judged(said(9, "BOOM aloud"), TOLD, said(12, MISSING)).category == "user_exception"
