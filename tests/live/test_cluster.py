"""A GKE job is described by its cluster, over TLS that the cluster's own authority vouches for; its watch ends with it."""

from __future__ import annotations

import base64
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from api_server import ApiServer
from authority import Authority
from live_jobs import PROJECT, START
from logging_server import LoggingServer
from test_watch import QUICK, QuickClock

from analyzer.entries import Options
from analyzer.live.cluster import Door, door_of
from analyzer.live.progress import Silent
from analyzer.live.target import target_of
from analyzer.live.watch import watch
from analyzer.rulebook import Matcher

CLUSTER = f"/v1/projects/{PROJECT}/locations/us-central1/clusters/train"
JOB = "/apis/batch/v1/namespaces/ml/jobs/bert"
PODS = "/api/v1/namespaces/ml/pods"
RESOURCE = {"project_id": PROJECT, "location": "us-central1", "cluster_name": "train", "namespace_name": "ml"}


@pytest.fixture
def cluster(tmp_path: Path, api_server: ApiServer) -> Iterator[ApiServer]:
    """The API of a cluster, and its description by the GKE API."""
    authority = Authority()
    server = ApiServer(authority.server(tmp_path))
    api_server.jobs[CLUSTER] = {
        "endpoint": f"127.0.0.1:{server.port}",
        "masterAuth": {"clusterCaCertificate": base64.b64encode(authority.pem).decode()},
    }
    yield server
    server.close()


def pod_line(number: int, text: str) -> dict[str, Any]:
    """A line of the job's only pod."""
    return {
        "insertId": f"p{number}", "logName": f"projects/{PROJECT}/logs/stdout", "timestamp": str(START.plus(number)),
        "textPayload": text, "labels": {"k8s-pod/job-name": "bert"},
        "resource": {"type": "k8s_container", "labels": {**RESOURCE, "pod_name": "bert-x7k2p", "container_name": "main"}},
    }  # fmt: skip


def event(number: int, reason: str, message: str) -> dict[str, Any]:
    """An event about the job."""
    return {
        "insertId": f"e{number}", "logName": f"projects/{PROJECT}/logs/events", "timestamp": str(START.plus(number)),
        "resource": {"type": "k8s_cluster", "labels": {"project_id": PROJECT, "cluster_name": "train"}},
        "jsonPayload": {
            "kind": "Event", "reason": reason, "message": message, "type": "Normal",
            "involvedObject": {"kind": "Job", "name": "bert", "namespace": "ml"},
        },
    }  # fmt: skip


def job(**status: Any) -> dict[str, Any]:
    """The Job as the cluster's API has it."""
    metadata = {"name": "bert", "namespace": "ml", "creationTimestamp": str(START.plus(-20))}
    return {"kind": "Job", "apiVersion": "batch/v1", "metadata": metadata, "spec": {"backoffLimit": 0}, "status": status}


def ended(kind: str, reason: str = "", message: str = "") -> dict[str, Any]:
    """The Job's last condition."""
    return {"type": kind, "status": "True", "reason": reason, "message": message}


def killed_pod() -> dict[str, Any]:
    """A list with a pod whose container was killed for memory; items of a list leave out their kind."""
    dead = {"exitCode": 137, "reason": "OOMKilled", "startedAt": str(START), "finishedAt": str(START.plus(50))}
    status = {"phase": "Failed", "containerStatuses": [{"name": "main", "restartCount": 0, "state": {"terminated": dead}}]}
    owner = {"kind": "Job", "name": "bert", "controller": True}
    metadata = {"name": "bert-x7k2p", "namespace": "ml", "labels": {"job-name": "bert"}, "ownerReferences": [owner]}
    return {"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": metadata, "spec": {}, "status": status}]}


def test_the_cluster_tells_what_the_log_does_not(
    diagnose: Any, logging_server: LoggingServer, api_server: ApiServer, cluster: ApiServer
) -> None:
    """The pod's state says that it was killed for memory; no line of the log does."""
    logging_server.add(*(pod_line(n, f"step {n} loss 0.5") for n in range(9)))
    cluster.jobs[JOB] = job(failed=1, conditions=[ended("Failed", "BackoffLimitExceeded")])
    cluster.jobs[PODS] = killed_pod()
    diagnosis = diagnose("bert").diagnoses[0]
    assert (diagnosis.job.id, diagnosis.outcome, diagnosis.category) == ("bert", "failed", "out_of_memory")
    assert cluster.asked == [JOB, f"{PODS}?labelSelector=job-name%3Dbert&limit=500"]


def test_an_impostor_is_not_believed(
    diagnose: Any, logging_server: LoggingServer, api_server: ApiServer, cluster: ApiServer
) -> None:
    """A server that the cluster's authority does not vouch for is told nothing, and a note says what helps."""
    logging_server.add(pod_line(1, "step 1"))
    cluster.jobs[JOB] = job()
    described = api_server.jobs[CLUSTER]
    assert isinstance(described, dict)
    described["masterAuth"]["clusterCaCertificate"] = base64.b64encode(Authority().pem).decode()
    (note,) = [note for note in diagnose("bert").notes if note.kind == "no_description"]
    assert "cannot be reached from here (SSLError)" in note.text
    assert "gcloud container clusters get-credentials train --location=us-central1 --project=acme-ml" in note.text
    assert cluster.asked == []


@pytest.mark.parametrize(
    ("path", "refuser", "words"),
    [(CLUSTER, "api", "roles/container.viewer would allow it"), (JOB, "cluster", "roles/container.viewer would allow it")],
    ids=["GKE API", "cluster"],
)
def test_a_refusal_is_a_note_with_the_command_that_helps(
    diagnose: Any, logging_server: LoggingServer, api_server: ApiServer, cluster: ApiServer, path: str, refuser: str, words: str
) -> None:  # fmt: skip
    """The log alone is diagnosed."""
    logging_server.add(pod_line(1, "ModuleNotFoundError: No module named 'timm'"))
    (api_server if refuser == "api" else cluster).jobs[path] = 403
    report = diagnose("bert")
    (note,) = [note for note in report.notes if note.kind == "no_description"]
    assert words in note.text
    assert "kubectl get jobs,pods --namespace=ml --output=yaml > bert.yaml" in note.text
    assert report.diagnoses[0].category == "user_exception"


def test_a_job_that_is_gone_is_a_note(diagnose: Any, logging_server: LoggingServer, cluster: ApiServer) -> None:
    """Finished jobs are often deleted after a while."""
    logging_server.add(pod_line(1, "ModuleNotFoundError: No module named 'timm'"))
    report = diagnose("bert")
    assert any("no object of that name is there any more" in note.text for note in report.notes)


AUTHORITY = base64.b64encode(b"PEM").decode()


@pytest.mark.parametrize(
    ("described", "door"),
    [
        ({"controlPlaneEndpointsConfig": {"dnsEndpointConfig": {"endpoint": "gke-1.us-central1.gke.goog", "allowExternalTraffic": True}}},
         Door("https://gke-1.us-central1.gke.goog")),
        ({"endpoint": "34.1.2.3", "masterAuth": {"clusterCaCertificate": AUTHORITY}}, Door("https://34.1.2.3", b"PEM")),
        ({"endpoint": "34.1.2.3"}, None),
        ({"endpoint": "evil.example.com", "masterAuth": {"clusterCaCertificate": AUTHORITY}}, None),
        ({"endpoint": "127.0.0.1", "masterAuth": {"clusterCaCertificate": AUTHORITY}}, None),
        ({"controlPlaneEndpointsConfig": {"dnsEndpointConfig": {"endpoint": "gke-1.us-central1.gke.goog"}}}, None),
        ({"controlPlaneEndpointsConfig": {"dnsEndpointConfig": {"endpoint": "x.example.com", "allowExternalTraffic": True}}}, None),
        ({}, None),
    ],
    ids=["name", "address", "nobody vouches", "no address", "this machine", "name closed to users", "foreign name", "nothing"],
)  # fmt: skip
def test_credentials_go_only_where_somebody_vouches(described: dict[str, Any], door: Door | None) -> None:
    """A name of Google's, or an address with the cluster's own authority."""
    assert door_of(described) == door


def watched(rulebook: Matcher, steps: list[tuple[str, Callable[[], None]]]) -> tuple[list[str], Any]:
    """A watch of the job; each step is done once a line of its kind is told."""
    lines: list[str] = []

    def tell(line: str) -> None:
        lines.append(line)
        if steps and steps[0][0] in line:
            threading.Timer(0.1, steps.pop(0)[1]).start()

    report = watch(
        target_of("bert", PROJECT, "us-central1"), rulebook, Options(), Silent(), tell,
        rhythm=QUICK, clock=QuickClock(), chance=random.Random(1),
    )  # fmt: skip
    return lines, report


def test_a_watch_ends_with_the_jobs_success(
    logging_server: LoggingServer, cluster: ApiServer, rulebook: Matcher
) -> None:
    """The cluster says that the job is complete."""
    logging_server.add(*(pod_line(n, f"step {n} loss 0.5") for n in range(5)))
    cluster.jobs[JOB] = job(active=1)

    def succeed() -> None:
        logging_server.add(pod_line(60, "Training finished."), event(61, "Completed", "Job completed"))
        cluster.jobs[JOB] = job(succeeded=1, completionTime=str(START.plus(61)), conditions=[ended("Complete")])

    lines, report = watched(rulebook, [("RUNNING", succeed)])
    assert lines[-1].endswith("state: SUCCEEDED")
    assert (report.diagnoses[0].outcome, report.diagnoses[0].category) == ("succeeded", "success")


def test_a_watch_without_description_ends_with_the_event(
    logging_server: LoggingServer, api_server: ApiServer, rulebook: Matcher
) -> None:
    """The controller's event is the last word where the cluster may not be asked."""
    api_server.refuse_all = (403, "PERMISSION_DENIED", "denied")
    logging_server.add(pod_line(1, "step 1 loss 0.5"), event(0, "SuccessfulCreate", "Created pod: bert-x7k2p"))
    threading.Timer(0.5, lambda: logging_server.add(event(61, "Completed", "Job completed"))).start()
    _, report = watched(rulebook, [])
    assert report.diagnoses[0].outcome == "succeeded"
