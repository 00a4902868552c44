"""What a caller names: a job's id or full resource name, its project and region."""

from __future__ import annotations

import re
from enum import StrEnum

import msgspec

from analyzer.errors import UsageError

_RESOURCE = re.compile(
    r"(?:https://[\w.-]+/v1(?:beta1)?/)?projects/(?P<project>[^/]+)(?:/locations/(?P<region>[^/]+))?/"
    r"(?:customJobs|hyperparameterTuningJobs|trainingPipelines|pipelineJobs|jobs)/(?P<id>[^/]+)/?"
)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}", re.ASCII)
_PROJECT = re.compile(r"(?:[a-z0-9.-]+:)?[a-z0-9][a-z0-9-]{1,61}[a-z0-9]", re.ASCII)
_REGION = re.compile(r"[a-z]+-[a-z]+\d{1,2}", re.ASCII)


class Service(StrEnum):
    """A service that runs jobs and logs them."""

    VERTEX = "Vertex AI"
    AI_PLATFORM = "AI Platform Training"
    BATCH = "Batch"
    GKE = "GKE"


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """The job that is asked for."""

    id: str
    project: str
    region: str | None = None

    @property
    def services(self) -> frozenset[Service]:
        """The services that may have given such an id.

        Vertex AI numbers its jobs, and names only pipelines; AI Platform's names begin with a letter and have no
        dashes; names of Kubernetes objects and Batch jobs have no capitals and no underscores.
        """
        if self.id.isdecimal():
            return frozenset((Service.VERTEX,))
        found = set()
        if re.fullmatch(r"[A-Za-z]\w*", self.id, re.ASCII):
            found.add(Service.AI_PLATFORM)
        if re.fullmatch(r"[a-z0-9][a-z0-9.-]*", self.id):
            found.add(Service.GKE)
        if re.fullmatch(r"[a-z][a-z0-9-]*", self.id):
            found |= {Service.BATCH, Service.VERTEX}
        return frozenset(found)


def target_of(job: str | None, project: str | None, region: str | None) -> Target:
    """The job that the words of a call name; a full resource name (`projects/…/customJobs/…`) says all of it.

    Raises:
        UsageError: for words that cannot be an id, a project or a region.
    """
    if job is None:
        raise UsageError(
            "no job is named", advice="write its id before --project: diagnose JOB_ID --project PROJECT_ID"
        )
    found = _RESOURCE.fullmatch(job)
    if found is not None:
        job = found["id"]
        project, region = project or found["project"], region or found["region"]
    if project is None:
        raise UsageError("no project is named", advice="add --project PROJECT_ID")
    if not _PROJECT.fullmatch(project):
        raise UsageError(f"--project {project!r} is no project id", advice="`gcloud projects list` shows them")
    if region is not None and not _REGION.fullmatch(region):
        raise UsageError(
            f"--region {region!r} is no region", advice="write it like us-central1, without a zone's letter"
        )
    target = Target(id=job, project=project, region=region)
    if not _ID.fullmatch(job) or not target.services:
        raise UsageError(f"{job!r} is no job id of any service", advice="give the id, or the whole resource name")
    return target
