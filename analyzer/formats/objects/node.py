"""Machines as their APIs describe them: Kubernetes nodes, Compute Engine instances, TPU nodes and queued resources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from analyzer.formats.clock import any_instant
from analyzer.formats.located import Document
from analyzer.formats.objects.owner import metadata_of
from analyzer.formats.objects.pod import conditions
from analyzer.formats.part import Part, known
from analyzer.formats.shape import as_dict, as_list
from analyzer.model import JobKey
from analyzer.model.numbers import number


def node_parts(document: Document, node: dict[str, Any]) -> Iterator[Part]:
    """The statements of a Kubernetes node: what it is, and its conditions."""
    metadata, status = metadata_of(node), as_dict(node.get("status"))
    labels = as_dict(metadata.get("labels"))
    capacity, allocatable = as_dict(status.get("capacity")), as_dict(status.get("allocatable"))
    name = metadata.get("name")
    fields = known(
        kind="node",
        machine_type=labels.get("node.kubernetes.io/instance-type") or labels.get("beta.kubernetes.io/instance-type"),
        accelerator=labels.get("cloud.google.com/gke-accelerator")
        or labels.get("cloud.google.com/gke-tpu-accelerator"),
        accelerator_count=number(str(capacity.get("nvidia.com/gpu") or capacity.get("google.com/tpu") or "")),
        zone=labels.get("topology.kubernetes.io/zone"),
        created=metadata.get("creationTimestamp"),
        allocatable_memory=allocatable.get("memory"),
        capacity_memory=capacity.get("memory"),
        spot=True if labels.get("cloud.google.com/gke-spot") == "true" else None,
    )
    yield Part(text=document.quote(metadata, "name"), fields=fields, node=name, line=document.place(metadata, "name"))
    for part in conditions(document, status, "node"):
        yield msgspec.structs.replace(part, node=name)


def instance_parts(document: Document, instance: dict[str, Any]) -> Iterator[Part]:
    """The statements of a Compute Engine instance."""
    scheduling = as_dict(instance.get("scheduling"))
    accelerators = [one for one in as_list(instance.get("guestAccelerators")) if isinstance(one, dict)]
    name = instance.get("name")
    key = "statusMessage" if instance.get("statusMessage") else "status"
    fields = known(
        kind="node",
        state=instance.get("status"),
        machine_type=_last(instance.get("machineType")),
        zone=_last(instance.get("zone")),
        accelerator=_last(accelerators[0].get("acceleratorType")) if accelerators else None,
        accelerator_count=number(accelerators[0].get("acceleratorCount")) if accelerators else None,
        scheduling=scheduling,
        created=instance.get("creationTimestamp"),
        started=instance.get("lastStartTimestamp"),
        finished=instance.get("lastStopTimestamp"),
    )
    message = instance.get("statusMessage")
    yield Part(
        text=str(message) if message else document.quote(instance, key),
        fields=fields,
        job=None if str(name).startswith(("gke-", "gk3-")) else JobKey("compute", _project(instance), str(name)),
        node=name,
        time=any_instant(instance.get("lastStopTimestamp")),
        line=document.place(instance, key),
    )


def tpu_parts(document: Document, node: dict[str, Any]) -> Iterator[Part]:
    """The statements of a TPU node or a queued resource: its state and health, and its symptoms."""
    path = str(node.get("name"))
    name, project = _last(path), path.split("/")[1]
    job = JobKey("tpu", project, str(name))
    state = node.get("state")
    state_facts = as_dict(state)
    error = as_dict(as_dict(state_facts.get("failedData")).get("error")) or as_dict(node.get("error"))
    key = next((key for key in ("healthDescription", "state", "name") if node.get(key)), "name")
    words = "\n".join(_refused(error)) or node.get("healthDescription")
    fields = known(
        kind="node" if "/nodes/" in path else "job",
        state=state_facts.get("state") or (state if isinstance(state, str) else None),
        reason=node.get("health"),
        code=number(error.get("code")),
        accelerator=node.get("acceleratorType"),
        zone=path.split("/")[3] if path.count("/") > 3 else None,
        scheduling=as_dict(node.get("schedulingConfig")),
        created=node.get("createTime"),
        project=project,
    )
    text = str(words) if words else document.quote(node, key)
    yield Part(text=text, fields=fields, job=job, node=name, line=document.place(node, key))
    symptoms = as_list(node.get("symptoms"))
    for index, symptom in enumerate(symptoms):
        if isinstance(symptom, dict):
            details = symptom.get("details")
            yield Part(
                text=str(details) if details else document.quote(symptoms, index),
                fields=known(kind="node", reason=symptom.get("symptomType")),
                job=job,
                replica=f"worker-{symptom['workerId']}" if symptom.get("workerId") else None,
                node=name,
                time=any_instant(symptom.get("createTime")),
                line=document.place(symptoms, index),
            )


def _refused(error: dict[str, Any]) -> Iterator[str]:
    """What an error says, and what its details say was violated: the quota by name, the field that is wrong.

    Format: https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto
    """
    if error.get("message"):
        yield str(error["message"])
    for detail in as_list(error.get("details")):
        for key in ("violations", "fieldViolations"):
            for violation in as_list(as_dict(detail).get(key)):
                if as_dict(violation).get("description"):
                    yield str(violation["description"])


def _last(path: Any) -> str | None:
    return str(path).rstrip("/").rpartition("/")[2] if path else None


def _project(instance: dict[str, Any]) -> str:
    for key in ("selfLink", "zone", "machineType"):
        link = str(instance.get(key) or "")
        if "/projects/" in link:
            return link.split("/projects/", 1)[1].split("/", 1)[0]
    return ""
