"""Objects that own pods or queue for them: Job, JobSet, Kubeflow's jobs, Ray, Kueue's Workload, ProvisioningRequest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from analyzer.formats.clock import any_instant
from analyzer.formats.located import Document
from analyzer.formats.objects.owner import job_of, metadata_of, owner_of
from analyzer.formats.objects.pod import conditions
from analyzer.formats.part import Part, known
from analyzer.formats.shape import as_dict
from analyzer.model import JobKey
from analyzer.model.numbers import number

_TERMINAL = (
    "Failed",
    "FailureTarget",
    "Complete",
    "Completed",
    "Succeeded",
    "SuccessCriteriaMet",
    "Finished",
    "Evicted",
)
_KINDS = {"Workload": "workload", "ProvisioningRequest": "provisioning_request"}


def controller_parts(document: Document, value: dict[str, Any]) -> Iterator[Part]:
    """The statements of one controller: its state with the reason for it, then its other conditions."""
    metadata, spec, status = metadata_of(value), as_dict(value.get("spec")), as_dict(value.get("status"))
    kind = _KINDS.get(str(value.get("kind")), "job")
    owner_kind, owner_name = owner_of(metadata)
    job = job_of(metadata) if kind != "job" or owner_name else _own(metadata)
    about = known(
        involved_kind=value.get("kind"), involved_name=metadata.get("name"), uid=metadata.get("uid"),
        namespace=metadata.get("namespace"), owner_kind=owner_kind, owner_name=owner_name,
    )  # fmt: skip
    parts = list(conditions(document, status, kind))
    chosen = _deciding(parts)
    facts = known(
        kind=kind,
        state=_state(status, chosen),
        created=metadata.get("creationTimestamp"),
        started=status.get("startTime"),
        finished=status.get("completionTime") or status.get("endTime"),
        restart_count=number(status.get("restarts")),
        restart_limit=_restart_limit(spec),
        failed=number(status.get("failed")),
        succeeded=number(status.get("succeeded")),
        active=number(status.get("active")),
        message=status.get("message"),
        reason=status.get("reason"),
    )
    if chosen is None:
        message = status.get("message")
        text = str(message) if message else document.quote(value, "status" if status else "metadata")
        line = (
            document.place(status, "message") if message else document.place(value, "status" if status else "metadata")
        )
        main = Part(text=text, line=line, time=any_instant(status.get("completionTime") or status.get("endTime")))
    else:
        main = chosen
    yield msgspec.structs.replace(main, fields={**about, **facts, **main.fields}, job=job)
    for part in parts:
        if part is not chosen:
            yield msgspec.structs.replace(part, fields={**about, **part.fields}, job=job)


def _own(metadata: dict[str, Any]) -> JobKey | None:
    return JobKey("gke", "", str(metadata["name"])) if metadata.get("name") else None


def _deciding(parts: list[Part]) -> Part | None:
    """The condition that tells the state: a terminal one that is true, else the latest of the others that is."""
    true = [part for part in parts if part.fields.get("status") == "True"]
    for kind in _TERMINAL:
        for part in true:
            if part.fields["type"] == kind:
                return part
    return true[-1] if true else (parts[-1] if parts else None)


def _state(status: dict[str, Any], chosen: Part | None) -> str | None:
    for key in ("terminalState", "jobStatus", "jobDeploymentStatus", "state", "phase"):
        if isinstance(status.get(key), str) and status[key]:
            return str(status[key])
    if chosen is None or chosen.fields.get("status") != "True":
        return "Active" if number(status.get("active")) else None
    return str(chosen.fields["type"])


def _restart_limit(spec: dict[str, Any]) -> int | None:
    for inner, key in (("failurePolicy", "maxRestarts"), ("runPolicy", "backoffLimit")):
        found = number(as_dict(spec.get(inner)).get(key))
        if found is not None:
            return found
    return number(spec.get("backoffLimit"))
