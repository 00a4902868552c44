"""Cloud Audit Logs: who did what to which resource, and what the platform did to a machine."""

from __future__ import annotations

import re
from typing import Any

from analyzer.expressions import expression
from analyzer.formats.identity import Identity
from analyzer.formats.part import Part, known
from analyzer.formats.shape import as_dict
from analyzer.model import JobKey

_VERTEX_JOB = expression(r"/(?:customJobs|hyperparameterTuningJobs|pipelineJobs|trainingPipelines)/([^/:]+)")
_AI_PLATFORM_JOB = expression(r"^projects/[^/]+/jobs/([^/:]+)")
_BATCH_JOB = expression(r"/locations/[^/]+/jobs/([^/:]+)")
_CLOUD_RUN_JOB = expression(r"^(?:namespaces|projects)/[^/]+/(?:locations/[^/]+/jobs/[^/]+/)?executions/([^/:]+)")
_INSTANCE = expression(r"/instances/([^/:]+)$")
_POD = expression(r"(?:^|/)namespaces/([^/]+)/pods/([^/:]+)")
_NODE = expression(r"(?:^|/)nodes/([^/:]+)")
_NAMESPACE = expression(r"(?:^|/)namespaces/([^/:]+)$")
_WORKLOAD = expression(
    r"(?:^|/)namespaces/([^/]+)/((?:\w*jobs|jobsets|workloads|rayclusters|leaderworkersets|provisioningrequests))/([^/:]+)"
)
_CLUSTER = expression(r"/clusters/([^/:]+)")
_NODE_POOL = expression(r"/clusters/[^/:]+/nodePools/([^/:]+)")


def audit_entry(payload: Any, identity: Identity) -> Part:
    """The part that an AuditLog makes. Raises ValueError for what is none."""
    if not isinstance(payload, dict) or not (payload.get("methodName") or payload.get("method_name")):
        raise ValueError("an audit entry names a method")
    resource = str(payload.get("resourceName") or payload.get("resource_name") or "")
    status = as_dict(payload.get("status"))
    method = str(payload.get("methodName") or payload.get("method_name"))
    who = as_dict(payload.get("authenticationInfo") or payload.get("authentication_info"))
    pod, workload = _POD.search(resource), _WORKLOAD.search(resource)
    message = status.get("message")
    fields = known(
        kind="audit",
        method=method,
        principal=who.get("principalEmail") or who.get("principal_email"),
        resource=resource,
        code=status.get("code"),
        service=payload.get("serviceName") or payload.get("service_name"),
        pod=pod[2] if pod else None,
        namespace=pod[1] if pod else workload[1] if workload else _found(_NAMESPACE, resource),
        involved_name=workload[3] if workload else None,
        cluster=_found(_CLUSTER, resource),
        node_pool=_found(_NODE_POOL, resource),
    )
    return Part(
        text=message if isinstance(message, str) and message else method,
        fields=fields,
        job=_job(resource, method, str(payload.get("serviceName") or ""), str(identity.fields.get("project") or "")),
        node=_found(_INSTANCE, resource) or _found(_NODE, resource),
    )


def _job(resource: str, method: str, service: str, project: str) -> JobKey | None:
    if service.startswith("aiplatform") or "aiplatform" in method:
        platform, job_id = "vertex", _found(_VERTEX_JOB, resource)
    elif service.startswith("ml."):
        platform, job_id = "ai_platform", _found(_AI_PLATFORM_JOB, resource)
    elif service.startswith("batch."):
        platform, job_id = "batch", _found(_BATCH_JOB, resource)
    elif service.startswith("run."):
        platform, job_id = "local", _found(_CLOUD_RUN_JOB, resource)
    else:
        return None
    return JobKey(platform, project, job_id) if job_id else None


def _found(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return found[1] if found else None
