"""Entries and descriptions of made-up jobs, as the services write them."""

from __future__ import annotations

from typing import Any

from analyzer.model import SECOND, Instant

PROJECT = "acme-ml"
START = Instant.parse("2026-03-11T08:00:00Z") or Instant(0)
NOW = START.plus(86_400)
JOB = "5501234567890123456"


def entry(
    number: int, text: str, task: str = "workerpool0-0", job: str = JOB, at: float | None = None, severity: str = "INFO"
) -> dict[str, Any]:
    """A line of a training service's job; `at` is seconds from the start, as many as its number by default."""
    return {
        "insertId": f"id{number:08d}",
        "logName": f"projects/{PROJECT}/logs/{'ml.googleapis.com%2F' + job if task == 'service' else task}",
        "timestamp": str(Instant(START + int((number if at is None else at) * SECOND) + number % 1000)),
        "severity": severity,
        "textPayload": text,
        "resource": {"type": "ml_job", "labels": {"job_id": job, "task_name": task, "project_id": PROJECT}},
        "labels": {} if task == "service" else {"compute.googleapis.com/zone": "us-central1-b"},
    }


def failed_job(lines: int = 20, job: str = JOB) -> list[dict[str, Any]]:
    """A job that prints so many lines and then fails for a missing module."""
    first = [
        entry(0, "Waiting for training program to start.", "service", job),
        entry(1, "Job is running.", "service", job),
        entry(2, "Running module trainer.task.", job=job),
    ]
    steps = [entry(3 + n, f"step {n} loss {1 / (n + 1):.4f}", job=job) for n in range(lines)]
    n = 3 + lines
    verdict = "The replica workerpool0-0 exited with a non-zero status of 1. Termination reason: Error."
    return [
        *first,
        *steps,
        entry(n, "ModuleNotFoundError: No module named 'timm'", job=job, severity="ERROR"),
        entry(n + 1, verdict, "service", job, severity="ERROR"),
        entry(n + 2, "Job failed.", "service", job),
    ]


def custom_job(state: str = "JOB_STATE_FAILED", job: str = JOB, region: str = "us-central1") -> dict[str, Any]:
    """The description of a custom job."""
    made = {
        "name": f"projects/482913007755/locations/{region}/customJobs/{job}",
        "displayName": "resnet-sweep",
        "state": state,
        "createTime": str(START.plus(-30)),
        "startTime": str(START.plus(1)),
        "jobSpec": {"workerPoolSpecs": [{"machineSpec": {"machineType": "n1-standard-8"}, "replicaCount": "1"}]},
    }
    if state == "JOB_STATE_FAILED":
        made["endTime"] = str(START.plus(40_000))
        message = "The replica workerpool0-0 exited with a non-zero status of 1."
        made["error"] = {"code": 3, "message": message}
    return made


def vertex_path(kind: str = "customJobs", job: str = JOB, region: str = "us-central1") -> str:
    """Where the API describes a job."""
    return f"/v1/projects/{PROJECT}/locations/{region}/{kind}/{job}"
