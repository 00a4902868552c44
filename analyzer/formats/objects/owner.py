"""Which job a Kubernetes object belongs to: by its labels, else its owner, else its own name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analyzer.formats.identity import CONTROLLER_LABELS
from analyzer.formats.shape import as_list
from analyzer.model import JobKey


def metadata_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of an object; empty where it has none."""
    metadata = value.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def owner_of(metadata: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Kind and name of the controlling owner, or of the first one."""
    owners = [owner for owner in as_list(metadata.get("ownerReferences")) if isinstance(owner, dict)]
    owner = next((one for one in owners if one.get("controller")), owners[0] if owners else {})
    return owner.get("kind"), owner.get("name")


def job_of(metadata: Mapping[str, Any]) -> JobKey | None:
    """The job of a pod or of a controller below another one."""
    labels = metadata.get("labels")
    labels = labels if isinstance(labels, dict) else {}
    name = next((labels[label] for label in CONTROLLER_LABELS if labels.get(label)), None)
    kind, owner = owner_of(metadata)
    name = name or (owner if kind != "Node" else None) or metadata.get("name")
    return JobKey("gke", "", str(name)) if name else None
