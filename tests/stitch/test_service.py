"""A text of the service that holds several verdicts becomes a message for each replica."""

from __future__ import annotations

import pytest

from analyzer.model import Entry, Origin
from analyzer.stitch import message_of, stitch
from analyzer.stitch.service import canonical_name, verdicts

FIRST = "The replica ps 0 exited with a non-zero status of 1. Termination reason: Error. "
TRACE = """
Traceback (most recent call last):
  [...]
  File "/app/task.py", line 8, in main
    read()
KeyError: 'x'

"""
SECOND = "The replica worker 12 ran out-of-memory and exited with a non-zero status of 9(SIGKILL)."
MORE = " To find out more about why your job exited please check the logs: https://example.org/x"


@pytest.mark.parametrize(
    ("name", "canonical"),
    [("ps 0", "ps-replica-0"), ("master 0", "master-replica-0"), ("worker 12", "worker-replica-12"),
     ("workerpool0-0", "workerpool0-0"), ("master-replica-0", "master-replica-0"), ("chief 0", "chief-replica-0")],
)  # fmt: skip
def test_canonical_names(name: str, canonical: str) -> None:
    """A verdict's name for a replica becomes the name that the replica's own log has."""
    assert canonical_name(name) == canonical


def test_verdicts_come_apart() -> None:
    """Each verdict is a message about its replica; the parts together are the text."""
    entry = Entry(text=FIRST + TRACE + SECOND + MORE, origin=Origin.SERVICE)
    found = stitch([entry])
    assert [message.about for message in found] == ["ps-replica-0", "worker-replica-12"]
    assert "".join(message.excerpt for message in found) == entry.text
    assert [message.replica for message in found] == ["ps-replica-0", "worker-replica-12"]


def test_traceback_inside_a_verdict() -> None:
    """The termination log that a verdict quotes is read as any traceback."""
    first, second = stitch([Entry(text=FIRST + TRACE + SECOND + MORE, origin=Origin.SERVICE)])
    assert (first.kind, [link.type for link in first.exceptions]) == ("traceback", ["KeyError"])
    assert first.exceptions[0].frames[0].file == "/app/task.py"
    assert (second.kind, second.exceptions) == ("line", ())


def test_one_verdict_is_one_message() -> None:
    """A single verdict is the entry's message, with the replica it is about."""
    (found,) = stitch([Entry(text=SECOND + MORE, origin=Origin.STATUS)])
    assert (found.about, found.excerpt, found.text) == ("worker-replica-12", "", SECOND + MORE)


def test_bare_verdict() -> None:
    """A verdict with nothing else in it is about its replica too."""
    (found,) = stitch(
        [Entry(text="The replica workerpool1-2 exited with a non-zero status of 1.", origin=Origin.SERVICE)]
    )
    assert found.about == "workerpool1-2"


def test_words_before_the_first_verdict_stay_with_it() -> None:
    """What introduces the first verdict is part of its excerpt, so that nothing is lost."""
    text = "Trial #3 failed. The trial's error message was: " + FIRST + SECOND
    assert [verdict.excerpt for verdict in verdicts(text)] == [text[: text.index(SECOND)], SECOND]


def test_a_container_that_imitates_the_service_is_not_about_another_replica() -> None:
    """Only the service's own words are about a replica; a container may print anything."""
    (found,) = stitch([Entry(text=FIRST + SECOND, origin=Origin.REPLICA, replica="worker-replica-0")])
    assert (found.about, found.replica) == (None, "worker-replica-0")


def test_bare_text_is_one_message() -> None:
    """An example's text is one message even with several verdicts in it; it is about the first."""
    found = message_of(FIRST + SECOND, origin=Origin.SERVICE)
    assert (found.about, found.text) == ("ps-replica-0", FIRST + SECOND)


def test_verdict_over_several_entries() -> None:
    """A verdict whose termination log comes in entries of its own is one message with them."""
    lines = (FIRST + TRACE + MORE.strip()).split("\n")
    (found,) = stitch([Entry(text=line, origin=Origin.SERVICE, sequence=n) for n, line in enumerate(lines)])
    assert (found.about, [link.type for link in found.exceptions]) == ("ps-replica-0", ["KeyError"])
