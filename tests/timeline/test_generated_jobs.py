"""Laws over jobs that are made up out of the documented rules alone."""

from __future__ import annotations

import random
from collections.abc import Callable

import distortions
import jobs
import pytest
from chain import runs_of, timeline_of
from jobs import Job, make

from analyzer.model import Entry, Run, Timeline

SEEDS = (1, 2)
LOSSLESS = (distortions.newest_first, distortions.shuffled, distortions.doubled, distortions.split)


@pytest.fixture(params=jobs.SCENARIOS, ids=lambda scenario: scenario.__name__)
def scenario(request: pytest.FixtureRequest) -> Callable[[Job], None]:
    """Each kind of life cycle."""
    return request.param


def kinds(timeline: Timeline) -> tuple[int, int, int, int]:
    counted = timeline.restarts
    return counted.in_place, counted.moved, counted.doomed, counted.job_retries


def true_kinds(job: Job) -> tuple[int, int, int, int]:
    return job.kinds.in_place, job.kinds.moved, job.kinds.doomed, job.kinds.job_retries


def facts(run: Run) -> tuple[object, ...]:
    return run.start, run.end, run.exit_code, run.reason, run.node, run.doomed


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("prebuilt", [True, False])
def test_attempts_and_restarts_are_the_true_ones(scenario: Callable[[Job], None], seed: int, prebuilt: bool) -> None:
    """The number of attempts, how each ended, and restarts of every kind are recovered, told or deduced."""
    job = make(scenario, seed, prebuilt=prebuilt)
    timeline = timeline_of(job.entries)
    assert [attempt.end_reason for attempt in timeline.attempts] == [a.end_reason for a in job.attempts]
    assert kinds(timeline) == true_kinds(job)
    assert timeline.restarts_total == sum(true_kinds(job))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("prebuilt", [True, False])
def test_runs_are_the_true_ones(scenario: Callable[[Job], None], seed: int, prebuilt: bool) -> None:
    """Every run of every replica has its true start, machine and reason, and its exit code where one is stated."""
    job = make(scenario, seed, prebuilt=prebuilt)
    timeline = timeline_of(job.entries)
    for attempt, true in zip(timeline.attempts, job.attempts, strict=True):
        lanes = {lane.name: lane.runs for lane in attempt.replicas}
        assert lanes.keys() == true.runs.keys()
        for name, runs in true.runs.items():
            for run, really in zip(lanes[name], runs, strict=True):
                assert run.start is not None
                assert abs(run.start.since(jobs.BEGIN) - really.start) < 1
                assert (run.node, run.doomed) == (really.node, really.doomed)
                assert run.doomed or run.reason == really.reason
                assert not prebuilt or run.doomed or run.exit_code == really.exit_code


def test_what_no_line_states_is_marked_as_deduced(scenario: Callable[[Job], None]) -> None:
    """The runner of a built-in container states starts; what a custom container leaves open is marked."""
    stated = runs_of(timeline_of(make(scenario, 1, prebuilt=True).entries))
    assert not any("start" in run.deduced for runs in stated.values() for run in runs)
    deduced = runs_of(timeline_of(make(scenario, 1, prebuilt=False).entries))
    assert all("start" in run.deduced for runs in deduced.values() for run in runs)


@pytest.mark.parametrize("distort", LOSSLESS, ids=lambda distort: distort.__name__)
def test_distortions_that_lose_nothing_change_nothing(scenario: Callable[[Job], None], distort: object) -> None:
    """Newest first, shuffled, doubled or split over files, it is the same timeline to the last field."""
    for prebuilt in (True, False):
        job = make(scenario, 4, prebuilt=prebuilt)
        assert timeline_of(distort(job.entries, 4)) == timeline_of(job.entries)  # type: ignore[operator]


@pytest.mark.parametrize("seed", SEEDS)
def test_clocks_five_seconds_apart_change_times_alone(scenario: Callable[[Job], None], seed: int) -> None:
    """Counts, reasons and machines stay; a time moves with its replica's clock."""
    job = make(scenario, seed, prebuilt=bool(seed % 2))
    straight, skewed = timeline_of(job.entries), timeline_of(distortions.skewed(job.entries, seed))
    assert kinds(skewed) == kinds(straight)
    before, after = runs_of(straight), runs_of(skewed)
    for name, runs in before.items():
        for one, other in zip(runs, after[name], strict=True):
            assert (one.exit_code, one.reason, one.node) == (other.exit_code, other.reason, other.node)
            assert one.start is not None
            assert other.start is not None
            assert abs(one.start.since(other.start)) <= 5


def lossy(job: Job, seed: int) -> dict[str, list[Entry]]:
    """Ways to lose a part of a job's log, alone and together."""
    cut = random.Random(seed).uniform(100, max(job.now * 0.95, 200))
    thin, _ = distortions.thinned(job.entries, seed)
    thinner, _ = distortions.thinned(job.entries, seed, 0.1)
    skewed, _ = distortions.thinned(distortions.skewed(job.entries, seed), seed)
    return {
        "two in a hundred lost": thin,
        "ten in a hundred lost": thinner,
        "lost, and clocks apart": skewed,
        "begin cut off": distortions.trimmed(job.entries, cut),
        "end cut off": distortions.cut_short(job.entries, cut),
        "all at once": distortions.shuffled(distortions.doubled(distortions.trimmed(skewed, cut), seed), seed),
        "a replica missing": distortions.without(job.entries, job.names[-1]),
        "the service missing": distortions.without(job.entries, "service"),
        "machines not named": distortions.without_machines(job.entries),
    }


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("prebuilt", [True, False])
def test_losing_entries_invents_nothing(scenario: Callable[[Job], None], seed: int, prebuilt: bool) -> None:
    """Whatever is lost, no replica has more runs, and the job no more attempts and restarts, than there really were."""
    job = make(scenario, seed, prebuilt=prebuilt)
    for how, entries in lossy(job, seed).items():
        if not entries:
            continue
        timeline = timeline_of(entries)
        assert len(timeline.attempts) <= len(job.attempts), how
        assert timeline.restarts_total <= sum(true_kinds(job)), how
        for name, runs in runs_of(timeline, doomed=True).items():
            assert len(runs) <= sum(len(attempt.runs.get(name, ())) for attempt in job.attempts), how


@pytest.mark.parametrize("seed", SEEDS)
def test_losing_entries_of_one_replica_changes_that_replica_alone(scenario: Callable[[Job], None], seed: int) -> None:
    """Where a replica's own entries and the service's were all kept, so are its runs."""
    job = make(scenario, seed, prebuilt=True, replicas=4)
    poor = job.names[-1]
    chosen = random.Random(seed)
    kept = [entry for entry in job.entries if entry.replica != poor or chosen.random() > 0.02]
    whole, thin = runs_of(timeline_of(job.entries), doomed=True), runs_of(timeline_of(kept), doomed=True)
    for name in set(whole) - {poor}:
        assert [facts(run) for run in thin[name]] == [facts(run) for run in whole[name]]


@pytest.mark.parametrize("scenario", [jobs.success, jobs.exception, jobs.restarts, jobs.crashes, jobs.maintenance])
@pytest.mark.parametrize("seed", SEEDS)
def test_cutting_off_the_begin_changes_what_was_cut_alone(scenario: Callable[[Job], None], seed: int) -> None:
    """Runs that begin after the cut stay as they were; the start of one that was going on is unknown, not guessed."""
    job = make(scenario, seed, prebuilt=True)
    cut = random.Random(seed).uniform(400, job.now * 0.9)
    whole, rest = (
        runs_of(timeline_of(job.entries), doomed=True),
        runs_of(timeline_of(distortions.trimmed(job.entries, cut))),
    )
    for name, runs in rest.items():
        true = [
            run for run in whole[name] if run.last_entry and run.last_entry >= jobs.BEGIN.plus(cut) and not run.doomed
        ]
        assert [(run.node, run.reason, run.exit_code) for run in runs] == [
            (r.node, r.reason, r.exit_code) for r in true
        ]
        for run, before in zip(runs, true, strict=True):
            assert before.start is not None
            assert run.start == (before.start if before.start >= jobs.BEGIN.plus(cut) else None)
