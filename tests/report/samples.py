"""Diagnoses of the kinds that reports must carry, built by hand: what a judge would hand over."""

from __future__ import annotations

from collections.abc import Callable

from analyzer.model import (
    Alternative,
    Attempt,
    Budgets,
    Checkpoint,
    Context,
    Diagnosis,
    Evidence,
    Gap,
    Instant,
    Job,
    Memory,
    Point,
    Progress,
    Remedy,
    ReplicaRuns,
    Report,
    Restarts,
    Retry,
    RootCause,
    RuledOut,
    Run,
    Stats,
    Symptom,
    Timeline,
    TimelineEvent,
    Tool,
)

DAY = "2026-03-11"


def at(clock: str, day: str = DAY) -> Instant:
    """The instant of a time of day, UTC."""
    found = Instant.parse(f"{day}T{clock}Z")
    assert found is not None
    return found


def evidence(
    text: str, clock: str | None = None, replica: str | None = None, *, severity: str = "ERROR", line: int = 1
) -> Evidence:
    time = at(clock) if clock else None
    query = f"insertId%3D%22k{line}%22"
    link = f"https://console.cloud.google.com/logs/query;query={query};cursorTimestamp={time}?project=lantern-ml-prod"
    return Evidence(
        text=text, source="exports/ml_job.json", line=line, insert_id=f"k{line}", replica=replica, time=time,
        severity=severity, link=link,
    )  # fmt: skip


def host_oom() -> Diagnosis:
    """A worker was killed for memory on its second attempt; its peers died of it."""
    proof = evidence(
        "The replica workerpool1-0 ran out-of-memory and exited with a non-zero status of 137(SIGKILL).",
        "08:20:44.120", "service", line=48211,
    )  # fmt: skip
    kernel = evidence(
        "Memory cgroup out of memory: Killed process 2214 (python3) total-vm:41230112kB, anon-rss:25690112kB, file-rss:68120kB",
        "08:20:41.003", "workerpool1-0", line=48102,
    )  # fmt: skip
    reset = 'Unavailable: Connection reset by peer\nAdditional GRPC error information: {"grpc_status":14}'
    first = Attempt(
        number=1, start=at("07:02:10"), end=at("07:41:30"), end_reason="crash", running_since=at("07:03:02"),
        replicas=[
            ReplicaRuns(name="workerpool0-0", runs=[Run(start=at("07:03:02"), end=at("07:41:22"), reason="stopped", node="gk3-a")]),
            ReplicaRuns(name="workerpool1-0", runs=[
                Run(start=at("07:03:05"), end=at("07:20:10"), exit_code=1, reason="retryable", node="gk3-b"),
                Run(start=at("07:20:14"), end=at("07:41:18"), exit_code=139, signal="SIGSEGV", reason="crash", node="gk3-b"),
            ]),
            ReplicaRuns(name="workerpool1-1", runs=[Run(start=at("07:03:04"), end=at("07:41:25"), reason="stopped", node="gk3-c")]),
        ],
    )  # fmt: skip
    second = Attempt(
        number=2, start=at("07:44:00"), end=at("08:21:52"), end_reason="out_of_memory", running_since=at("07:45:01"),
        replicas=[
            ReplicaRuns(name="workerpool0-0", runs=[
                Run(start=at("07:45:01"), end=at("08:21:20"), exit_code=1, reason="cascade", node="gk3-a"),
                Run(start=at("08:21:24"), end=at("08:21:50"), reason="stopped", node="gk3-a", doomed=True, deduced=["end"]),
            ]),
            ReplicaRuns(name="workerpool1-0", runs=[
                Run(start=at("07:45:03"), end=at("08:20:41.003"), exit_code=137, signal="SIGKILL", reason="oom", node="gk3-b",
                    why="the service names the replica and the exit code"),
            ]),
            ReplicaRuns(name="workerpool1-1", runs=[
                Run(start=at("07:45:02"), end=at("07:58:40"), reason="maintenance", node="gk3-c"),
                Run(start=at("08:00:12"), end=at("08:21:22"), exit_code=1, reason="cascade", node="gk3-f", deduced=["exit_code"]),
            ]),
        ],
    )  # fmt: skip
    timeline = Timeline(
        attempts=[first, second], restarts_total=4,
        restarts=Restarts(in_place=1, moved=1, doomed=1, job_retries=1),
        restarts_by_replica={"workerpool1-0": 1, "workerpool1-1": 1, "workerpool0-0": 1},
        budgets=Budgets(worker_restarts={"workerpool1-0": "1/5", "workerpool1-1": "1/5", "workerpool0-0": "0/5"}, job_retries="1/3"),
        checkpoints=[Checkpoint(replica="workerpool0-0", time=at(clock), step=step) for clock, step in
                     (("07:15:00", 1000), ("07:30:00", 2000), ("07:59:30", 3000), ("08:14:40", 4000))],
        progress=Progress(last_step=4412, last_step_time=at("08:20:39"), resumed_from_step=2000),
        lost_seconds=361.0,
        events=[
            TimelineEvent(time=at("07:01:40"), kind="state", replica="service", text="Job is queued."),
            TimelineEvent(time=at("07:45:01"), kind="state", replica="service", text="Job is running."),
            TimelineEvent(time=at("08:20:44.120"), kind="failure", replica="service", text=proof.text),
            TimelineEvent(time=at("08:21:52"), kind="state", replica="service", text="Job failed."),
        ],
        remarks=["The second attempt resumed from step 2000, so 13 minutes of work were repeated."],
    )  # fmt: skip
    return Diagnosis(
        job=Job(
            id="5501882340019437568", platform="vertex", project="lantern-ml-prod", region="us-central1",
            display_name="bert-large-pretrain", state="JOB_STATE_FAILED", machine_type="n1-highmem-4", accelerator="2 × NVIDIA_TESLA_T4",
            replicas=["workerpool0-0", "workerpool1-0", "workerpool1-1"],
            created=at("07:01:38"), started=at("07:03:02"), ended=at("08:21:52"),
        ),
        outcome="failed", category="out_of_memory", cause="host",
        summary="workerpool1-0 failed: the machine's memory ran out (n1-highmem-4 offers about 22.3 GiB, the process held 24.5 GiB)",
        confidence=0.96,
        confidence_reasons=[
            "The service names the replica, the exit code and the cause",
            "The kernel line and the exit code 137 (SIGKILL) agree with it",
            "No other root cause came before it",
        ],
        retry=Retry(advice="after_fix", why="The same job on the same machine type would run out of memory at the same step"),
        root_cause=RootCause(
            rule="out_of_memory.host.service_verdict", replica="workerpool1-0", rank=1, attempt=2, time=at("08:20:41.003"),
            exit_code=137, signal="SIGKILL", evidence=[proof, kernel],
            values={"machine_type": "n1-highmem-4", "process": "python3", "anon_rss": "24.5 GiB"},
        ),
        symptoms=[
            Symptom(rule="cascade.grpc_unavailable", replica="workerpool0-0", time=at("08:21:19"),
                    evidence=evidence(reset, "08:21:19", "workerpool0-0", line=48300),
                    explained_by="out_of_memory.host.service_verdict"),
            Symptom(rule="cascade.peer_closed", replica="workerpool1-1", time=at("08:21:20"),
                    evidence=evidence("Socket closed", "08:21:20", "workerpool1-1", line=48310),
                    explained_by="out_of_memory.host.service_verdict"),
        ],
        alternatives=[
            Alternative(rule="network.grpc.unavailable", category="network", cause="peer_unreachable", replica="workerpool0-0",
                        time=at("08:21:19"), score=22.0,
                        points=[Point(points=30, reason="the line is the last error of the primary replica"),
                                Point(points=-48, reason="it came 38 s after a peer was killed")],
                        evidence=evidence("Unavailable: Connection reset by peer", "08:21:19", "workerpool0-0", line=48300)),
        ],
        points=[Point(points=80, reason="an exact rule for the service's own verdict"),
                Point(points=15, reason="earliest failure of the last attempt"),
                Point(points=12, reason="explains 2 later findings on other replicas"),
                Point(points=-5, reason="no memory figures of the job itself before the end")],
        ruled_out=[RuledOut(category="preemption", why="no maintenance or preemption event within 20 minutes of the end"),
                   RuledOut(category="user_exception", why="no traceback on the replica that ended first")],
        memory=Memory(machine_type="n1-highmem-4", capacity_gib=26.0, allocatable_gib=22.3, usable_low_gib=15.6, observed_peak_gib=24.5,
                      suggestions=["n1-highmem-8", "n1-standard-16"], basis="GKE's reservation formula"),
        timeline=timeline,
        remediation=[
            Remedy(title="Use a machine type with more memory for worker pool 1",
                   steps=["Start the job on n1-highmem-8 (52 GiB, about 45 GiB of it usable)", "Keep the accelerators as they are"],
                   commands=["gcloud ai custom-jobs create --region=us-central1 --project=lantern-ml-prod --display-name=bert-large-pretrain "
                             "--worker-pool-spec=machine-type=n1-highmem-8,replica-count=2"],
                   sources=["https://docs.cloud.google.com/vertex-ai/docs/training/understanding-training-service"],
                   again="If 52 GiB do not hold it either, the input pipeline grows without bound: watch the resident size over the steps"),
            Remedy(title="Reduce what the input pipeline holds", steps=["Lower shuffle buffer, prefetch and number of loader workers"],
                   applies_if="memory grows with the steps"),
        ],
        gaps=[Gap(kind="no_metrics", text="No memory metrics are in the input; the peak is the kernel's figure at the kill",
                  command="gcloud monitoring time-series list --project=lantern-ml-prod")],
        stats=Stats(entries=48_411, bytes=31_204_882, first=at("07:01:38"), last=at("08:21:52"),
                    severities={"INFO": 46_900, "WARNING": 1_300, "ERROR": 211}, seconds=0.41),
        context=Context(
            before=[evidence(f"INFO:tensorflow:global_step = {4400 + i}, loss = 2.{31 - i}, examples/sec = 412.{i}", f"08:20:3{i}.5", "workerpool1-0",
                             severity="INFO", line=48090 + i) for i in range(5, 10)],
            after=[evidence("Signal 15 (SIGTERM) was caught. Terminated by service.", "08:21:20", "workerpool1-0", severity="WARNING", line=48320)],
        ),
        explanation=["The story was cut at attempt 2, the last one", "The service's verdict names workerpool1-0, exit code 137, out of memory",
                     "gRPC errors on 2 replicas came later and follow from it", "Runner-up: network.grpc.unavailable with 22 of 102 points"],
    )  # fmt: skip


_NCCL_TRACE = """Traceback (most recent call last):
  File "/app/train.py", line 311, in <module>
    main()
  File "/app/train.py", line 204, in main
    loss = step(model, batch)
  File "/app/model/head.py", line 77, in forward
    logits = self.proj(x.view(b, -1))
  File "/opt/conda/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x2048 and 1024x512)"""


def nccl_cascade(ranks: int = 8) -> Diagnosis:
    """One rank raised; the others waited for it until NCCL's watchdog killed them, after two days of training."""

    def run(rank: int) -> Run:
        if rank == 5:
            return Run(
                start=at("06:00:12", "2026-03-09"), end=at("08:20:41.200"), exit_code=1, reason="error", node="a3-05"
            )
        return Run(start=at(f"06:00:{10 + rank % 40:02d}", "2026-03-09"), end=at(f"08:30:{41 + rank % 15:02d}.9"), exit_code=134,
                   signal="SIGABRT", reason="cascade", node=f"a3-{rank:02d}")  # fmt: skip

    names = [f"llama-ft-worker-{rank}" for rank in range(ranks)]
    proof = evidence(_NCCL_TRACE, "08:20:41.200", "llama-ft-worker-5", line=9120)
    watchdog = (
        "[rank{rank}]:[E311 08:30:41.552] ProcessGroupNCCL.cpp:616 [Rank {rank}] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=88121, OpType=ALLREDUCE, NumelIn=4718592, Timeout(ms)=600000) ran for 600012 milliseconds before timing out."
    )
    others = [rank for rank in range(ranks) if rank != 5]
    return Diagnosis(
        job=Job(id="llama-ft", platform="gke", project="lantern-ml-prod", region="europe-west4", state="Failed", machine_type="a3-highgpu-8g",
                accelerator="8 × H100 80GB", replicas=names, created=at("05:58:00", "2026-03-09"), started=at("06:00:10", "2026-03-09"), ended=at("08:31:10")),
        outcome="failed", category="user_exception", cause="tensor_shape",
        summary="llama-ft-worker-5 failed: matrix shapes do not fit (32x2048 and 1024x512) in forward, /app/model/head.py line 77; "
                f"the NCCL timeouts of the other {ranks - 1} workers follow from it",
        confidence=0.91, confidence_reasons=["The traceback is the earliest failure, ten minutes before the first NCCL timeout",
                                             "All other workers ended by the watchdog's abort (exit code 134)"],
        retry=Retry(advice="after_fix", why="The batch that does not fit will come again"),
        root_cause=RootCause(rule="user_exception.tensor_shape", replica="llama-ft-worker-5", rank=5, attempt=1, time=at("08:20:41.200"),
                             exit_code=1, evidence=[proof], values={"exception": "RuntimeError", "frame_file": "/app/model/head.py", "frame_line": "77"}),
        symptoms=[Symptom(rule="cascade.nccl_timeout", replica=f"llama-ft-worker-{rank}", time=at("08:30:41.552"),
                          evidence=evidence(watchdog.format(rank=rank), "08:30:41.552", f"llama-ft-worker-{rank}", line=9200 + rank),
                          explained_by="user_exception.tensor_shape") for rank in others],
        alternatives=[Alternative(rule="network.nccl_timeout", category="network", cause="nccl", replica="llama-ft-worker-0", time=at("08:30:41.552"), score=18.0,
                                  points=[Point(points=40, reason="7 replicas report it"), Point(points=-60, reason="the rank that is missing in the collective raised before")],
                                  evidence=evidence(watchdog.format(rank=0), "08:30:41.552", "llama-ft-worker-0", line=9200))],
        points=[Point(points=80, reason="exact rule for the exception's message"), Point(points=20, reason="earliest failure"), Point(points=14, reason="explains the 7 NCCL timeouts")],
        ruled_out=[RuledOut(category="hardware", why="no XID, ECC or NVLink line on any node")],
        timeline=Timeline(
            attempts=[Attempt(number=1, start=at("05:58:00", "2026-03-09"), end=at("08:31:10"), end_reason="user_exception",
                              replicas=[ReplicaRuns(name=name, runs=[run(rank)]) for rank, name in enumerate(names)])],
            checkpoints=[Checkpoint(replica="llama-ft-worker-0", time=at(f"{hour:02d}:00:00", day), step=1000 * index)
                         for index, (hour, day) in enumerate([(12, "2026-03-09"), (20, "2026-03-09"), (4, "2026-03-10"), (14, "2026-03-10"), (2, DAY), (8, DAY)], 1)],
            progress=Progress(last_step=6204, last_step_time=at("08:20:40")), lost_seconds=1241.2,
            events=[TimelineEvent(time=at("08:31:10"), kind="state", replica=None, text="Job has reached the specified backoff limit")],
            budgets=Budgets(job_retries="0/0"),
        ),
        remediation=[Remedy(title="Fix the shape in model/head.py line 77: the projection expects 1024 features, the batch has 2048",
                            steps=["Print x.shape before the projection for the batch at step 6204", "Resume from the checkpoint of step 6000"],
                            commands=["kubectl logs llama-ft-worker-5 -n default --previous"], again="Add a shape assertion to the collate function")],
        stats=Stats(entries=812_004, first=at("05:58:00", "2026-03-09"), last=at("08:31:10"), severities={"INFO": 811_000, "ERROR": 1_004}, seconds=4.2),
        context=Context(before=[evidence(f"step {6200 + i} loss 1.7{i}", f"08:20:3{i}", "llama-ft-worker-5", severity="INFO", line=9100 + i) for i in range(5)]),
        explanation=["One attempt, 8 replicas", "The earliest failure is the traceback of llama-ft-worker-5", "7 NCCL timeouts follow from it"],
    )  # fmt: skip


def stockout() -> Diagnosis:
    """Three tries found no accelerator; no container ever ran."""
    text = "Resources are insufficient in region: us-central1. Try a different region or use a different accelerator."
    return Diagnosis(
        job=Job(id="7712039944120033280", platform="vertex", project="lantern-ml-prod", region="us-central1", state="JOB_STATE_FAILED",
                machine_type="a2-highgpu-1g", accelerator="NVIDIA_TESLA_A100", created=at("10:00:00"), ended=at("11:12:09")),
        outcome="failed", category="stockout", cause="region",
        summary="The job never started: us-central1 has no capacity for a2-highgpu-1g with NVIDIA_TESLA_A100 at the moment",
        confidence=0.99, confidence_reasons=["The service says so in its own words", "No replica logged a line"],
        retry=Retry(advice="elsewhere", why="Capacity differs by region; a higher quota does not help"),
        root_cause=RootCause(rule="stockout.region", replica=None, time=at("11:12:08"), evidence=[evidence(text, "11:12:08", "service", line=12)],
                             values={"region": "us-central1", "accelerator": "NVIDIA_TESLA_A100"}),
        timeline=Timeline(attempts=[
            Attempt(number=1, start=at("10:00:00"), end=at("10:20:00"), end_reason="stockout"),
            Attempt(number=2, start=at("10:22:00"), end=at("10:44:00"), end_reason="stockout"),
            Attempt(number=3, start=at("10:50:00"), end=at("11:12:09"), end_reason="stockout")],
            restarts_total=2, restarts=Restarts(job_retries=2), budgets=Budgets(job_retries="2/3"),
            events=[TimelineEvent(time=at("11:12:08"), kind="failure", replica="service", text=text)]),
        remediation=[Remedy(title="Submit the job in another region that offers A100",
                            steps=["Regions with NVIDIA_TESLA_A100 for training: us-east1, us-west1, europe-west4 (no promise of capacity)"],
                            commands=["gcloud ai custom-jobs create --region=europe-west4 --project=lantern-ml-prod …"],
                            sources=["https://docs.cloud.google.com/vertex-ai/docs/general/locations#accelerators"],
                            again="Use Dynamic Workload Scheduler (FLEX_START) or a reservation")],
        ruled_out=[RuledOut(category="quota", why="the text speaks of the provider's capacity; a quota error names a metric")],
        gaps=[Gap(kind="no_worker_log", text="No replica log is in the input, as is usual where no machine was found")],
        stats=Stats(entries=19, first=at("10:00:00"), last=at("11:12:09"), severities={"INFO": 16, "ERROR": 3}, seconds=0.01),
    )  # fmt: skip


def success_after_restarts() -> Diagnosis:
    """Two preemptions, then all well."""
    return Diagnosis(
        job=Job(id="resnet-spot-0311", platform="batch", project="lantern-ml-prod", region="us-east1", state="SUCCEEDED", machine_type="n1-standard-8",
                replicas=["task-0"], created=at("01:00:00"), started=at("01:02:00"), ended=at("05:41:00")),
        outcome="succeeded", category="success", cause="after_restarts",
        summary="The job succeeded after two preemptions of task-0; 31 minutes of work were repeated",
        confidence=0.98, confidence_reasons=["The job's state is SUCCEEDED", "The last run of task-0 ended with exit code 0"],
        timeline=Timeline(
            attempts=[Attempt(number=1, start=at("01:00:00"), end=at("05:41:00"), end_reason="success", running_since=at("01:02:00"), replicas=[
                ReplicaRuns(name="task-0", runs=[
                    Run(start=at("01:02:00"), end=at("02:10:31"), exit_code=50001, reason="preempted", node="batch-a"),
                    Run(start=at("02:14:00"), end=at("04:02:12"), exit_code=50001, reason="preempted", node="batch-b"),
                    Run(start=at("04:06:40"), end=at("05:40:50"), exit_code=0, reason="completed", node="batch-c")])])],
            restarts_total=2, restarts=Restarts(moved=2), restarts_by_replica={"task-0": 2}, budgets=Budgets(worker_restarts={"task-0": "2/3"}),
            checkpoints=[Checkpoint(replica="task-0", time=at(clock), step=step) for clock, step in (("01:55:00", 10), ("03:40:00", 25), ("05:20:00", 40))],
            lost_seconds=1863.0, remarks=["Both restarts resumed from the newest checkpoint."]),
        stats=Stats(entries=9_112, first=at("01:00:00"), last=at("05:41:00"), severities={"INFO": 9_100, "ERROR": 12}, seconds=0.1),
    )  # fmt: skip


def unknown() -> Diagnosis:
    """A job that ended with exit code 1 and nothing that says why."""
    return Diagnosis(
        job=Job(id="console", platform="local"), outcome="failed", category="unknown", cause="no_convincing_line",
        summary="The program ended with exit code 1, and no line of the input says why",
        confidence=0.2, confidence_reasons=["The only sign is the exit code", "The log breaks off in the middle of a step"],
        retry=Retry(advice=None, why=""),
        root_cause=RootCause(rule=None, exit_code=1, evidence=[
            Evidence(text="warning: lattice constant drifted to 3.91e-4 in shard 17", source="console.txt", line=901),
            Evidence(text="solver left its basin, giving up", source="console.txt", line=902)]),
        timeline=Timeline(attempts=[Attempt(number=1, replicas=[ReplicaRuns(name="main", runs=[Run(exit_code=1, reason="error", deduced=["exit_code"])])])]),
        remediation=[Remedy(title="Get the output that comes after the last line", steps=["Run the program with PYTHONUNBUFFERED=1 and PYTHONFAULTHANDLER=1"])],
        gaps=[Gap(kind="cut_off", text="The log breaks off in line 902 without a final message"),
              Gap(kind="no_times", text="No line has a time, so nothing can be said about durations")],
        stats=Stats(entries=902, bytes=71_200, severities={"DEFAULT": 902}, seconds=0.02),
    )  # fmt: skip


def running() -> Diagnosis:
    """A job in the middle of its work."""
    return Diagnosis(
        job=Job(id="8890012", platform="slurm", region=None, state="RUNNING", replicas=["task0", "task1"], started=at("09:00:00")),
        outcome="running", category="unknown", cause="running", summary="The job is running; nothing failed so far", confidence=0.9,
        confidence_reasons=["The newest line is a training step"],
        timeline=Timeline(attempts=[Attempt(number=1, start=at("09:00:00"), replicas=[
            ReplicaRuns(name=f"task{rank}", runs=[Run(start=at("09:00:05"), reason="running", last_entry=at("09:45:00"))]) for rank in (0, 1)])],
            progress=Progress(last_step=812, last_step_time=at("09:45:00"))),
        stats=Stats(entries=1_812, first=at("09:00:00"), last=at("09:45:00"), severities={"INFO": 1_812}, seconds=0.03),
    )  # fmt: skip


def many_replicas(count: int = 2000) -> Diagnosis:
    """The cascade on very many workers."""
    return nccl_cascade(count)


ALL: dict[str, Callable[[], Diagnosis]] = {
    "host_oom": host_oom, "nccl_cascade": nccl_cascade, "stockout": stockout,
    "success_after_restarts": success_after_restarts, "unknown": unknown, "running": running,
}  # fmt: skip


def report(*diagnoses: Diagnosis) -> Report:
    """A report of these diagnoses as the program would make it."""
    return Report(tool=Tool(version="0.1.0", rulebook_version="2026.03"), diagnoses=list(diagnoses))
