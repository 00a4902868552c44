"""Who says an entry, by the labels of its resource."""

from __future__ import annotations

import pytest

from analyzer.formats.identity import batch_task, identity_of, is_node_pod
from analyzer.model import JobKey, Origin


def job(kind, resource, labels=None, log="projects/p/logs/x"):
    """The job that an entry with these labels belongs to."""
    return identity_of(kind, {"project_id": "p", **resource}, labels or {}, log).job


@pytest.mark.parametrize(
    ("job_id", "task", "platform"),
    [
        ("5501882340019437568", "service", "vertex"),
        ("5501882340019437568", "workerpool0-0", "vertex"),
        ("resnet_20240311", "master-replica-0", "ai_platform"),
        ("resnet_20240311", "service", "ai_platform"),
        ("a1234567890123456789", "worker-replica-3", "ai_platform"),
    ],
)
def test_vertex_and_ai_platform_are_told_apart(job_id, task, platform):
    """Both write `ml_job`; Vertex AI's ids are numbers, AI Platform's begin with a letter."""
    assert job("ml_job", {"job_id": job_id, "task_name": task}) == JobKey(platform, "p", job_id)


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        ({}, "lm-worker-0-3-9qk4z"),
        ({"k8s-pod/job-name": "lm-worker-0"}, "lm-worker-0"),
        ({"k8s-pod/jobset_sigs_k8s_io/jobset-name": "lm", "k8s-pod/batch_kubernetes_io/job-name": "lm-worker-0"}, "lm"),
        ({"k8s_pod_jobset_sigs_k8s_io_jobset_name": "lm"}, "lm"),
        ({"k8s-pod/training_kubeflow_org/job-name": "mnet"}, "mnet"),
        ({"k8s-pod/ray_io/cluster": "ray"}, "ray"),
        ({"k8s-pod/jobset_sigs_k8s_io/jobset-name": "lm", "logging.gke.io/top_level_controller_name": "top"}, "top"),
    ],
)
def test_pods_belong_to_their_outermost_controller(labels, name):
    """The controller that the labels name, else the pod itself; BigQuery's spelling of labels counts too."""
    resource = {"pod_name": "lm-worker-0-3-9qk4z", "namespace_name": "ml", "container_name": "trainer"}
    assert job("k8s_container", resource, labels) == JobKey("gke", "p", name)


def test_service_lines_have_no_replica():
    """`service` is who speaks, not a machine of the job."""
    identity = identity_of("ml_job", {"job_id": "1", "task_name": "service"}, {}, "projects/p/logs/x")
    assert (identity.replica, identity.origin) == (None, Origin.SERVICE)


@pytest.mark.parametrize(
    ("kind", "resource", "log", "origin"),
    [
        ("k8s_node", {"node_name": "n"}, "kubelet", Origin.NODE),
        ("k8s_cluster", {"cluster_name": "c"}, "events", Origin.CLUSTER),
        ("gce_instance", {"instance_id": "1"}, "serialconsole.googleapis.com%2Fserial_port_1_output", Origin.NODE),
        ("gce_instance", {"instance_id": "1"}, "cloudaudit.googleapis.com%2Fsystem_event", Origin.AUDIT),
        (
            "k8s_container",
            {"pod_name": "nvidia-gpu-device-plugin-x", "namespace_name": "kube-system"},
            "stderr",
            Origin.NODE,
        ),
        ("k8s_container", {"pod_name": "kueue-controller-manager-x", "namespace_name": "k"}, "stderr", Origin.CLUSTER),
        (
            "k8s_cluster",
            {"cluster_name": "c"},
            "container.googleapis.com%2Fcluster-autoscaler-visibility",
            Origin.CLUSTER,
        ),
        ("global", {}, "anything", Origin.TEXT),
    ],
)
def test_machines_and_controllers_belong_to_no_job(kind, resource, log, origin):
    """What nodes, controllers and auditors say is tied to a job later."""
    identity = identity_of(kind, {"project_id": "p", **resource}, {}, f"projects/p/logs/{log}")
    assert (identity.job, identity.origin) == (None, origin)


def test_restart_attempts_come_from_labels():
    """JobSet counts its attempts in a pod label."""
    labels = {"k8s-pod/jobset_sigs_k8s_io/restart-attempt": "2"}
    assert identity_of("k8s_container", {"pod_name": "a"}, labels, "").attempt == 2


@pytest.mark.parametrize(
    "task", ["u-1-group0-12", "projects/p/locations/l/jobs/j/taskGroups/group0/tasks/12", "group0/tasks/12"]
)
def test_batch_tasks_have_one_name(task):
    """A task is called the same by its log entries and by its description."""
    assert batch_task(task.replace("taskGroups/", "")) == "group0-12"


@pytest.mark.parametrize(
    ("name", "namespace", "is_part"),
    [
        ("nvidia-driver-installer-7jgwm", None, True),
        ("train-0-x7k2q", "kube-system", True),
        ("train-0-x7k2q", "ml", False),
        ("nvidia-finetune-0-x7k2q", None, False),
    ],
)
def test_pods_of_a_node_are_no_jobs(name, namespace, is_part):
    """Drivers, device plugins and networks run as pods, too; their namespace or their name tells."""
    assert is_node_pod(name, namespace) is is_part


def test_a_cloud_run_execution_is_a_job_and_its_task_a_replica():
    """Its container's output is the task's word; the system log is the service's."""
    labels = {"run.googleapis.com/execution_name": "fit-7x", "run.googleapis.com/task_index": "0",
              "run.googleapis.com/task_attempt": "1"}  # fmt: skip
    resource = {"project_id": "p", "job_name": "fit"}
    for log, origin in (("stdout", Origin.REPLICA), ("varlog%2Fsystem", Origin.SERVICE)):
        found = identity_of("cloud_run_job", resource, labels, f"projects/p/logs/run.googleapis.com%2F{log}")
        told = (found.job, found.replica, found.attempt, found.origin)
        assert told == (JobKey("local", "p", "fit-7x"), "fit-7x-task0", 1, origin)


def test_a_refused_connection_of_a_nat_gateway_is_its_machines():
    """The gateway's log names the machine whose connections found no port."""
    found = identity_of("nat_gateway", {"project_id": "p"}, {"nat.googleapis.com/instance_name": "gke-a"}, "")
    assert (found.node, found.origin) == ("gke-a", Origin.NODE)
