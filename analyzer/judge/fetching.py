"""Commands that fetch what the input lacks, out of Cloud Logging or, where no project is known, out of the cluster."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from analyzer.entries import Story
from analyzer.facts.tables import table_rows
from analyzer.model import SECOND, Instant, Job

RETENTION = 30 * 86_400 * SECOND
"""How long Cloud Logging keeps entries unless a bucket is set otherwise (ns); https://cloud.google.com/logging/quotas."""


class Pods(msgspec.Struct, frozen=True):
    """Where a job's pods are: their namespace, and the controller's kind; "" where that is not told."""

    namespace: str = ""
    kind: str = ""


def pods_of(story: Story) -> Pods:
    """What the entries tell of where the pods are."""
    fields = [entry.fields for entry in story.entries if entry.fields]
    namespace = next((str(f["namespace"]) for f in fields if f.get("namespace")), "")
    owners = (f.get("involved_kind") if f.get("kind") == "job" else f.get("owner_kind") for f in fields)
    return Pods(namespace, next((str(kind) for kind in owners if kind), ""))


def fetch_command(
    job: Job, pods: Pods, *, since: Instant | None = None, until: Instant | None = None, names: Sequence[str] = ()
) -> str | None:
    """The command that fetches a job's log, from and to a time; None for platforms that keep none.

    Without `since` it is the whole log, from the job's creation on. `names` are the pods that are meant; left out, all.
    """
    if job.platform == "gke" and not job.project:
        return _kubectl_logs(job, pods, since, names)
    if job.platform not in ("vertex", "ai_platform", "gke", "batch"):
        return None
    named = f'resource.labels.job_id="{safe(job.id)}"'
    pipeline = f'resource.labels.pipeline_job_id="{safe(job.id)}"'  # of Vertex AI's jobs only pipelines have names
    kinds = {
        "vertex": f'resource.type="ml_job" AND {named}' if job.id.isdecimal() else pipeline,
        "ai_platform": f'resource.type=("ml_job" OR "cloudml_job") AND {named}',
        "gke": f'resource.labels.pod_name:"{safe(job.id)}"',
        "batch": f'(labels.job_uid:"{safe(job.id)}" OR labels.task_group_name:"/jobs/{safe(job.id)}/")',
    }
    begin = str(since) if since is not None else str(job.created)[:10] if job.created is not None else "START_DATE"
    span = f' AND timestamp>="{begin}"' + (f' AND timestamp<="{until}"' if until is not None else "")
    return gcloud_read(job, f"{kinds[job.platform]}{span}", f"{safe(job.id)}.json")


def previous_command(job: Job, pods: Pods, pod: str, container: str, ended: Instant) -> str:
    """The command that fetches what a container said before it ended and was started again."""
    if job.project:
        query = f'resource.type="k8s_container" AND resource.labels.pod_name="{safe(pod)}"'
        query += f' AND resource.labels.container_name="{safe(container)}"' if container else ""
        query += f' AND timestamp>="{Instant(ended - 86_400 * SECOND)}" AND timestamp<="{Instant(ended + 60 * SECOND)}"'
        return gcloud_read(job, query, f"{safe(pod)}-previous.json")
    which = f" --container={safe(container)}" if container else ""
    return f"kubectl logs {safe(pod)}{which}{_namespace(pods)} --previous --timestamps > {safe(pod)}-previous.log"


def events_command(job: Job, pods: Pods) -> str:
    """The command that shows what the cluster said of a job's objects."""
    return f"kubectl get events{_namespace(pods)} --field-selector=involvedObject.name={safe(job.id)}"


def parts_command(job: Job, uid: str, near: Instant | None) -> str | None:
    """The command that fetches all parts of an entry that Cloud Logging split; None where it keeps no log."""
    if job.platform in ("local", "slurm") and not job.project:
        return None
    begin = Instant(near - 60 * SECOND) if near is not None else "START_DATE"
    return gcloud_read(job, f'split.uid="{safe(uid)}" AND timestamp>="{begin}"', f"{safe(job.id)}-split.json")


def gcloud_read(job: Job, query: str, file: str) -> str:
    """`gcloud logging read` of a query, oldest first, into a file. A query without a timestamp would give one day."""
    project = safe(job.project or "PROJECT")
    return f"gcloud logging read '{query}' --project={project} --order=asc --format=json > {file}"


def safe(text: str) -> str:
    """A name as it may stand in a shell command: anything that a shell or the query language reads is dropped."""
    return "".join(char for char in text if char.isascii() and (char.isalnum() or char in "-_./:+"))


def _kubectl_logs(job: Job, pods: Pods, since: Instant | None, names: Sequence[str]) -> str:
    begin = f" --since-time={since}" if since is not None else ""
    options = f"{_namespace(pods)} --all-containers --timestamps{begin}"
    if len(names) == 1:
        return f"kubectl logs {safe(names[0])}{options} > {safe(names[0])}.log"
    if pods.kind == "Pod" or not pods.kind:
        return f"kubectl logs {safe(job.id)}{options} > {safe(job.id)}.log"
    labels = {row["kind"]: row["pod_label"] for row in table_rows("controllers")}
    label = labels.get(pods.kind, labels["Job"])
    return f"kubectl logs --selector={label}={safe(job.id)}{options} --prefix --tail=-1 > {safe(job.id)}.log"


def _namespace(pods: Pods) -> str:
    return f" --namespace={safe(pods.namespace)}" if pods.namespace else ""
