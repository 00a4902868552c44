"""What ties names together can be gathered in any parts."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from analyzer.entries.ties import joined, ties_of
from analyzer.model import SECOND, Entry, Instant, JobKey, Origin

JOB = JobKey("gke", "p", "pod-1")
NAMES = st.sampled_from(("pod-1", "pod-2", "train", "service"))
FACTS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(("event", "workload", "job")), "pod": NAMES, "uid": NAMES, "involved_name": NAMES,
        "created_pod": NAMES, "owner_name": NAMES, "namespace": NAMES, "listed": st.booleans(), "container": NAMES, "backing_job": NAMES,
        "failed_jobs": st.lists(NAMES), "state": st.sampled_from(("FAILED", "RUNNING")),
    },
)  # fmt: skip
ENTRIES = st.lists(
    st.builds(
        Entry, text=st.just("JobId=7_1(9)"), job=st.just(JOB), fields=FACTS, origin=st.sampled_from(list(Origin)),
        time=st.none() | st.integers(0, 99).map(lambda n: Instant(n * SECOND)), replica=st.none() | NAMES,
        node=st.none() | NAMES, source=st.sampled_from("ab"),
    ),
    min_size=1,
)  # fmt: skip


@given(ENTRIES, st.integers(1, 4), st.randoms(use_true_random=False))
def test_parts_joined_in_any_order_are_the_whole(entries: list[Entry], parts: int, chance: random.Random) -> None:
    """However entries are parted, their ties are the same."""
    for job in (JOB, JobKey("slurm", "p", "7"), JobKey("batch", "p", "j")):
        found = [ties_of(job, entries[number::parts]) for number in range(min(parts, len(entries)))]
        chance.shuffle(found)
        assert joined(found) == ties_of(job, entries)
