"""Kubernetes: restart counts, states, events, pods that come in place of others, numbered attempts."""

from __future__ import annotations

from chain import lines, runs_of, timeline_of, told

from analyzer.model import Entry, JobKey, Origin

GKE = JobKey("gke", "walnut", "fit")
AT = "2025-03-04T05:{:02d}:00Z"


def container(pod: str, *, number: int = 0, **facts: object) -> Entry:
    """A state of a pod's container as its description gives it."""
    return told(
        GKE, None, "state", origin=Origin.STATUS, number=number, replica=pod, kind="container", pod=pod, **facts
    )


def event(seconds: float, pod: str, reason: str, text: str, **facts: object) -> Entry:
    """A Kubernetes event about a pod."""
    number = int(seconds)
    return told(
        GKE,
        seconds,
        text,
        origin=Origin.CLUSTER,
        number=number,
        replica=pod,
        kind="event",
        pod=pod,
        reason=reason,
        **facts,
    )


def test_a_restart_count_is_believed_though_no_line_shows_the_restarts() -> None:
    """The pod's own count is the number of restarts; its two known states are its runs."""
    timeline = timeline_of(
        [
            container("fit-0", number=1, state="waiting", reason="CrashLoopBackOff", restart_count=6),
            container(
                "fit-0", number=2, state="terminated", last_state=True, restart_count=6, exit_code=1, reason="Error",
                started=AT.format(10), finished=AT.format(11),
            ),
        ]
    )  # fmt: skip
    assert (timeline.restarts.in_place, timeline.restarts_by_replica) == (6, {"fit-0": 6})
    assert [run.exit_code for run in runs_of(timeline)["fit-0"]] == [1]


def test_states_cut_a_log_where_it_has_no_mark() -> None:
    """A last state and a state tell when the container was started again."""
    states = [
        container(
            "fit-0", number=1, state="terminated", last_state=True, restart_count=1, exit_code=137, reason="OOMKilled",
            started=AT.format(0), finished=AT.format(10),
        ),
        container("fit-0", number=2, state="running", restart_count=1, started=AT.format(11)),
    ]  # fmt: skip
    log = lines((5, "fit-0", "one"), (300, "fit-0", "two"), (665, "fit-0", "three"), (700, "fit-0", "four"), key=GKE)
    first, second = runs_of(timeline_of([*states, *log]))["fit-0"]
    assert (first.exit_code, first.reason, second.reason) == (137, "oom", "running")
    assert first.end is not None
    assert second.start is not None
    assert first.end < second.start


def test_an_event_that_came_often_counts_as_often() -> None:
    """`Started` twice is one restart, whether as two events or as one with a count."""
    twice = [event(t, "fit-0", "Started", "Started container main", count=1) for t in (10, 200)]
    counted = [event(200, "fit-0", "Started", "Started container main", count=2)]
    assert timeline_of(twice).restarts_total == 1
    assert timeline_of(counted).restarts_total == 1


def test_pods_of_one_index_follow_one_another() -> None:
    """A pod that comes when the last of its index had ended stands in its place; one beside it does not."""
    log = lines(
        (0, "fit-0-0-x7k2p", "step 1 loss 1"), (3, "fit-0-1-m4q8z", "step 1 loss 1"), (400, "fit-0-1-m4q8z", "step 2 loss 1"),
        (100, "fit-0-0-b9d4t", "step 1 loss 1"), (390, "fit-0-0-b9d4t", "step 2 loss 1"), key=GKE,
    )  # fmt: skip
    timeline = timeline_of(log)
    assert timeline.restarts_by_replica == {"fit-0-0-b9d4t": 1}
    assert set(runs_of(timeline)) == {"fit-0-0-x7k2p", "fit-0-1-m4q8z", "fit-0-0-b9d4t"}


def test_pods_that_a_node_refused_are_retries_but_no_runs() -> None:
    """They never started a container."""
    log = lines((0, "fit-0-x7k2p", "Traceback (most recent call last):\nRuntimeError: lost"), key=GKE)
    refused = [
        event(t, f"fit-0-{name}", "UnexpectedAdmissionError", "no device") for t, name in ((90, "b9d4t"), (99, "zz7x4"))
    ]
    timeline = timeline_of([*log, *refused])
    assert (timeline.restarts_total, set(runs_of(timeline))) == (2, {"fit-0-x7k2p"})


def test_numbered_attempts_are_the_attempts() -> None:
    """The restart-attempt label cuts the job, also where a controller begins to count anew."""
    numbered = []
    for place, label in enumerate((0, 1, 0, 1)):
        for pod in ("fit-node-0-0", "fit-node-1-0"):
            name = f"{pod}-{'bcdfg'[place]}{'x7k2'}"
            numbered.append(Entry(
                text="hello", time=lines((place * 300, "x", ""))[0].time, job=GKE, replica=name, attempt=label,
                insert_id=f"{name}", origin=Origin.REPLICA,
            ))  # fmt: skip
    timeline = timeline_of(numbered)
    assert (len(timeline.attempts), timeline.restarts.job_retries) == (4, 3)


def test_a_controllers_own_count_is_believed() -> None:
    """A JobSet that says it restarted three times did, though the log shows one attempt."""
    description = told(
        GKE,
        None,
        "restarts",
        origin=Origin.STATUS,
        kind="job",
        involved_kind="JobSet",
        restart_count=3,
        restart_limit=5,
    )
    timeline = timeline_of([description, *lines((0, "fit-0-0-x7k2p", "hello"), key=GKE)])
    assert (timeline.restarts.job_retries, timeline.budgets.job_retries) == (3, "3/5")


def kubeflow(*, others_restart: bool) -> list[Entry]:
    """One worker of a PyTorchJob fails, and the operator says that it restarts the job."""
    said: list[tuple[float, str, str]] = []
    for n in range(3):
        said += [(n, f"fit-worker-{n}", "torchrun begins"), (300.0 + n, f"fit-worker-{n}", "step 90 loss 0.7")]
        if others_restart or n == 1:
            said.append((700.0 + n, f"fit-worker-{n}", "torchrun begins"))
        said.append((900.0 + n, f"fit-worker-{n}", "step 95 loss 0.6"))
    starts = [
        event(second + n, f"fit-worker-{n}", "Started", "Started container pytorch")
        for second in (0, 700)
        for n in range(3)
        if others_restart or n == 1 or second == 0
    ]
    word = told(
        GKE, 400, "PyTorchJob fit is restarting because 1 Worker replica(s) failed.", origin=Origin.CLUSTER,
        number=400, kind="event", reason="PyTorchJobRestarting", involved_kind="PyTorchJob", involved_name="fit",
    )  # fmt: skip
    return [*lines(*said, key=GKE), *starts, word]


def test_pods_that_all_start_again_after_the_operators_word_are_one_retry() -> None:
    """The word tells of a restart of the job; the pods keep their names."""
    timeline = timeline_of(kubeflow(others_restart=True))
    assert (timeline.restarts.job_retries, timeline.restarts.in_place) == (1, 0)
    assert [len(attempt.replicas) for attempt in timeline.attempts] == [3, 3]


def test_one_pod_that_starts_again_after_the_operators_word_is_restarted_alone() -> None:
    """The others went on, so the job was not tried again."""
    timeline = timeline_of(kubeflow(others_restart=False))
    assert (timeline.restarts.job_retries, timeline.restarts_by_replica) == (0, {"fit-worker-1": 1})


def test_a_client_beside_the_services_words_is_no_replica() -> None:
    """The log of whoever submitted the job, given together with it, tells of no container."""
    key = JobKey("vertex", "walnut", "77")
    client = [told(key, t, text, origin=Origin.TEXT, number=n) for n, (t, text) in enumerate(
        ((0, "submitting"), (900, "state JOB_STATE_FAILED"))
    )]  # fmt: skip
    service = lines((1, "service", "Waiting for job to be provisioned."), (800, "service", "Job failed."), key=key)
    assert runs_of(timeline_of([*client, *service])) == {}


def test_further_containers_of_a_pod_are_no_restart() -> None:
    """Init containers, the program and sidecars start in turn; the program's described start is that of its first life."""
    names = ("istio-init", "fit", "istio-proxy")
    events = [event(9 * n, "fit-0", "Started", f"Started container {name}") for n, name in enumerate(names)]
    states = [
        container("fit-0", number=1, container="fit", state="terminated", exit_code=0, reason="Completed"),
        container("fit-0", number=2, container="istio-proxy", state="running"),
    ]
    again = event(900, "fit-0", "Started", "Started container fit")
    assert timeline_of([*events, *states]).restarts_total == 0
    assert timeline_of([*events, again]).restarts_total == 1


def test_without_times_a_container_that_was_never_restarted_lived_once() -> None:
    """The order of the files stands for the time, so that the start of a description's table comes after the lines."""
    printed = told(GKE, None, "epoch 1", origin=Origin.REPLICA, number=1, replica="fit-0")
    state = container(
        "fit-0", number=2, state="terminated", restart_count=0, exit_code=1, reason="Error",
        started=AT.format(10), finished=AT.format(11),
    )  # fmt: skip
    start = told(
        GKE, None, "Started container train", origin=Origin.CLUSTER, number=3, replica="fit-0", kind="event", pod="fit-0",
        reason="Started",
    )  # fmt: skip
    timeline = timeline_of([printed, state, start])
    assert timeline.restarts_total == 0
    assert [run.exit_code for run in runs_of(timeline)["fit-0"]] == [1]
