"""AI Platform Training's job object (`gcloud ai-platform jobs describe`).

Format: https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analyzer.formats.clock import any_instant
from analyzer.formats.located import Document
from analyzer.formats.objects.limits import reached_limits
from analyzer.formats.part import Part, known
from analyzer.formats.shape import as_dict, as_list
from analyzer.model import JobKey
from analyzer.model.numbers import number

_REPLICAS = 5000


def ai_platform_parts(document: Document, job: dict[str, Any]) -> Iterator[Part]:
    """The statements of one job: its state with its error, then its trials."""
    key = JobKey("ai_platform", "", str(job["jobId"]))
    spec, output = as_dict(job.get("trainingInput")), as_dict(job.get("trainingOutput"))
    accelerator = as_dict(as_dict(spec.get("masterConfig")).get("acceleratorConfig"))
    message = job.get("errorMessage")
    where = "errorMessage" if message else "state" if "state" in job else "jobId"
    fields = known(
        kind="job",
        state=job.get("state"),
        created=job.get("createTime"),
        started=job.get("startTime"),
        finished=job.get("endTime"),
        region=spec.get("region"),
        machine_type=spec.get("masterType") or spec.get("scaleTier"),
        accelerator=accelerator.get("type"),
        accelerator_count=number(accelerator.get("count")),
        image=as_dict(spec.get("masterConfig")).get("imageUri") or spec.get("runtimeVersion"),
        replica_names=_replicas(spec),
        scheduling=as_dict(spec.get("scheduling")),
    )
    yield Part(
        text=str(message).rstrip("\n") if message else document.quote(job, where),
        fields=fields,
        job=key,
        time=any_instant(job.get("endTime")),
        line=document.place(job, where),
    )
    yield from reached_limits(document, as_dict(spec.get("scheduling")), job, key)
    trials = as_list(output.get("trials"))
    for index, trial in enumerate(trials):
        if isinstance(trial, dict):
            facts = known(
                kind="trial", state=trial.get("state"), trial=number(trial.get("trialId")),
                started=trial.get("startTime"), finished=trial.get("endTime"),
            )  # fmt: skip
            yield Part(
                text=document.quote(trials, index), fields=facts, job=key, attempt=number(trial.get("trialId")),
                time=any_instant(trial.get("endTime")), line=document.place(trials, index),
            )  # fmt: skip


def _replicas(spec: dict[str, Any]) -> list[str]:
    """The replicas that the specification asks for; none where only a scale tier of unknown size is named."""
    if spec.get("scaleTier") not in (None, "CUSTOM", "BASIC", "BASIC_GPU", "BASIC_TPU"):
        return []
    names = ["master-replica-0"] if spec else []
    for key, kind in (("workerCount", "worker"), ("parameterServerCount", "ps"), ("evaluatorCount", "evaluator")):
        names += [f"{kind}-replica-{index}" for index in range(min(number(spec.get(key)) or 0, _REPLICAS))]
    return names
