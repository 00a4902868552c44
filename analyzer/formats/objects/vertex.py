"""Vertex AI's resources as its API describes them: custom jobs, tuning jobs, pipelines, persistent resources.

Format: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.customJobs and its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from analyzer.formats.clock import any_instant
from analyzer.formats.located import Document
from analyzer.formats.objects.limits import reached_limits
from analyzer.formats.part import Part, known
from analyzer.formats.shape import as_dict, as_list
from analyzer.model import JobKey
from analyzer.model.numbers import number

NAME = re.compile(
    r"^projects/(?P<project>[^/]+)/locations/(?P<region>[^/]+)/"
    r"(?P<kind>customJobs|hyperparameterTuningJobs|trainingPipelines|pipelineJobs|persistentResources|nasJobs)/(?P<id>[^/]+)$"
)
_REPLICAS = 5000


def vertex_parts(document: Document, job: dict[str, Any]) -> Iterator[Part]:
    """The statements of one resource: its state with its error, then its trials or tasks."""
    name = NAME.match(str(job.get("name")))
    if name is None:
        return
    key = JobKey("vertex", name["project"], name["id"])
    part = stated(document, job, "job")
    facts = known(
        involved_kind=name["kind"],
        project=name["project"],
        region=name["region"],
        display_name=job.get("displayName"),
        created=job.get("createTime"),
        backing_job=_last(as_dict(job.get("trainingTaskMetadata")).get("backingCustomJob")),
        **_spec(_job_spec(job)),
    )
    yield msgspec.structs.replace(part, fields={**part.fields, **facts}, job=key)
    yield from reached_limits(document, as_dict(_job_spec(job).get("scheduling")), job, key)
    for index, trial in enumerate(as_list(job.get("trials"))):
        if isinstance(trial, dict):
            yield _trial(document, job["trials"], index, key)
    detail = as_dict(job.get("jobDetail"))
    for task in as_list(detail.get("taskDetails")):
        if isinstance(task, dict):
            yield from _task(document, task, key)


def stated(document: Document, value: dict[str, Any], kind: str) -> Part:
    """The state of a resource with its error; the words are the error's, else the line of the state."""
    error = as_dict(value.get("error"))
    message = error.get("message")
    where = "state" if "state" in value else "name"
    fields = known(
        kind=kind, state=value.get("state"), code=number(error.get("code")), started=value.get("startTime"),
        finished=value.get("endTime"),
    )  # fmt: skip
    text = document.quote(value, where)
    if message:
        bare = " " not in str(message)  # a message such as CANCELED says less than the state
        text = f"{text}\n{message}" if bare else str(message).rstrip("\n")
    return Part(
        text=text,
        fields=fields,
        time=any_instant(value.get("endTime") or value.get("updateTime")),
        line=document.place(error, "message") if message else document.place(value, where),
    )


def _job_spec(job: dict[str, Any]) -> dict[str, Any]:
    for holder, key in ((job, "jobSpec"), (job, "trialJobSpec"), (job, "trainingTaskInputs"), (job, "resourcePools")):
        if isinstance(holder.get(key), dict):
            return as_dict(holder[key])
        if isinstance(holder.get(key), list):
            return {"workerPoolSpecs": holder[key]}
    return {}


def _spec(spec: dict[str, Any]) -> dict[str, Any]:
    pools = [as_dict(pool) for pool in as_list(spec.get("workerPoolSpecs") or spec.get("worker_pool_specs"))]
    if not pools:
        return known(scheduling=as_dict(spec.get("scheduling")))
    machine = as_dict(pools[0].get("machineSpec") or pools[0].get("machine_spec"))
    container = as_dict(pools[0].get("containerSpec") or pools[0].get("container_spec"))
    package = as_dict(pools[0].get("pythonPackageSpec") or pools[0].get("python_package_spec"))
    names = [
        f"workerpool{index}-{replica}"
        for index, pool in enumerate(pools)
        for replica in range(min(number(pool.get("replicaCount") or pool.get("replica_count")) or 0, _REPLICAS))
    ]
    return known(
        machine_type=machine.get("machineType") or machine.get("machine_type"),
        machine_types=[as_dict(pool.get("machineSpec")).get("machineType") for pool in pools]
        if len(pools) > 1
        else None,
        accelerator=machine.get("acceleratorType") or machine.get("accelerator_type") or machine.get("tpuTopology"),
        accelerator_count=number(machine.get("acceleratorCount") or machine.get("accelerator_count")),
        image=container.get("imageUri") or container.get("image_uri") or package.get("executorImageUri"),
        replica_names=names,
        scheduling=as_dict(spec.get("scheduling")),
        principal=spec.get("serviceAccount"),
        disk_gb=number(as_dict(pools[0].get("diskSpec")).get("bootDiskSizeGb")),
    )


def _trial(document: Document, trials: list[Any], index: int, key: JobKey) -> Part:
    trial = trials[index]
    words = trial.get("infeasibleReason")
    fields = known(
        kind="trial", state=trial.get("state"), trial=number(trial.get("id")), started=trial.get("startTime"),
        finished=trial.get("endTime"), backing_job=_last(trial.get("customJob")),
    )  # fmt: skip
    return Part(
        text=str(words) if words else document.quote(trials, index),
        fields=fields,
        job=key,
        attempt=number(trial.get("id")),
        time=any_instant(trial.get("endTime")),
        line=document.place(trial, "infeasibleReason") if words else document.place(trials, index),
    )


def _task(document: Document, task: dict[str, Any], key: JobKey) -> Iterator[Part]:
    detail = as_dict(as_dict(task.get("executorDetail")).get("customJobDetail"))
    container = as_dict(as_dict(task.get("executorDetail")).get("containerDetail"))
    about = known(
        display_name=task.get("taskName"),
        backing_job=_last(detail.get("job") or container.get("mainJob")),
        failed_jobs=[_last(job) for job in as_list(detail.get("failedJobs") or container.get("failedMainJobs"))],
    )
    history = as_list(task.get("pipelineTaskStatus"))
    for index, status in enumerate(history):
        final = index == len(history) - 1 and as_dict(status).get("state") == task.get("state")
        if isinstance(status, dict) and status.get("error") and not final:
            part = stated(document, status, "task")
            yield msgspec.structs.replace(part, fields={**part.fields, **about}, job=key)
    part = stated(document, task, "task")
    yield msgspec.structs.replace(part, fields={**part.fields, **about}, job=key)


def _last(path: Any) -> str | None:
    return str(path).rpartition("/")[2] if path else None
