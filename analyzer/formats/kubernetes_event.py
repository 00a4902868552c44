"""Kubernetes Events: as entries of the log `events`, and as v1 Event objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analyzer.expressions import expression
from analyzer.formats.clock import any_instant
from analyzer.formats.part import Part, known
from analyzer.formats.shape import as_dict
from analyzer.model import JobKey
from analyzer.model.numbers import number

JOB_KINDS = frozenset(
    ("JobSet", "Job", "PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob", "TrainJob", "RayJob",
     "RayCluster", "LeaderWorkerSet", "Workload", "ProvisioningRequest", "AppWrapper", "VolcanoJob", "Workflow",
     "CronJob", "StatefulSet", "Deployment", "ReplicaSet", "Notebook")
)  # fmt: skip
"""Kinds of objects that own pods; an event about one belongs to the job of that name."""

_ASSIGNED = expression(r"Successfully assigned \S+ to (?P<node>[a-z0-9.-]+)")
_EXITED = expression(r"Pod: [a-z0-9-]+\.(?P<pod>[a-z0-9.-]+) exited with code \d+")
"""The operator's words, with the pod's namespace and name (kubeflow/trainer v1, `pkg/controller.v1/common`)."""


_CREATED = expression(r"Created pod:? (\S+)")


def event_fields(event: Any, place: Mapping[str, Any]) -> Part:
    """The part that a v1 Event (or events.k8s.io/v1) makes; `place` holds the cluster and project it came from.

    Raises ValueError for what is no event.
    """
    if not isinstance(event, dict):
        raise ValueError("an event is an object")
    about = as_dict(event.get("involvedObject") or event.get("regarding"))
    source = as_dict(event.get("source") or event.get("deprecatedSource"))
    message = next(
        (event[key] for key in ("message", "note", "action") if isinstance(event.get(key), str) and event[key]), None
    )
    if message is None and not event.get("reason"):
        raise ValueError("an event has a message or a reason")
    kind, name = about.get("kind"), about.get("name")
    pod = name if kind == "Pod" else _exited_pod(event, message)
    namespace = about.get("namespace") or as_dict(event.get("metadata")).get("namespace")
    created = _CREATED.match(message or "")
    fields = known(
        kind="event",
        reason=event.get("reason"),
        type=event.get("type"),
        involved_kind=kind,
        involved_name=name,
        pod=pod,
        created_pod=created[1] if created else None,
        uid=about.get("uid"),
        namespace=namespace,
        container=_container(about.get("fieldPath")),
        count=number(event.get("count"))
        or number(as_dict(event.get("series")).get("count"))
        or number(event.get("deprecatedCount")),
        started=event.get("firstTimestamp") or event.get("deprecatedFirstTimestamp"),
        component=source.get("component") or event.get("reportingComponent") or event.get("reportingController"),
    )
    return Part(
        text=str(message if message is not None else event["reason"]).rstrip("\r\n"),
        fields=fields,
        job=_job(kind, name, str(place.get("project") or "")),
        replica=pod,
        node=name if kind == "Node" else _node_of(event, source, message) if kind == "Pod" else None,
        severity="WARNING" if event.get("type") == "Warning" else "INFO",
        time=event_time(event),
    )


def _exited_pod(event: Mapping[str, Any], message: str | None) -> str | None:
    """The pod that Kubeflow's operator tells the exit of, in an event about the job."""
    found = _EXITED.match(message) if event.get("reason") == "ExitedWithCode" and message else None
    return found["pod"] if found else None


def _node_of(event: Mapping[str, Any], source: Mapping[str, Any], message: str | None) -> str | None:
    """The node that tells of a pod, or that the scheduler assigned it to."""
    found = _ASSIGNED.fullmatch(message) if event.get("reason") == "Scheduled" and message else None
    return source.get("host") or (found["node"] if found else None)


def event_time(event: Mapping[str, Any]) -> Any:
    """When an event last happened; None where it does not say."""
    series = as_dict(event.get("series"))
    metadata = as_dict(event.get("metadata"))
    for value in (
        series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("deprecatedLastTimestamp"),
        event.get("eventTime"), event.get("firstTimestamp"), metadata.get("creationTimestamp"),
    ):  # fmt: skip
        found = any_instant(value)
        if found is not None:
            return found
    return None


def _job(kind: object, name: object, project: str) -> JobKey | None:
    if not isinstance(name, str) or not name:
        return None
    return JobKey("gke", project, name) if kind == "Pod" or kind in JOB_KINDS else None


def _container(path: object) -> str | None:
    """The container of a field path such as `spec.containers{trainer}`."""
    if isinstance(path, str) and path.endswith("}") and "{" in path:
        return path[path.index("{") + 1 : -1]
    return None
