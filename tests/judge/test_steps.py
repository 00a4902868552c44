"""Work grows no faster than the input: replicas that all lose a peer, a replica that is started again and again."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from analyzer.entries import Options, assemble, sift
from analyzer.formats import read_source
from analyzer.model import Entry, Instant, JobKey, Origin
from analyzer.pipeline import diagnose_story
from analyzer.rulebook.cache import load_rulebook
from analyzer.sources import Source

BEGIN = Instant.parse("2025-03-04T05:00:00Z") or Instant(0)
VERDICT = "The replica {name} exited with a non-zero status of 1."
PEER = "RuntimeError: [{n}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={n}, OpType=ALLREDUCE)"


def entry(number: int, second: float, replica: str, text: str) -> Entry:
    origin = Origin.SERVICE if replica == "service" else Origin.REPLICA
    return Entry(
        text=text, time=BEGIN.plus(second), job=JobKey("vertex", "walnut", "77"), replica=replica, origin=origin,
        insert_id=f"{number:06d}", node=None if replica == "service" else f"vm-{replica}",
    )  # fmt: skip


def lost_peers(count: int) -> list[Entry]:
    """One replica runs out of memory, all others say that they lost it, and the service names each."""
    said = [(n / 100, f"workerpool1-{n}", "Running module trainer.task.") for n in range(count)]
    said += [(60, "workerpool1-0", "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")]
    said += [(70 + n / 100, f"workerpool1-{n}", PEER.format(n=n)) for n in range(1, count)]
    said += [(90 + n / 100, "service", VERDICT.format(name=f"workerpool1-{n}")) for n in range(count)]
    return [entry(number, *line) for number, line in enumerate(said)]


def restless(count: int) -> list[Entry]:
    """One replica that fails and is started again so many times."""
    said: list[tuple[float, str, str]] = []
    for n in range(count):
        said += [
            (9 * n, "workerpool0-0", "Running module trainer.task."),
            (9 * n + 2, "workerpool0-0", "ModuleNotFoundError: No module named 'timm'"),
            (9 * n + 3, "service", VERDICT.format(name="workerpool0-0")),
        ]
    return [entry(number, *line) for number, line in enumerate(said)]


def pods(count: int) -> list[Entry]:
    """One Job of so many pods, each of which is named by its container's line and by an event."""
    cluster = {"project_id": "walnut", "cluster_name": "c", "namespace_name": "ml"}
    rows: list[dict[str, Any]] = []
    for n in range(count):
        pod, time = f"lm-{n}-x7k2p", str(BEGIN.plus(n))
        container = {"type": "k8s_container", "labels": {**cluster, "pod_name": pod, "container_name": "main"}}
        involved = {"kind": "Pod", "name": pod, "namespace": "ml"}
        rows += [
            {"insertId": f"a{n}", "timestamp": time, "resource": container, "textPayload": "RuntimeError: boom",
             "logName": "projects/walnut/logs/stderr", "labels": {"k8s-pod/batch_kubernetes_io/job-name": "lm"}},
            {"insertId": f"b{n}", "timestamp": time, "logName": "projects/walnut/logs/events",
             "resource": {"type": "k8s_pod", "labels": {**cluster, "pod_name": pod}},
             "jsonPayload": {"reason": "BackOff", "message": "Back-off restarting", "involvedObject": involved}},
        ]  # fmt: skip
    written = "\n".join(json.dumps(row) for row in rows).encode()
    return list(read_source(Source("pods.json", lambda: io.BytesIO(written)), []))


def executed(entries: list[Entry]) -> int:
    """How many times a diagnosis goes on to another line of this package's code: loops count, too."""
    rulebook = load_rulebook()

    def diagnosed() -> None:
        (story,) = assemble(sift(entries))[0]
        diagnose_story(story, rulebook, Options())

    diagnosed()  # what is made once is made
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> Callable[..., object]:
        nonlocal count
        count += 1
        return counted

    sys.settrace(counted)
    try:
        diagnosed()
    finally:
        sys.settrace(None)
    return count


@pytest.mark.parametrize("job", [lost_peers, restless, pods])
def test_lines_of_code_grow_as_the_entries_do(job: Callable[[int], list[Entry]]) -> None:
    """Four times as much input takes about four times as many steps, not sixteen times."""
    assert executed(job(240)) < 4.3 * executed(job(60))
