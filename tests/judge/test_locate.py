"""Where a cause happened: whom its line blames, who says it, the process that failed of it, whom a launcher names."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.entries import assemble, sift
from analyzer.entries.story import Options
from analyzer.model import Entry, Instant, JobKey, Origin, RootCause
from analyzer.pipeline import diagnose_paths, diagnose_story
from analyzer.rulebook.cache import load_rulebook
from analyzer.timeline.names import Names

BEGIN = Instant.parse("2026-03-11T04:00:00Z") or Instant(0)
SLICES = [f"ms-slice-job-{child}-{index}-{end}" for child, index, end in ((0, 0, "hkq2z"), (0, 1, "vx7bd"),
                                                                         (1, 0, "zt5ns"), (1, 1, "8gqfp"))]  # fmt: skip


def said(second: float, text: str, replica: str | None = None, node: str | None = None, **more: object) -> Entry:
    """A line of a job on GKE; without a replica, of one that no line names."""
    job = JobKey("gke", "acme", "ms") if replica else JobKey("local", "", "run")
    origin = Origin.REPLICA if replica else Origin.TEXT
    known = {"origin": origin, "job": job, "replica": replica, "node": node, "sequence": int(second * 100)}
    return Entry(text=text, time=BEGIN.plus(second), source="log", **{**known, **more})  # type: ignore[arg-type]


def root_of(*entries: Entry) -> RootCause:
    """The root cause of the only job of some lines."""
    stories, _ = assemble(sift(entries))
    (story,) = stories
    root = diagnose_story(story, load_rulebook(), Options()).root_cause
    assert root is not None
    return root


def test_the_host_that_a_coordinator_blames_is_the_place() -> None:
    """Megascale's first host says which host has the bad chip."""
    lines = [said(n, "step 1 loss 2.0", pod) for n, pod in enumerate(SLICES)]
    report = (
        "Megascale detects a hang that is likely caused by bad TPU chips on the following hosts.",
        "E0311 04:26:29.118841 1412 megascale_error_aggregator.cc:415]   The host that have bad TPUs are: ms-slice-job-1-1.ms",
    )
    lines += [said(100 + n / 100, text, SLICES[0]) for n, text in enumerate(report)]
    assert root_of(*lines).replica == "ms-slice-job-1-1"


def test_the_task_that_missed_its_heartbeats_is_the_place() -> None:
    """The coordinator counts the pods of a JobSet's jobs through."""
    lines = [said(n, "compiling", pod) for n, pod in enumerate(SLICES)]
    lost = "E0130 03:05:52.568 coordination_service.cc:1170] Task /job:jax_worker/replica:0/task:2 heartbeat timeout."
    assert root_of(*lines, said(300, lost, SLICES[0])).replica == "ms-slice-job-1-0"


def test_a_peer_that_worked_on_is_not_blamed_for_a_lost_connection() -> None:
    """Its end is stated, later, and was the service's doing: who complains is the place."""
    gone = "Additional GRPC error information from remote target /job:ps/replica:0/task:0:"
    pods = ("ms-ps-0", "ms-worker-1")
    began = [said(n, "Started server with target: grpc://0.0.0.0:8000", pod) for n, pod in enumerate(pods)]
    assert root_of(*began, said(60, gone, "ms-worker-1")).replica == "ms-ps-0"
    state = {"kind": "container", "exit_code": 0, "state": "terminated", "started": str(BEGIN),
             "finished": str(BEGIN.plus(120))}  # fmt: skip
    ended = said(121, "Completed", "ms-ps-0", origin=Origin.STATUS, fields=state)
    assert root_of(*began, said(60, gone, "ms-worker-1"), ended).replica == "ms-worker-1"


def test_the_process_that_failed_of_what_the_kernel_tells_is_the_place() -> None:
    """The launcher names the process that died of waiting; the disk failed under another one."""
    kernel = (
        "[13622.330021] critical medium error, dev nvme2n1, sector 311828480 op 0x0:(READ) flags 0x84700 phys_seg 16"
    )
    read = ("[rank6]: Traceback (most recent call last):", '[rank6]:   File "/app/data.py", line 88, in __getitem__',
            "[rank6]:     buf = self._fh.read(n)", "[rank6]: OSError: [Errno 5] Input/output error")  # fmt: skip
    died = "torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -6) local_rank: 2 (pid: 4122) of binary: py"
    lines = [said(2 + n / 100, text) for n, text in enumerate(read)]
    root = root_of(said(1, kernel, origin=Origin.NODE, job=None), *lines, said(600, died))
    assert (root.replica, root.rank) == ("rank6", 6)


def test_a_task_of_srun_is_a_rank() -> None:
    """srun counts its tasks over all machines of the step."""
    broke = ("Traceback (most recent call last):", '  File "/app/train.py", line 8, in <module>', "    main()",
             "OSError: [Errno 122] Disk quota exceeded")  # fmt: skip
    lines = [said(1 + n / 100, text) for n, text in enumerate(broke)]
    root = root_of(*lines, said(2, "srun: error: agpu04: task 3: Exited with exit code 1"))
    assert (root.replica, root.rank, root.exit_code) == ("task 3", 3, 1)


def test_horovods_missing_rank_is_the_place() -> None:
    """The stall report is one message, and the rank that is missed is not the one that reports it."""
    stall = ("One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting",
             "Missing ranks:", "3!: [allreduce_grads_0]",
             'One or more rank (marked by "!") is stalled for longer than 300 seconds. Will shutdown.')  # fmt: skip
    root = root_of(*[said(n / 100, f"[1,0]<stderr>:{text}") for n, text in enumerate(stall)])
    assert (root.replica, root.rank) == ("rank3", 3)
    assert root.evidence[0].text.endswith("3!: [allreduce_grads_0]")


@pytest.mark.parametrize(
    ("pods", "told", "meant"),
    [
        (["train-0-x7k2q", "train-1-b2c4d"], "train-1.svc.cluster.local", ["train-1-b2c4d"]),
        (["train-0-x7k2q", "train-1-b2c4d"], "/job:jax_worker/replica:0/task:1", ["train-1-b2c4d"]),
        (SLICES, "/job:jax_worker/replica:0/task:3", [SLICES[3]]),
        (SLICES[1:], "/job:jax_worker/replica:0/task:1", []),  # one pod is missing: the count is not known
        (["set-a-0-0-x7k2q", "set-b-0-0-b2c4d"], "/job:jax_worker/replica:0/task:1", []),
        (["jj-worker-0", "jj-worker-1"], "/job:jax_worker/replica:0/task:1", ["jj-worker-1"]),
        (["worker-replica-0", "ps-replica-0"], "/job:ps/replica:0/task:0", ["ps-replica-0"]),
        (["train-0-x7k2q"], "elsewhere-3", []),
    ],
)
def test_who_is_blamed(pods: list[str], told: str, meant: list[str]) -> None:
    """Hosts and tasks mean pods, where it is sure which."""
    assert Names(pods).blamed(told) == meant


def test_a_rank_that_only_waited_is_not_the_place() -> None:
    """The launcher names the first process that gave up waiting; the one that raised is missing among them."""
    raised = "Traceback (most recent call last):\n  File \"/app/train.py\", line 9, in <module>\n    main()\n"
    waited = "[rank{0}]:[E327 10:22:36.551720134 ProcessGroupNCCL.cpp:616] [Rank {0}] Watchdog caught collective " \
        "operation timeout: WorkNCCL(SeqNum=3, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600021 milliseconds"  # fmt: skip
    first = "E0327 10:22:38.770000 88 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -6) " \
        "local_rank: 1 (pid: 122) of binary: /usr/bin/python"  # fmt: skip
    waits = [said(700 + rank, waited.format(rank)) for rank in (1, 2, 3)]
    root = root_of(said(1, raised + "ValueError: no such entity"), *waits, said(720, first))
    assert (root.replica, root.rank, root.exit_code) == ("rank0", 0, None)


def test_the_pod_of_the_job_that_was_evicted_is_the_place() -> None:
    """Pods of others on the node were evicted too."""
    notice = "INF Adding new event event={\"Description\":\"Spot ITN received. Instance will be interrupted at 06:43\"}"
    deleted = said(40, "Deleted pod: ms-worker-1", job=JobKey("gke", "acme", "ms"), origin=Origin.CLUSTER)
    lines = [notice, "evicting pod kube-system/coredns-7", "evicting pod asr/ms-worker-1"]
    assert root_of(*(said(n, text, job=deleted.job) for n, text in enumerate(lines)), deleted).replica == "ms-worker-1"


@pytest.mark.parametrize(
    ("ends", "ranks", "place"),
    [
        (["task 0: Exited with exit code 1"], (2,), "task 0"),
        (["task 1: Exited with exit code 1", "task 0: Aborted (core dumped)"], (1, 0), "task 1"),
        (["task 1: Exited with exit code 1", "task 0: Exited with exit code 1"], (5,), "rank5"),
    ],
    ids=["one task holds all ranks", "each task is a rank", "tasks hold ranks, which is not known"],
)
def test_a_rank_is_told_by_its_task_where_srun_named_it(ends: list[str], ranks: tuple[int, ...], place: str) -> None:
    """The rank stays known."""
    lines = [said(n, f"[rank{rank}]: RuntimeError: no such split") for n, rank in enumerate(ranks)]
    root = root_of(*lines, *(said(9 + n, f"srun: error: n{n}: {end}") for n, end in enumerate(ends)))
    assert (root.replica, root.rank) == (place, ranks[0])


def test_hosts_in_brackets_before_lines_are_replicas(tmp_path: Path) -> None:
    """As tools print it that call ssh on all hosts of a slice."""
    lines = ["step 1", "[rank0]: step 1", "ValueError: no such split"]
    for before in ("({0} {1})", "[{0}-{1}]", "[{0} {1}]:"):
        log = tmp_path / "slice.log"
        log.write_text("".join(f"{before.format('worker', n)} {line}\n" for line in lines for n in (0, 1)))
        (diagnosis,) = diagnose_paths([str(log)], load_rulebook(), Options()).diagnoses
        assert diagnosis.root_cause is not None
        assert diagnosis.root_cause.replica in ("worker 0", "worker-0")


SRUN = "srun: error: gpu-{}: task {}: {}"
XID = "[Fri Jan 30 01:11:47 2026] NVRM: Xid (PCI:0000:b7:00): 62, pid=31207, name=python, 203c(3090) 85020c09"


@pytest.mark.parametrize(("ends", "place"), [(((3, "gpu-4"),), "task 3"), (((3, "gpu-4"), (5, "gpu-4")), "gpu-4")])
def test_the_only_task_on_the_blamed_machine_is_the_place(ends: tuple[tuple[int, str], ...], place: str) -> None:
    """srun says which tasks ran on a machine; where there were more, the machine is named."""
    lines = [said(0, "step 1 loss 2.0"), said(10, XID, node="gpu-4", origin=Origin.NODE)]
    lines += [said(20, SRUN.format(1, 0, "Aborted (core dumped)"))]
    lines += [said(21 + task, f"srun: error: {node}: task {task}: Killed") for task, node in ends]
    assert root_of(*lines).replica == place
