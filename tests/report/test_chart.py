"""What a chart shows follows from the timeline alone."""

from __future__ import annotations

import pytest
from samples import ALL, at, host_oom, many_replicas, nccl_cascade, running, stockout, unknown

from analyzer.model import Attempt, Diagnosis, Job, ReplicaRuns, Run, Timeline
from analyzer.report.chart import chart_of, close_up, natural, run_rows


@pytest.mark.parametrize("name", ALL)
def test_every_run_is_drawn_once(name: str) -> None:
    """No run is lost on the way to the chart; blocks lie on the axis."""
    diagnosis = ALL[name]()
    chart = chart_of(diagnosis)
    if chart is None:
        return
    blocks = [block for lane in (*chart.lanes, *chart.folded) for block in lane.blocks]
    assert len(blocks) == len(run_rows(diagnosis.timeline))
    assert all(chart.start <= block.start <= block.end <= chart.end for block in blocks)


def test_the_lane_of_the_cause_comes_first() -> None:
    """Then the eventful ones, names in natural order."""
    chart = chart_of(nccl_cascade())
    assert chart is not None
    assert [lane.names[0].rsplit("-", 1)[1] for lane in chart.lanes] == ["5", "0", "1", "2", "3", "4", "6", "7"]


def test_like_lanes_of_many_replicas_are_folded() -> None:
    """All replicas are there: ten lanes, and groups for the others."""
    chart = chart_of(many_replicas())
    assert chart is not None
    assert len(chart.lanes) == 10
    assert sum(len(lane.names) for lane in (*chart.lanes, *chart.folded)) == 2000
    assert len(chart.folded) <= 40


def test_a_group_is_drawn_where_half_of_it_ran() -> None:
    """Replicas that come up one after another did not all run from the first one's start on."""
    lanes = [
        ReplicaRuns(name=f"w-{n}", runs=[Run(start=at(f"09:{n:02d}:00"), end=at("09:50:00"), reason="completed")])
        for n in range(20)
    ]
    diagnosis = many_replicas()
    diagnosis.root_cause, diagnosis.timeline = None, Timeline(attempts=[Attempt(number=1, replicas=lanes)])
    chart = chart_of(diagnosis)
    assert chart is not None
    (group,) = chart.folded
    (block,) = group.blocks
    assert (block.start, block.end) == (at("09:14:00"), at("09:50:00"))
    assert block.spread == (at("09:10:00"), at("09:19:00"), at("09:50:00"), at("09:50:00"))


def test_an_open_run_reaches_to_the_end() -> None:
    """A job that runs has no end; its newest entry ends the axis."""
    chart = chart_of(running())
    assert chart is not None
    assert {block.end for lane in chart.lanes for block in lane.blocks} == {at("09:45:00")}


def test_attempts_without_runs_make_a_chart_and_no_times_make_none() -> None:
    """Bands alone are worth drawing; nothing is not."""
    chart = chart_of(stockout())
    assert chart is not None
    assert [band.end_reason for band in chart.bands] == ["stockout"] * 3
    assert chart_of(unknown()) is None


def test_the_close_up_shows_who_died_first() -> None:
    """It lies around the cause and is much shorter than the whole."""
    diagnosis = nccl_cascade()
    chart = chart_of(diagnosis)
    assert chart is not None
    near = close_up(chart, diagnosis)
    assert near is not None
    assert near.start < at("08:20:41") < near.end
    assert near.seconds < chart.seconds / 6
    assert min((block.end, lane.names[0]) for lane in near.lanes for block in lane.blocks)[1] == "llama-ft-worker-5"


@pytest.mark.parametrize("clocks", [("10:00:00", "10:00:00"), ("10:00:05", "10:00:01")])
def test_runs_of_no_or_negative_length_do_no_harm(clocks: tuple[str, str]) -> None:
    """Clocks that disagree give an axis all the same."""
    run = Run(start=at(clocks[0]), end=at(clocks[1]), reason="error")
    timeline = Timeline(attempts=[Attempt(number=1, replicas=[ReplicaRuns(name="a", runs=[run])])])
    chart = chart_of(
        Diagnosis(
            job=Job(id="j", platform="gke"),
            outcome="failed",
            category="unknown",
            cause="x",
            summary="s",
            timeline=timeline,
        )
    )
    assert chart is not None
    assert chart.seconds > 0
    assert all(
        0 <= chart.place(block.start) <= chart.place(block.end) <= 1 for lane in chart.lanes for block in lane.blocks
    )


def test_a_span_of_years_has_few_ticks() -> None:
    """A wrong clock somewhere cannot make a page of ticks."""
    diagnosis = host_oom()
    diagnosis.timeline.attempts[0].replicas[0].runs[0].start = at("00:00:00", "1971-01-01")
    chart = chart_of(diagnosis)
    assert chart is not None
    assert len(chart.ticks) <= 24


def test_names_sort_as_people_count() -> None:
    """`worker-9` comes before `worker-10`."""
    assert sorted(["worker-10", "worker-9", "a", "worker-1-x"], key=natural) == [
        "a",
        "worker-1-x",
        "worker-9",
        "worker-10",
    ]
