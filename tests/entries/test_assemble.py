"""What belongs to one job comes together, and nothing else does."""

from __future__ import annotations

from analyzer.entries import assemble, sift
from analyzer.model import SECOND, Entry, Instant, JobKey, Origin


def at(second: int) -> Instant:
    return Instant((1_700_000_000 + second) * SECOND)


def test_a_projects_number_and_its_id_are_one() -> None:
    """A description names the project by number, the log by id: one job under the id."""
    number = Entry(text="a", job=JobKey("vertex", "482913007755", "55"), origin=Origin.STATUS)
    name = Entry(text="b", job=JobKey("vertex", "acme-ml", "55"), time=at(0))
    stories, _ = assemble(sift([number, name]))
    assert [story.key for story in stories] == [JobKey("vertex", "acme-ml", "55")]


def test_a_pods_events_join_its_controllers_job() -> None:
    """Events name only the pod; its container log names the controller."""
    log = Entry(
        text="step 1", job=JobKey("gke", "acme", "pretrain"), replica="pretrain-worker-0-x7k2", origin=Origin.REPLICA
    )
    event = Entry(
        text="Back-off", job=JobKey("gke", "acme", "pretrain-worker-0-x7k2"), origin=Origin.CLUSTER,
        fields={"kind": "event", "pod": "pretrain-worker-0-x7k2"},
    )  # fmt: skip
    stories, _ = assemble(sift([log, event]))
    assert [(story.key.id, len(story.entries)) for story in stories] == [("pretrain", 2)]


def test_what_a_child_job_made_belongs_to_the_owner_that_its_pods_name() -> None:
    """A tuner's trial is a Job of its own whose pods carry the experiment's name: its events are the experiment's."""
    log = Entry(text="auc 0.7", job=JobKey("gke", "p", "search"), replica="search-a1-x7k2", origin=Origin.REPLICA)
    event = Entry(
        text="Created pod: search-a1-x7k2", job=JobKey("gke", "p", "trial-a1"), origin=Origin.CLUSTER,
        fields={"kind": "event", "created_pod": "search-a1-x7k2"},
    )  # fmt: skip
    stories, _ = assemble(sift([log, event]))
    assert [(story.key.id, len(story.entries)) for story in stories] == [("search", 2)]


def test_an_event_about_an_object_of_the_jobs_name_is_the_jobs() -> None:
    """A custom resource's kind need not be known where its name is that of a job."""
    log = Entry(text="auc 0.7", job=JobKey("gke", "p", "search"), replica="search-a1", origin=Origin.REPLICA)
    other = Entry(text="auc 0.7", job=JobKey("gke", "p", "more"), replica="more-a1", origin=Origin.REPLICA)
    event = Entry(text="Experiment is done", origin=Origin.CLUSTER, fields={"involved_name": "search"})
    stories, _ = assemble(sift([log, other, event]))
    assert {story.key.id: len(story.entries) for story in stories} == {"search": 2, "more": 1}


def test_pods_of_one_indexed_job_are_one_without_labels() -> None:
    """Their names tell it where an export has no labels: JOB-INDEX-RANDOM."""
    logs = [
        Entry(
            text=f"chunk {i}",
            job=JobKey("gke", "p", f"ingest-{i}-{end}"),
            replica=f"ingest-{i}-{end}",
            origin=Origin.REPLICA,
        )
        for i, end in enumerate(("ydqqv", "hesks", "wcm22"))
    ]
    workload = Entry(
        text="Exceeded", job=JobKey("gke", "", "job-ingest-0f3a1"), origin=Origin.CLUSTER,
        fields={"kind": "workload", "involved_name": "job-ingest-0f3a1"},
    )  # fmt: skip
    stories, _ = assemble(sift([*logs, workload]))
    assert [(story.key.id, len(story.entries)) for story in stories] == [("ingest", 4)]


def test_text_joins_the_job_that_the_input_is_about() -> None:
    """Rows of a list and events of another pod make no second job that output without a speaker could be of."""
    text = Entry(text="boom", source="console.txt")
    about = Entry(text="FAILED", job=JobKey("tpu", "p", "t5"), origin=Origin.STATUS, source="console.txt")
    fields = {"kind": "job", "state": "SUSPENDED", "involved_name": "eval", "listed": True, "platform": "tpu"}
    row = Entry(text="eval SUSPENDED", origin=Origin.STATUS, source="console.txt", fields=fields)
    stories, _ = assemble(sift([text, about, row]))
    assert {story.key.id: len(story.entries) for story in stories} == {"t5": 2, "eval": 1}


def test_two_jobs_with_like_names_stay_apart() -> None:
    """`train` and `train-2` are two jobs, though one name begins like the other."""
    one = Entry(text="a", job=JobKey("gke", "acme", "train"), replica="train-abc", origin=Origin.REPLICA)
    two = Entry(text="b", job=JobKey("gke", "acme", "train-2"), replica="train-2-abc", origin=Origin.REPLICA)
    assert len(assemble(sift([one, two]))[0]) == 2


def test_a_kernel_line_joins_the_job_that_ran_on_its_node_then() -> None:
    """Node and time tie it; the same node a day later does not."""
    log = Entry(text="step 1", job=JobKey("gke", "p", "a"), node="n1", time=at(0), origin=Origin.REPLICA)
    other = Entry(text="step 1", job=JobKey("gke", "p", "b"), node="n2", time=at(0), origin=Origin.REPLICA)
    near = Entry(text="oom", node="n1", time=at(60), origin=Origin.NODE)
    far = Entry(text="oom", node="n1", time=at(86_400), origin=Origin.NODE)
    stories, notes = assemble(sift([log, other, near, far]))
    assert {story.key.id: len(story.entries) for story in stories} == {"a": 2, "b": 1}
    assert [(note.kind, note.count) for note in notes] == [("unrelated", 1)]


def test_text_without_identity_joins_the_only_job_or_is_one() -> None:
    """Plain output joins the single job of the call; alone it is a job named after its file."""
    text = Entry(text="boom", source="logs/run7.out.txt", line=1)
    job = Entry(text="a", job=JobKey("vertex", "p", "1"))
    assert [story.key.id for story in assemble(sift([text, job]))[0]] == ["1"]
    assert [story.key for story in assemble(sift([text]))[0]] == [JobKey("local", "", "run7")]


def test_pods_of_one_ray_cluster_are_one_job() -> None:
    """Head and workers of all groups bear the cluster's name; a pod that only looks like a worker does not."""
    names = ("sft-rc-9kd2p-head-6x2jq", "sft-rc-9kd2p-a100-group-worker-b8n6k", "other-worker-z4v7r")
    rows = [
        Entry(text=name, job=JobKey("gke", "", name), replica=name, origin=Origin.STATUS, fields={"pod": name})
        for name in names
    ]
    stories, _ = assemble(sift(rows))
    assert {story.key.id: len(story.entries) for story in stories} == {"sft-rc-9kd2p": 2, "other-worker-z4v7r": 1}


def slurm(text: str, number: str | None, origin: Origin = Origin.CLUSTER, source: str = "slurmctld.log") -> Entry:
    job = JobKey("slurm", "", number) if number else None
    return Entry(text=text, job=job, origin=origin, source=source, line=len(text), fields={"platform": "slurm"})


def test_the_daemon_of_a_machine_joins_the_job_that_its_file_is_about() -> None:
    """slurmd's lines between those that name the job's number are of it; the controller's of many jobs are not."""
    entries = [
        slurm("sched: Allocate JobId=90211", "90211"), slurm("released JobId=90212", "90212"),
        slurm("node a3h-011 has low memory", None), slurm("launch task StepId=90211.0", "90211", Origin.NODE, "slurmd.log"),
        slurm("prolog: row remapping failed", None, Origin.NODE, "slurmd.log"),
    ]  # fmt: skip
    stories, notes = assemble(sift(entries))
    assert {story.key.id: len(story.entries) for story in stories} == {"90211": 3, "90212": 1}
    assert [(note.kind, note.count) for note in notes] == [("unrelated", 1)]


def test_tasks_of_a_slurm_array_are_the_arrays() -> None:
    """slurmd knows a task by its own number, which the controller puts behind the array's."""
    entries = [
        slurm("sched: Allocate JobId=88213_0(88214) NodeList=a-04", "88213"),
        slurm("[88214.batch] error: Could not open stdout file", "88214", Origin.NODE, "slurmd.log"),
        slurm("[88300.batch] done with job", "88300", Origin.NODE, "slurmd.log"),
    ]
    stories, _ = assemble(sift(entries))
    assert {story.key.id: len(story.entries) for story in stories} == {"88213": 2, "88300": 1}


def pod_line(job: str, pod: str, node: str | None = None) -> Entry:
    return Entry(text="step 1", job=JobKey("gke", "p", job), replica=pod, node=node, origin=Origin.REPLICA, time=at(0))


def about(name: str, **facts: object) -> Entry:
    """An event about an object of some name."""
    fields = {"kind": "event", "involved_name": name, **facts}
    return Entry(text="x", job=JobKey("gke", "p", name), origin=Origin.CLUSTER, fields=fields, time=at(1))


def test_a_labelled_name_below_an_object_is_the_objects() -> None:
    """Where labels give a child's name that no event is about: JOB-INDEX, JOB-ROLE."""
    logs = [pod_line("fit-0", "fit-0-x7k2q"), pod_line("kd-worker", "kd-worker-1")]
    stories, _ = assemble(sift([*logs, about("fit"), about("kd")]))
    assert {story.key.id: len(story.entries) for story in stories} == {"fit": 2, "kd": 2}
    stories, _ = assemble(sift([pod_line("fit-eval", "fit-eval-x7k2q"), about("fit")]))
    assert sorted(story.key.id for story in stories) == ["fit", "fit-eval"]


def deleted(**place: str) -> Entry:
    """The audit log's word on something that was deleted as a whole."""
    return Entry(text="x.delete", origin=Origin.AUDIT, fields={"kind": "audit", **place}, time=at(60))


def test_what_is_deleted_as_a_whole_is_every_jobs_in_it() -> None:
    """A namespace by the events of its jobs, a pool and a cluster by the names of their machines."""
    near = [pod_line("a", "a-0", "gke-prod-gpu-1f00ba17-x7k2"), about("a", namespace="ml", pod="a-0")]
    far = [pod_line("b", "b-0", "gke-web-gpu-1f00ba17-x7k2"), about("b", namespace="web", pod="b-0")]
    for place in ({"namespace": "ml"}, {"cluster": "prod", "node_pool": "gpu"}, {"cluster": "prod"}):
        stories, _ = assemble(sift([*near, *far, deleted(**place)]))
        assert {story.key.id: len(story.entries) for story in stories} == {"a": 3, "b": 2}, place
    stories, notes = assemble(sift([*near, *far, deleted(cluster="prod", node_pool="cpu")]))
    assert sum(len(story.entries) for story in stories) == 4
    assert [note.kind for note in notes] == ["unrelated"]
