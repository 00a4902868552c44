"""Who says an entry of Cloud Logging: its job, replica, attempt, node and origin, by the kind of resource.

Sources: the labels of `ml_job` as the logging agent sets them; GKE's `k8s-pod/…` labels (dots become underscores) and
`logging.gke.io/top_level_controller_name`; Batch's `job_uid` and `task_id`. BigQuery exports write label names in lower
case with `_` for anything else, so both spellings are looked up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import msgspec

from analyzer.expressions import expression
from analyzer.model import JobKey, Origin
from analyzer.model.numbers import number

Labels = Mapping[str, str]


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """What all entries of one resource, label set and log share.

    `shape` says how the payload is to be read: log, event, journal, serial, audit, autoscaler, pipeline.
    """

    shape: str = "log"
    job: JobKey | None = None
    replica: str | None = None
    attempt: int | None = None
    node: str | None = None
    origin: Origin = Origin.TEXT
    fields: dict[str, Any] = {}


REPLICA_NAME = expression(r"(?:(?:master|chief|worker|ps|evaluator)-replica-\d+|workerpool\d+-\d+)", re.ASCII)
CONTROLLER_LABELS = (
    "katib.kubeflow.org/experiment",
    "jobset.sigs.k8s.io/jobset-name",
    "training.kubeflow.org/job-name",
    "ray.io/originated-from-cr-name",
    "ray.io/cluster",
    "leaderworkerset.sigs.k8s.io/name",
    "volcano.sh/job-name",
    "workflows.argoproj.io/workflow",
    "execution-id",
    "tf-job-name",
    "pytorch-job-name",
    "mpi-job-name",
    "batch.kubernetes.io/job-name",
    "job-name",
)
"""Pod labels that name the owning controller, the outermost first."""

_ATTEMPT_LABELS = (
    "jobset.sigs.k8s.io/restart-attempt",
    "kueue.x-k8s.io/workload-slice-restart",
    "job-attempt",
    "job_attempt",
)
_ATTEMPT_LABEL = expression(r"k8s-pod/(?:\S*[/_.-])?attempt", re.ASCII)
_CONTROLLERS = expression(
    r"^(?:training-operator|mpi-operator|kueue-controller|jobset-controller|kuberay-operator|cluster-autoscaler"
    r"|lws-controller|volcano-(?:scheduler|controllers?)|pytorch-operator|tf-(?:job-)?operator|trainer-controller)"
)
_SYSTEM_NAMESPACES = ("kube-system", "gke-managed", "gmp-", "kube-node-lease", "gke-gmp-", "gpu-operator", "nvidia-gpu")
_NODE_PODS = expression(
    r"^(?:nvidia-(?:driver-installer|driver-daemonset|gpu-device-plugin|device-plugin|container-toolkit|dcgm|mig-manager"
    r"|operator-validator|cuda-validator)|gpu-(?:operator|feature-discovery)|tpu-device-plugin|dcgm-exporter|node-problem-"
    r"|kube-proxy|kube-dns|coredns|node-local-dns|netd|anetd|cilium|calico-node|ip-masq-agent|gke-meta|gke-metrics"
    r"|pdcsi-node|gcsfusecsi-node|filestore-node|lustre-csi-node|fluentbit|konnectivity-agent|metrics-server)-"
)
"""Pods of DaemonSets and add-ons, as GKE, the GPU operator and the networks name them: parts of a node, not jobs."""
_NODE_LOGS = ("serialconsole", "kubelet", "container-runtime", "syslog", "messages", "kern", "dmesg",
              "node-problem-detector", "systemd", "kernel", "docker")  # fmt: skip
_PIPELINE_LOGS = ("pipeline_job_events", "pipeline_job_task_events")


def is_node_pod(name: str, namespace: str | None) -> bool:
    """Whether a pod is part of a node or of the cluster, by its namespace or its name."""
    return (namespace or "").startswith(_SYSTEM_NAMESPACES) or _NODE_PODS.match(name) is not None


@lru_cache(maxsize=4096)
def label_spellings(name: str) -> tuple[str, str]:
    """A label's name, and the name that BigQuery exports give it."""
    return name, re.sub(r"[^A-Za-z0-9]", "_", name).lower()


def label(labels: Labels, *names: str) -> str | None:
    """The first of these labels that is there and not empty, in either spelling."""
    for name in names:
        for spelling in label_spellings(name):
            value = labels.get(spelling)
            if value not in (None, ""):
                return str(value)
    return None


def pod_label(labels: Labels, *names: str) -> str | None:
    """The first of these pod labels that Cloud Logging carries along as `k8s-pod/…`."""
    for name in names:
        value = label(labels, "k8s-pod/" + name, "k8s-pod/" + name.replace(".", "_"))
        if value is not None:
            return value
    return None


def is_vertex_id(job_id: str, task: str | None = None) -> bool:
    """Whether an `ml_job` is Vertex AI's: its ids are numbers, those of AI Platform begin with a letter."""
    return job_id.isdecimal() or bool(task and task.startswith("workerpool"))


def identity_of(resource_type: str, resource: Labels, labels: Labels, log_name: str) -> Identity:
    """The identity that an entry's resource, labels and log name give."""
    log = unquote(log_name.rpartition("/logs/")[2]) if log_name else ""
    named = label(resource, "project_id", "resource_container") or _project_of(log_name)
    project = (named or "").removeprefix("projects/")
    if log.startswith("cloudaudit.googleapis.com"):
        return Identity(shape="audit", origin=Origin.AUDIT, fields={"project": project})
    if log.endswith("cluster-autoscaler-visibility"):
        cluster = label(resource, "cluster_name")
        return Identity(shape="autoscaler", origin=Origin.CLUSTER, fields=_known(cluster=cluster, project=project))
    if resource_type in ("ml_job", "cloudml_job") or resource_type.startswith("aiplatform."):
        return _training_service(resource_type, resource, labels, log, project)
    if resource_type.startswith(("k8s_", "gke_", "container")):
        return _kubernetes(resource_type, resource, labels, log, project)
    if resource_type.startswith("batch.") or label(labels, "job_uid") is not None:
        return _batch(resource, labels, log, project)
    if resource_type.startswith(("tpu", "cloud_tpu")):
        return _tpu(resource, labels, project)
    if resource_type == "gce_instance":
        return _instance(resource, labels, log, project)
    if resource_type == "cloud_run_job":
        return _cloud_run(resource, labels, log, project)
    if resource_type == "nat_gateway":
        return Identity(origin=Origin.NODE, node=label(labels, "nat.googleapis.com/instance_name"))
    return Identity(origin=Origin.TEXT, node=_node(labels))


def _training_service(resource_type: str, resource: Labels, labels: Labels, log: str, project: str) -> Identity:
    if "PipelineJob" in resource_type or log.endswith(_PIPELINE_LOGS):
        pipeline = label(resource, "pipeline_job_id", "job_id")
        return Identity(shape="pipeline", job=_key("vertex", project, pipeline), origin=Origin.SERVICE)
    job_id = label(resource, "job_id", "custom_job_id", "hyperparameter_tuning_job_id", "training_id") or label(
        labels, "ml.googleapis.com/job_id", "job_id"
    )
    task = label(resource, "task_name") or label(labels, "ml.googleapis.com/task_name", "task_name")
    if task is None:
        tail = log.rpartition("/")[2]
        task = tail if REPLICA_NAME.fullmatch(tail) else None
    service = task == "service" or (task is None and log.startswith(("ml.googleapis.com", "aiplatform.googleapis.com")))
    vertex = resource_type.startswith("aiplatform.") or (
        resource_type == "ml_job" and job_id is not None and is_vertex_id(job_id, task)
    )
    trial = label(labels, "ml.googleapis.com/trial_id", "trial_id")
    return Identity(
        job=_key("vertex" if vertex else "ai_platform", project, job_id),
        replica=None if service else task,
        attempt=number(trial),
        node=None if service else _node(labels),
        origin=Origin.SERVICE if service else Origin.REPLICA,
        fields=_known(trial=number(trial) or trial),
    )


def _kubernetes(resource_type: str, resource: Labels, labels: Labels, log: str, project: str) -> Identity:
    cluster, namespace = label(resource, "cluster_name"), label(resource, "namespace_name", "namespace_id")
    node = label(resource, "node_name") or _node(labels)
    pod = label(resource, "pod_name", "pod_id")
    if log == "events":
        fields = _known(cluster=cluster, project=project, pod=pod, namespace=namespace)
        return Identity(shape="event", node=node, origin=Origin.CLUSTER, fields=fields)
    if resource_type in ("k8s_node", "gke_nodepool"):
        return Identity(shape="journal", node=node, origin=Origin.NODE, fields=_known(cluster=cluster))
    if resource_type in ("k8s_container", "container", "gke_container", "k8s_pod") and pod is not None:
        return _container(resource, labels, pod, namespace or "", node, project)
    return Identity(origin=Origin.CLUSTER, node=node, fields=_known(cluster=cluster, pod=pod))


def _container(resource: Labels, labels: Labels, pod: str, namespace: str, node: str | None, project: str) -> Identity:
    container = label(resource, "container_name")
    fields = _known(container=container)
    if _CONTROLLERS.match(pod):
        return Identity(origin=Origin.CLUSTER, fields=fields)
    if is_node_pod(pod, namespace):
        return Identity(origin=Origin.NODE, node=node, fields=fields)
    controller = label(labels, "logging.gke.io/top_level_controller_name") or pod_label(labels, *CONTROLLER_LABELS)
    return Identity(
        job=JobKey("gke", project, controller or pod),
        replica=pod,
        attempt=_attempt(labels),
        node=node,
        origin=Origin.REPLICA,
        fields=fields,
    )


def _attempt(labels: Labels) -> int | None:
    """The attempt that a pod's labels state: in a known label, else in any that is named so by a launcher."""
    stated = number(pod_label(labels, *_ATTEMPT_LABELS))
    if stated is not None:
        return stated
    others = sorted(name for name in labels if name.startswith("k8s-pod/") and _ATTEMPT_LABEL.fullmatch(name))
    return next((found for name in others if (found := number(labels[name])) is not None), None)


def _batch(resource: Labels, labels: Labels, log: str, project: str) -> Identity:
    uid = label(labels, "job_uid") or label(resource, "job_id")
    task = label(labels, "task_id")
    path = re.search(r"/jobs/([^/]+)", label(labels, "task_group_name") or "")
    agent = log.endswith("batch_agent_logs")
    return Identity(
        job=_key("batch", project, path[1] if path else uid),
        replica=None if task is None else batch_task(task),
        node=label(labels, "hostname", "instance_id") or _node(labels),
        origin=Origin.SERVICE if agent else Origin.REPLICA,
        fields=_known(uid=uid),
    )


def batch_task(task_id: str) -> str:
    """The short name of a Batch task (`group0-3`) out of its id (`{uid}-group0-3`)."""
    found = re.search(r"(?:^|[-/])(group\d+)(?:-|/tasks/)(\d+)(?:$|/)", task_id)
    return f"{found[1]}-{found[2]}" if found else task_id


def _tpu(resource: Labels, labels: Labels, project: str) -> Identity:
    node_id, worker = label(resource, "node_id", "node_name"), label(resource, "worker_id")
    return Identity(
        job=_key("tpu", project, node_id),
        replica=None if worker is None else f"worker-{worker}",
        node=node_id if worker is None else f"{node_id}-w{worker}",
        origin=Origin.NODE,
    )


def _instance(resource: Labels, labels: Labels, log: str, project: str) -> Identity:
    name = _node(labels) or label(labels, "instance_name") or label(resource, "instance_id")
    if log.startswith("serialconsole"):
        return Identity(shape="serial", node=name, origin=Origin.NODE)
    if log.startswith(_NODE_LOGS):
        return Identity(shape="journal", node=name, origin=Origin.NODE)
    if name is None or name.startswith(("gke-", "gk3-")):
        return Identity(node=name, origin=Origin.NODE)
    return Identity(job=JobKey("compute", project, name), replica=name, node=name, origin=Origin.REPLICA)


def _cloud_run(resource: Labels, labels: Labels, log: str, project: str) -> Identity:
    """Cloud Run calls a task EXECUTION-taskINDEX; what is no output of the container, its system log says."""
    run = label(labels, "run.googleapis.com/execution_name")
    index = label(labels, "run.googleapis.com/task_index")
    return Identity(
        job=_key("local", project, run or label(resource, "job_name")),
        replica=f"{run}-task{index}" if run and index else None,
        attempt=number(label(labels, "run.googleapis.com/task_attempt")),
        origin=Origin.REPLICA if log.endswith(("stdout", "stderr")) else Origin.SERVICE,
    )


def _key(platform: str, project: str, job_id: str | None) -> JobKey | None:
    return JobKey(platform, project, job_id) if job_id else None


def _node(labels: Labels) -> str | None:
    return label(labels, "compute.googleapis.com/resource_name")


def _project_of(log_name: str) -> str | None:
    return log_name.split("/", 2)[1] if log_name.startswith("projects/") and log_name.count("/") > 1 else None


def _known(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, "")}
