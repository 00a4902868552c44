"""Pod objects: what the kubelet says of the pod, of each container's current and last state, and the conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analyzer.formats.clock import any_instant
from analyzer.formats.located import Document
from analyzer.formats.objects.owner import job_of, metadata_of, owner_of
from analyzer.formats.part import Part, known
from analyzer.formats.shape import as_dict, as_list
from analyzer.model import Instant, JobKey
from analyzer.model.numbers import number

_ACCELERATORS = ("nvidia.com/gpu", "google.com/tpu", "amd.com/gpu", "aws.amazon.com/neuron")
_START_OF_TIME = "1970-01-01T00:00:00Z"


def pod_parts(document: Document, pod: dict[str, Any]) -> Iterator[Part]:
    """The statements of one pod."""
    metadata, spec, status = metadata_of(pod), as_dict(pod.get("spec")), as_dict(pod.get("status"))
    name = metadata.get("name")
    owner_kind, owner_name = owner_of(metadata)
    job = job_of(metadata)
    about = known(
        pod=name,
        uid=metadata.get("uid"),
        namespace=metadata.get("namespace"),
        owner_kind=owner_kind,
        owner_name=owner_name,
    )
    node = spec.get("nodeName") or None
    yield _phase(document, status, about, spec, metadata, job, node)
    for condition in conditions(document, status, "pod"):
        yield place(condition, about, job, name, node)
    limits = _limits(spec)
    for key in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        for container in as_list(status.get(key)):
            if isinstance(container, dict):
                for part in _container(document, container, limits, key.startswith("init")):
                    yield place(part, about, job, name, node)


def conditions(document: Document, status: dict[str, Any], kind: str) -> Iterator[Part]:
    """The conditions of an object that say why: those with a reason, a message, or a type that is bad news."""
    for condition in as_list(status.get("conditions")):
        if not isinstance(condition, dict) or not condition.get("type"):
            continue
        message = condition.get("message")
        bad_news = condition.get("status") == "True" and condition["type"] in ("DisruptionTarget", "Failed", "Evicted")
        if not (message or condition.get("reason") or bad_news):
            continue
        index = next(i for i, one in enumerate(status["conditions"]) if one is condition)
        where = "message" if message else "reason" if condition.get("reason") else "type"
        yield Part(
            text=str(message) if message else document.quote(status["conditions"], index),
            fields=known(
                kind=kind, type=condition["type"], status=condition.get("status"), reason=condition.get("reason")
            ),
            time=any_instant(condition.get("lastTransitionTime") or condition.get("lastUpdateTime")),
            line=document.place(condition, where),
        )


def place(part: Part, about: Mapping[str, Any], job: JobKey | None, replica: str | None, node: str | None) -> Part:
    """A part, said of this pod."""
    return Part(
        text=part.text, fields={**about, **part.fields}, job=job, replica=replica, node=node, severity=part.severity,
        time=part.time, line=part.line,
    )  # fmt: skip


def _phase(
    document: Document, status: dict[str, Any], about: dict[str, Any], spec: dict[str, Any], metadata: dict[str, Any],
    job: JobKey | None, node: str | None,
) -> Part:  # fmt: skip
    key = next((key for key in ("message", "reason", "phase") if status.get(key)), "phase")
    message = status.get("message")
    selector = as_dict(spec.get("nodeSelector"))
    fields = known(
        kind="pod",
        phase=status.get("phase"),
        reason=status.get("reason"),
        created=metadata.get("creationTimestamp"),
        started=status.get("startTime"),
        accelerator=selector.get("cloud.google.com/gke-accelerator")
        or selector.get("cloud.google.com/gke-tpu-accelerator"),
        machine_type=selector.get("node.kubernetes.io/instance-type"),
        accelerator_count=_accelerators(spec),
        **about,
    )
    text = str(message) if message else document.quote(status, key) if status else document.quote(metadata, "name")
    return Part(
        text=text, fields=fields, job=job, replica=about.get("pod"), node=node, line=document.place(status, key),
        time=any_instant(metadata.get("deletionTimestamp")),
    )  # fmt: skip


def _container(document: Document, container: dict[str, Any], limits: Mapping[str, str], init: bool) -> Iterator[Part]:
    name = container.get("name")
    for key in ("lastState", "state"):
        states = as_dict(container.get(key))
        for state, facts in states.items():
            if not isinstance(facts, dict) or state not in ("waiting", "running", "terminated"):
                continue
            message = facts.get("message")
            started = facts.get("startedAt")
            fields = known(
                kind="container",
                container=name,
                state=state,
                reason=facts.get("reason"),
                exit_code=number(facts.get("exitCode")),
                signal=number(facts.get("signal")),
                restart_count=number(container.get("restartCount")),
                last_state=True if key == "lastState" else None,
                init=True if init else None,
                started=None if started == _START_OF_TIME else started,
                finished=facts.get("finishedAt"),
                memory_limit=limits.get(str(name)),
                image=container.get("image"),
            )
            yield Part(
                text=str(message).rstrip("\n") if message else document.quote(states, state),
                fields=fields,
                time=_state_time(facts),
                line=document.place(facts, "message") if message else document.place(states, state),
            )


def _state_time(facts: Mapping[str, Any]) -> Instant | None:
    return any_instant(facts.get("finishedAt")) or any_instant(facts.get("startedAt"))


def _limits(spec: Mapping[str, Any]) -> dict[str, str]:
    """The memory limit of each container that has one."""
    found: dict[str, str] = {}
    for key in ("initContainers", "containers"):
        for container in as_list(spec.get(key)):
            limits = as_dict(as_dict(as_dict(container).get("resources")).get("limits"))
            if limits.get("memory"):
                found[str(container.get("name"))] = str(limits["memory"])
    return found


def _accelerators(spec: Mapping[str, Any]) -> int | None:
    total = 0
    for container in as_list(spec.get("containers")):
        resources = as_dict(as_dict(container).get("resources"))
        limits = {**as_dict(resources.get("requests")), **as_dict(resources.get("limits"))}
        total += sum(number(str(limits[name])) or 0 for name in _ACCELERATORS if name in limits)
    return total or None
