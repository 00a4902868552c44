"""Queries say what they mean, whatever a job is called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from live_jobs import JOB, START, entry
from lql import parse

from analyzer.live.filters import LONGEST, MACHINES, Query, machines_filter, quoted
from analyzer.live.target import Service, target_of


@given(st.text(min_size=1, max_size=40))
def test_any_text_can_be_quoted(text: str) -> None:
    """What is quoted compares as the text it was."""
    assert parse(f"textPayload={quoted(text)}")({"textPayload": text})


def test_one_job_and_no_other() -> None:
    """A query finds its own job's lines from its own time on."""
    target = target_of(JOB, "acme-ml", None)
    test = parse(Query((target.id,), target.services).text(START, START.plus(100)))
    assert test(entry(5, "x"))
    assert not test(entry(5, "x", job=JOB + "1"))
    assert not test(entry(5, "x", at=-1))
    assert not test(entry(5, "x", at=100))


@pytest.mark.parametrize(
    ("job", "services"),
    [
        (JOB, {Service.VERTEX}),
        ("train_20260311", {Service.AI_PLATFORM}),
        ("TrainBert", {Service.AI_PLATFORM}),
        ("bert-large", {Service.GKE, Service.BATCH, Service.VERTEX}),
        ("bert", {Service.AI_PLATFORM, Service.GKE, Service.BATCH, Service.VERTEX}),
        ("bert.worker", {Service.GKE}),
        ("9-lives", {Service.GKE}),
    ],
)
def test_whose_id_it_may_be(job: str, services: set[Service]) -> None:
    """The letters of an id leave only some services; all of these are asked in one query."""
    assert target_of(job, "acme-ml", None).services == services


def test_queries_stay_short_enough() -> None:
    """The longest query there can be is one that the service takes."""
    names = [f"gke-cluster-with-a-long-name-pool-{n:04d}-abcdef123456" for n in range(500)]
    query = machines_filter(names, START, START)
    assert len(query) < LONGEST
    assert names[MACHINES - 1] in query
    assert len(Query(("a" * 253,), frozenset(Service), ("u" * 63,)).text(START)) < LONGEST
