"""What id belongs to which service is found out: each kind of job by its id, its project, and nothing else."""

from __future__ import annotations

from typing import Any

import grpc
from api_server import ApiServer
from live_jobs import JOB, PROJECT, START, custom_job, entry, failed_job, vertex_path
from logging_server import Fault, LoggingServer

from analyzer.model import Instant


def kinds(report: Any) -> set[str]:
    return {note.kind for note in report.notes}


def test_custom_job(diagnose: Any, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """A number is Vertex AI's; the region comes out of the log, and with it the description."""
    logging_server.add(*failed_job(), *failed_job(job="999"))
    api_server.jobs[vertex_path()] = custom_job()
    job = diagnose().diagnoses[0].job
    assert (job.id, job.platform, job.region, job.machine_type) == (JOB, "vertex", "us-central1", "n1-standard-8")
    assert api_server.asked == [vertex_path()]


def test_custom_job_that_logged_nothing(diagnose: Any, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """Where there is no log the description is looked for in every region, and may carry the cause."""
    api_server.jobs[vertex_path(region="europe-west4")] = custom_job(region="europe-west4")
    report = diagnose()
    assert report.diagnoses[0].job.region == "europe-west4"
    assert report.diagnoses[0].outcome == "failed"
    assert "no_log" in kinds(report)


def test_wrong_region(diagnose: Any, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """A job that is in another region than the caller said is found all the same, with a note."""
    logging_server.add(*failed_job())
    api_server.jobs[vertex_path()] = custom_job()
    report = diagnose(region="asia-east1")
    assert report.diagnoses[0].job.region == "us-central1"
    assert "the job is in us-central1, not in asia-east1" in [note.text for note in report.notes]


def test_tuning_job(diagnose: Any, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """A tuning job's trials log under its own id."""
    lines = failed_job()
    for line in lines:
        line["labels"]["ml.googleapis.com/trial_id"] = "2"
    logging_server.add(*lines)
    described = custom_job() | {"name": f"projects/1/locations/us-central1/hyperparameterTuningJobs/{JOB}"}
    api_server.jobs[vertex_path("hyperparameterTuningJobs")] = described
    diagnosis = diagnose(region="us-central1").diagnoses[0]
    assert (diagnosis.job.id, diagnosis.category) == (JOB, "user_exception")


def test_training_pipeline(diagnose: Any, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """A training pipeline's log is that of the custom job behind it, under another id."""
    logging_server.add(*failed_job())
    name = f"projects/1/locations/us-central1/trainingPipelines/{88}"
    inner = f"projects/{PROJECT}/locations/us-central1/customJobs/{JOB}"
    pipeline = {"name": name, "state": "PIPELINE_STATE_FAILED", "createTime": str(START)}
    api_server.jobs[vertex_path("trainingPipelines", "88")] = pipeline | {
        "trainingTaskMetadata": {"backingCustomJob": inner}
    }
    api_server.jobs[vertex_path()] = custom_job()
    report = diagnose("88")
    assert report.diagnoses[0].job.id == JOB
    assert report.diagnoses[0].job.machine_type == "n1-standard-8"
    assert "subject" in kinds(report)


def test_pipeline(diagnose: Any, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """Of a pipeline the job of the task that failed is diagnosed."""
    logging_server.add(*failed_job(), *failed_job(job="777"))
    path = "projects/acme-ml/locations/us-central1/customJobs/"
    tasks = [
        {"taskName": "train", "state": "FAILED", "executorDetail": {"customJobDetail": {"job": path + JOB}}},
        {"taskName": "prepare", "state": "SUCCEEDED", "executorDetail": {"customJobDetail": {"job": path + "777"}}},
    ]
    api_server.jobs[vertex_path("pipelineJobs", "retrain-2026")] = {
        "name": "projects/1/locations/us-central1/pipelineJobs/retrain-2026",
        "state": "PIPELINE_STATE_FAILED",
        "createTime": str(START),
        "jobDetail": {"taskDetails": tasks},
    }
    report = diagnose("retrain-2026", region="us-central1")
    assert report.diagnoses[0].job.id == JOB
    assert any("whose task 'train' failed" in note.text for note in report.notes)


def test_ai_platform_job(diagnose: Any, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """A name with an underscore is AI Platform's, whose jobs are described without a region."""
    name = "train_20260311"
    logging_server.add(entry(1, "Running module x.", "master-replica-0", name))
    text = "The replica master 0 ran out-of-memory and exited with a non-zero status of 9(SIGKILL)"
    logging_server.add(entry(2, text, "service", name))
    api_server.jobs[f"/v1/projects/{PROJECT}/jobs/{name}"] = {
        "jobId": name,
        "state": "FAILED",
        "createTime": str(START),
        "errorMessage": text,
        "trainingInput": {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "region": "europe-west1"},
    }
    diagnosis = diagnose(name).diagnoses[0]
    assert (diagnosis.job.platform, diagnosis.job.region) == ("ai_platform", "europe-west1")
    assert diagnosis.category == "out_of_memory"
    assert api_server.asked == [f"/v1/projects/{PROJECT}/jobs/{name}"]


def batch_entry(number: int, text: str, log: str = "batch_task_logs") -> dict[str, Any]:
    uid = "finetune-0f1e2d-3c4b-4990-0"
    return {
        "insertId": f"b{number}",
        "logName": f"projects/{PROJECT}/logs/{log}",
        "timestamp": str(START.plus(number)),
        "textPayload": text,
        "labels": {"job_uid": uid, "task_id": f"{uid}-group0-0"},
        "resource": {"type": "batch.googleapis.com/Job", "labels": {"job_id": uid, "location": "us-central1"}},
    }


def test_batch_job(diagnose: Any, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """A Batch job's entries name only its uid, which its description knows; its tasks' ends are read too."""
    logging_server.add(batch_entry(1, "starting"), batch_entry(2, "ModuleNotFoundError: No module named 'timm'"))
    path = f"/v1/projects/{PROJECT}/locations/us-central1/jobs/finetune"
    api_server.jobs[path] = {
        "name": path.removeprefix("/v1/"),
        "uid": "finetune-0f1e2d-3c4b-4990-0",
        "createTime": str(START),
        "taskGroups": [{"taskSpec": {}}],
        "status": {"state": "FAILED", "statusEvents": []},
    }
    described = "Task state is updated from RUNNING to FAILED on zones/us-central1-f/instances/i-1 with exit code 1."
    task = {"eventTime": str(START.plus(3)), "description": described, "taskExecution": {"exitCode": 1}}
    api_server.jobs[f"{path}/taskGroups/group0/tasks"] = {
        "tasks": [
            {"name": f"{path[4:]}/taskGroups/group0/tasks/0", "status": {"state": "FAILED", "statusEvents": [task]}}
        ]
    }
    for region in (None, "us-central1"):
        diagnosis = diagnose("finetune", region=region).diagnoses[0]
        assert (diagnosis.job.platform, diagnosis.category) == ("batch", "user_exception")
        assert diagnosis.root_cause is not None
        assert "timm" in diagnosis.root_cause.evidence[0].text


def pod_entry(number: int, text: str, pod: str = "bert-worker-0-x7k2p", job: str = "bert") -> dict[str, Any]:
    return {
        "insertId": f"p{number}",
        "logName": f"projects/{PROJECT}/logs/stderr",
        "timestamp": str(START.plus(number)),
        "textPayload": text,
        "labels": {"compute.googleapis.com/resource_name": "gke-a", "k8s-pod/jobset_sigs_k8s_io/jobset-name": job},
        "resource": {
            "type": "k8s_container",
            "labels": {"project_id": PROJECT, "cluster_name": "c", "pod_name": pod, "namespace_name": "ml"},
        },
    }


def node_entry(number: int, text: str, node: str = "gke-a") -> dict[str, Any]:
    return {
        "insertId": f"n{number}",
        "logName": f"projects/{PROJECT}/logs/kernel",
        "timestamp": str(START.plus(number)),
        "jsonPayload": {"MESSAGE": text},
        "resource": {"type": "k8s_node", "labels": {"project_id": PROJECT, "cluster_name": "c", "node_name": node}},
    }


def test_gke_job(diagnose: Any, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """A cluster's job is found by its pods' labels and names; its machines' kernel lines are fetched after it."""
    killed = "Memory cgroup out of memory: Killed process 4242 (python3) total-vm:9kB, anon-rss:9kB, file-rss:0kB"
    logging_server.add(
        *(pod_entry(n, f"step {n} loss 0.5") for n in range(9)), pod_entry(5, "other", "bert2-0", "bert2")
    )
    logging_server.add(node_entry(9, killed), node_entry(9, "oom elsewhere", "gke-b"), node_entry(9, "eth0: link up"))
    report = diagnose("bert")
    diagnosis = report.diagnoses[0]
    assert (diagnosis.job.id, diagnosis.job.platform, diagnosis.category) == ("bert", "gke", "out_of_memory")
    assert diagnosis.stats.entries == 10
    assert "k8s_node" in logging_server.queries[-1].filter


def test_machines_that_may_not_be_asked_about(diagnose: Any, logging_server: LoggingServer) -> None:
    """A later query that is refused costs its own answer only."""
    logging_server.add(pod_entry(1, "ModuleNotFoundError: No module named 'timm'"))
    logging_server.faults = [None, Fault(grpc.StatusCode.PERMISSION_DENIED, "denied")]
    report = diagnose("bert")
    assert report.diagnoses[0].category == "user_exception"
    assert "was not read" in report.notes[0].text


def test_a_pod_leads_to_its_controller(diagnose: Any, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """The name of a pod finds the story of the job that owns it."""
    logging_server.add(pod_entry(1, "ModuleNotFoundError: No module named 'timm'"))
    assert diagnose("bert-worker-0-x7k2p").diagnoses[0].job.id == "bert"


def test_a_cancellation_is_found(diagnose: Any, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """The audit entry that says who cancelled belongs to the job."""
    who = {
        "insertId": "audit1",
        "logName": f"projects/{PROJECT}/logs/cloudaudit.googleapis.com%2Factivity",
        "timestamp": str(START.plus(60)),
        "resource": {"type": "audited_resource", "labels": {"project_id": PROJECT}},
        "protoPayload": {
            "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
            "serviceName": "aiplatform.googleapis.com",
            "methodName": "google.cloud.aiplatform.v1.JobService.CancelCustomJob",
            "resourceName": f"projects/1/locations/us-central1/customJobs/{JOB}",
            "authenticationInfo": {"principalEmail": "ada@example.com"},
        },
    }
    logging_server.add(entry(1, "Job is running.", "service"), entry(2, "step 1"), who)
    api_server.jobs[vertex_path()] = custom_job("JOB_STATE_CANCELLED")
    assert diagnose().diagnoses[0].category == "cancelled"


def test_a_full_resource_name(diagnose: Any, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """The name that the SDK prints says project, region and id at once."""
    logging_server.add(*failed_job())
    api_server.jobs[vertex_path()] = custom_job()
    report = diagnose(f"projects/{PROJECT}/locations/us-central1/customJobs/{JOB}", project=None)
    assert report.diagnoses[0].job.id == JOB


def test_an_old_job(diagnose: Any, logging_server: LoggingServer, api_server: ApiServer) -> None:
    """A job from before the usual retention is looked for from its creation on, since a bucket may keep more."""
    made = START.plus(-90 * 86_400)
    old = failed_job()
    for number, line in enumerate(old):
        line["timestamp"] = str(Instant(made.plus(number)))
    logging_server.add(*old)
    described = custom_job() | {"createTime": str(made)}
    api_server.jobs[vertex_path()] = described
    assert diagnose(region="us-central1").diagnoses[0].stats.entries > 20
    assert diagnose().diagnoses[0].stats.entries > 20
    api_server.jobs.clear()
    assert diagnose().diagnoses[0].stats.entries > 20
