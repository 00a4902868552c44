"""Which line of a traceback proves a cause."""

from __future__ import annotations

import pytest

from analyzer.rulebook.conditions import telling_line
from analyzer.rulebook.load import parse_rule
from analyzer.rulebook.schema import Condition
from analyzer.stitch import message_of

FRAMES = 'Traceback (most recent call last):\n  File "/app/t.py", line 9, in <module>\n    run()\n  File "/opt/os.py", line 68, in get\n'


def condition(regex: str) -> Condition:
    """The condition of a rule with this expression."""
    return parse_rule(
        f"id: user_exception.x\ntitle: {{en: a, de: b}}\nrole: root\ncause: user_exception.x\nweight: 50\nwhen: {{regex: '{regex}'}}",
        "test.yaml",
    ).when


@pytest.mark.parametrize(
    ("regex", "text", "line"),
    [
        (r'os\.py", line \d+[^\n]*\nKeyError: .(?P<key>\w+)', FRAMES + "KeyError: 'OUT'", 4),
        (r"no room for", FRAMES + "some.lib.UnknownError:  no room for it\n\t [[node a]]", 4),
        (r"no room for", "\n".join(f"[eval 62] {line}" for line in (FRAMES + "Err:  no room for it\n\t [[a]]").split("\n")), 4),
    ],
    ids=["a match from a frame down to the exception", "two blanks after its name", "each line with a speaker's mark"],
)
def test_the_line_that_names_the_exception_proves_it(regex: str, text: str, line: int) -> None:
    """Not the frame above it, and not the whole traceback."""
    assert telling_line(condition(regex), message_of(text)) == line
