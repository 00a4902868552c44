"""Tables of events tell ages, not times: the order is kept, and no time is made up."""

from __future__ import annotations

import pytest
from forms import entries_of

from analyzer.entries import sift

ROWS = [
    ("30s", "Failed", "Error: ImagePullBackOff"),
    ("2d3h", "Scheduled", "Successfully assigned ml/fit-0 to gke-a"),
    ("5m (x4 over 9m)", "Pulling", "Pulling image fit:1"),
    ("5m", "BackOff", "Back-off pulling image fit:1"),
    ("45m", "Created", "Created container main"),
]
BY_AGE = ["Scheduled", "Created", "Pulling", "BackOff", "Failed"]
LIST = "LAST SEEN         TYPE      REASON      OBJECT      MESSAGE\n" + "".join(
    f"{age:<17} Warning   {reason:<11} pod/fit-0   {text}\n" for age, reason, text in ROWS
)
DESCRIPTION = (
    "Name:         fit-0\nNamespace:    ml\nNode:         gke-a/10.0.0.2\nStatus:       Pending\n"
    "Containers:\n  main:\n    State:          Waiting\n      Reason:       ErrImagePull\nEvents:\n"
    "  Type     Reason      Age                 From      Message\n"
    "  ----     ------      ---                 ----      -------\n"
    + "".join(f"  Warning  {reason:<11} {age:<19} kubelet   {text}\n" for age, reason, text in ROWS)
)


def events(text: str):
    """The events that a text tells, in the total order of entries."""
    found = [entry for entry in entries_of(text) if entry.fields.get("kind") == "event"]
    return [entry for partial in sift(found).values() for entry in partial.in_order()]


@pytest.mark.parametrize("text", [LIST, DESCRIPTION], ids=["get events", "describe"])
def test_events_come_in_the_order_of_their_ages(text):
    """The oldest first; equal ages as they stand."""
    assert [entry.fields["reason"] for entry in events(text)] == BY_AGE


@pytest.mark.parametrize("text", [LIST, DESCRIPTION], ids=["get events", "describe"])
def test_no_time_is_made_up(text):
    """Not even behind lines that state one."""
    told = events(f"2026-03-11T08:00:00.000000Z step 1\n2026-03-11T08:00:01.000000Z step 2\n\n{text}")
    assert len(told) == len(ROWS)
    assert {entry.time for entry in told} == {None}
    assert not any(entry.time_stated for entry in told)


def test_a_table_without_ages_keeps_its_order():
    """Where an age is unknown the lines stand as they stood."""
    unknown = LIST.replace("45m  ", "<unknown>", 1).replace("<unknown>   ", "<unknown>", 1)
    assert [entry.fields["reason"] for entry in events(unknown)] == [reason for _, reason, _ in ROWS]
