"""Frames have a row a thing, the right types, and real gaps."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas
import pytest

from analyzer.frames import entries_frame, evidence_frame, timeline_frame
from analyzer.model import Diagnosis, Entry, Evidence, Instant, Job, JobKey, Origin, RootCause, Timeline
from analyzer.model.timeline import Attempt, ReplicaRuns, Run

sys.path.insert(0, str(Path(__file__).parent / "report"))
from samples import host_oom, nccl_cascade, success_after_restarts


def test_the_timeline_has_a_row_a_run() -> None:
    """Times, whole numbers with gaps, texts and truth values."""
    frame = host_oom().timeline.to_frame()
    assert len(frame) == 9
    assert str(frame.dtypes["start"]) == str(frame.dtypes["end"]) == "datetime64[ns, UTC]"
    assert str(frame.dtypes["exit_code"]) == "Int64"
    assert str(frame.dtypes["doomed"]) == "bool"
    assert frame["exit_code"].isna().sum() == 4
    assert list(frame.loc[frame["doomed"], "replica"]) == ["workerpool0-0"]


def test_nanoseconds_are_kept() -> None:
    """Cloud Logging's times have nine digits."""
    run = Run(start=Instant(1_700_000_000_123_456_789))
    frame = timeline_frame(Timeline(attempts=[Attempt(number=1, replicas=[ReplicaRuns(name="a", runs=[run])])]))
    assert frame["start"][0].value == 1_700_000_000_123_456_789
    assert pandas.isna(frame["end"][0])


@pytest.mark.parametrize("frame", [timeline_frame(Timeline()), entries_frame([])])
def test_an_empty_frame_has_the_same_types(frame: pandas.DataFrame) -> None:
    """Code that works on many rows works on none."""
    assert len(frame) == 0
    assert "object" not in set(map(str, frame.dtypes)) or not pandas.__version__.startswith("3")


def test_evidence_of_the_cause_comes_first() -> None:
    """Then that of the symptoms with what explains them."""
    frame = host_oom().evidence_frame()
    assert list(frame["role"]) == ["root", "root", "symptom", "symptom"]
    assert frame["text"][0].startswith("The replica workerpool1-0 ran out-of-memory")
    assert frame["line"][0] == 48211
    assert frame["explained_by"].notna().sum() == 2


def test_evidence_without_replica_takes_that_of_the_finding() -> None:
    """A service message is about a replica."""
    root = RootCause(rule="r", replica="w0", evidence=[Evidence(text="x")])
    diagnosis = Diagnosis(
        job=Job(id="j", platform="gke"), outcome="failed", category="image", cause="c", summary="s", root_cause=root
    )
    assert evidence_frame(diagnosis)["replica"][0] == "w0"


def test_entries_keep_their_order_and_text() -> None:
    """A row an entry; what is not known is missing, not empty."""
    key = JobKey("vertex", "p", "7")
    entries = [Entry(text="b", time=Instant(5), job=key, origin=Origin.REPLICA, rank=3), Entry(text="a")]
    frame = entries_frame(entries)
    assert list(frame["text"]) == ["b", "a"]
    assert list(frame["origin"]) == ["replica", "text"]
    assert frame["job_id"][0] == "7"
    assert frame[["time", "job_id", "rank", "insert_id", "line"]].iloc[1].isna().all()


def test_frames_can_be_joined_and_grouped() -> None:
    """Types are those that pandas works with."""
    runs = pandas.concat([nccl_cascade().timeline.to_frame(), success_after_restarts().timeline.to_frame()])
    assert runs.groupby("reason")["seconds"].count().to_dict() == {
        "cascade": 7,
        "completed": 1,
        "error": 1,
        "preempted": 2,
    }
