"""What the input lacks, each with the command that would fetch it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzer.entries import Story
from analyzer.judge.sentences import sentence
from analyzer.model import Gap, Job, Origin
from analyzer.rulebook import Finding, Role


def gaps_of(story: Story, findings: Sequence[Finding], job: Job, lang: str) -> list[Gap]:
    """All gaps that can be seen, the most telling first."""
    return [
        *_no_replica_log(story, findings, job, lang),
        *_silent_replicas(story, job, lang),
        *_cut_start(story, findings, job, lang),
    ]


def fetch_command(job: Job, extra: str = "") -> str | None:
    """The command that fetches a job's whole log; None for platforms that keep none in Cloud Logging."""
    if job.platform not in ("vertex", "ai_platform", "gke", "batch"):
        return None
    named = f'resource.labels.job_id="{_safe(job.id)}"'
    kinds = {
        "vertex": f'resource.type="ml_job" AND {named}',
        "ai_platform": f'(resource.type="ml_job" OR resource.type="cloudml_job") AND {named}',
        "gke": f'resource.labels.pod_name:"{_safe(job.id)}"',
        "batch": f'labels.job_uid:"{_safe(job.id)}"',
    }
    since = str(job.created)[:10] if job.created else "START_DATE"
    project = _safe(job.project or "PROJECT")
    query = f'{kinds[job.platform]}{extra} AND timestamp>="{since}"'
    return f"gcloud logging read '{query}' --project={project} --order=asc --format=json > {_safe(job.id)}.json"


def _safe(text: str) -> str:
    """A name as it may stand in a shell command: anything that a shell or the query language reads is dropped."""
    return "".join(char for char in text if char.isascii() and (char.isalnum() or char in "-_./:"))


def _no_replica_log(story: Story, findings: Sequence[Finding], job: Job, lang: str) -> Iterator[Gap]:
    if any(entry.origin in (Origin.REPLICA, Origin.TEXT) for entry in story.entries):
        return
    failed = any(f.role is Role.VERDICT and f.event == "replica_failed" for f in findings)
    only_described = all(entry.origin is Origin.STATUS for entry in story.entries)
    if only_described:
        yield Gap(kind="no_log", text=sentence("gap_no_log", lang), command=fetch_command(job))
    elif failed:
        command = (
            f"gcloud projects add-iam-policy-binding {_safe(job.project or 'PROJECT')} "
            "--member=serviceAccount:SERVICE_ACCOUNT --role=roles/logging.logWriter"
        )
        yield Gap(kind="no_replica_log", text=sentence("gap_no_replica_log", lang), command=command)


def _silent_replicas(story: Story, job: Job, lang: str) -> Iterator[Gap]:
    speaking = {entry.replica for entry in story.entries if entry.origin is Origin.REPLICA}
    if not speaking:
        return
    silent = [name for name in job.replicas if name not in speaking]
    if silent:
        values = {"names": ", ".join(silent[:5]), "more": str(len(silent) - 5)}
        text = sentence("gap_silent_many" if len(silent) > 5 else "gap_silent", lang, values)
        yield Gap(kind="silent_replicas", text=text, command=fetch_command(job))


def _cut_start(story: Story, findings: Sequence[Finding], job: Job, lang: str) -> Iterator[Gap]:
    """An export of `gcloud logging read` without a time filter holds the last day only."""
    if job.platform not in ("vertex", "ai_platform") or not story.entries:
        return
    begun = any(f.event in ("job_queued", "attempt_begin") for f in findings)
    spoken = [e for e in story.entries if e.time is not None and e.origin in (Origin.REPLICA, Origin.SERVICE)]
    if begun or not spoken:
        return
    yield Gap(kind="cut_start", text=sentence("gap_cut_start", lang), command=fetch_command(job))
