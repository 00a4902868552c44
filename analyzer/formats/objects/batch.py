"""Cloud Batch jobs and tasks: their states and status events.

Format: https://cloud.google.com/batch/docs/reference/rest/v1/projects.locations.jobs
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from analyzer.formats.clock import any_instant
from analyzer.formats.identity import batch_task
from analyzer.formats.located import Document
from analyzer.formats.part import Part, known
from analyzer.formats.shape import as_dict, as_list
from analyzer.model import JobKey, Origin
from analyzer.model.numbers import number

NAME = re.compile(
    r"^projects/(?P<project>[^/]+)/locations/(?P<region>[^/]+)/jobs/(?P<id>[^/]+)(?P<task>/taskGroups/.+)?$"
)
_TASK = re.compile(r"(?:taskGroups/)(group\d+/tasks/\d+)|\b(\S{1,200}-group\d+-\d+)\b")
_INDEX = re.compile(r"\btask with index (\d+) failed")
"""How a job's event names the task that failed it; a job has one group, `group0`."""
_MACHINE = re.compile(r"\bon zones/([^/\s]+)/instances/([^/\s]+)")


def is_batch(value: dict[str, Any]) -> bool:
    """Whether an object is a Batch job or task."""
    status = value.get("status")
    has_events = isinstance(status, dict) and isinstance(status.get("statusEvents"), list)
    return has_events or ("taskGroups" in value and NAME.match(str(value.get("name"))) is not None)


def batch_parts(document: Document, value: dict[str, Any], near: JobKey | None = None) -> Iterator[Part]:
    """The statements of a job or task; `near` is the job of the file where a task does not name its own."""
    name = NAME.match(str(value.get("name")))
    key = JobKey("batch", name["project"], name["id"]) if name else near
    status = as_dict(value.get("status"))
    task = batch_task(name["task"]) if name and name["task"] else None
    is_task = task is not None or ("taskGroups" not in value and "uid" not in value)
    yield Part(
        text=document.quote(status, "state") if "state" in status else document.quote(value, "name"),
        fields=known(
            kind="task" if is_task else "job",
            state=status.get("state"),
            project=name["project"] if name else None,
            region=name["region"] if name else None,
            **({} if is_task else _spec(value)),
        ),
        job=key,
        replica=task,
        line=document.place(status, "state"),
    )
    events = as_list(status.get("statusEvents"))
    for index, event in enumerate(events):
        if isinstance(event, dict):
            yield msgspec.structs.replace(_event(document, events, index, task), job=key)


def _event(document: Document, events: list[Any], index: int, task: str | None) -> Part:
    event = events[index]
    text = str(event.get("description") or "") or document.quote(events, index)
    machine = _MACHINE.search(text)
    named, failed = _TASK.search(text), _INDEX.search(text)
    about_task = "taskState" in event or "taskExecution" in event
    fields = known(
        kind="task" if about_task else "job",
        type=event.get("type"),
        state=event.get("taskState"),
        exit_code=number(as_dict(event.get("taskExecution")).get("exitCode")),
        zone=machine[1] if machine else None,
        event=True,
    )
    return Part(
        text=text,
        fields=fields,
        replica=batch_task(named[0]) if named else f"group0-{failed[1]}" if failed else task,
        node=machine[2] if machine and not machine[2].isdecimal() else None,  # log lines name the host, never its id
        time=any_instant(event.get("eventTime")),
        line=document.place(event, "description") if event.get("description") else document.place(events, index),
        origin=Origin.SERVICE,
    )


def _spec(job: dict[str, Any]) -> dict[str, Any]:
    instances = as_list(as_dict(job.get("allocationPolicy")).get("instances"))
    policy = as_dict(as_dict(instances[0] if instances else {}).get("policy"))
    accelerators = as_list(policy.get("accelerators"))
    accelerator = as_dict(accelerators[0] if accelerators else {})
    groups = as_list(job.get("taskGroups"))
    task_spec = as_dict(as_dict(groups[0] if groups else {}).get("taskSpec"))
    return known(
        uid=job.get("uid"),
        machine_type=policy.get("machineType"),
        accelerator=accelerator.get("type"),
        accelerator_count=number(accelerator.get("count")),
        scheduling=known(
            provisioning_model=policy.get("provisioningModel"), max_run_duration=task_spec.get("maxRunDuration")
        ),
        restart_limit=number(task_spec.get("maxRetryCount")),
        memory_limit=_mebibytes(as_dict(task_spec.get("computeResource")).get("memoryMib")),
        created=job.get("createTime"),
    )


def _mebibytes(value: Any) -> str | None:
    return None if value is None else f"{value}Mi"
