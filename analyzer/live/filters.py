"""Queries in the Logging query language that find everything about one job, each with its own time limits.

Language: https://cloud.google.com/logging/docs/view/logging-query-language. There OR binds closer than AND, so every
conjunction stands in parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from analyzer.formats.identity import CONTROLLER_LABELS
from analyzer.live.target import Service
from analyzer.model import SECOND, Instant

LONGEST = 20_000
"""Characters that a query may have."""
MACHINES = 100
"""How many machines are asked for at most, so that the query stays short enough."""
AROUND = 600 * SECOND
"""How far before and after a job's own lines its machines' lines are of interest (ns)."""

_MACHINE_WORDS = r"(?i)oom|out of memory|killed process|evict|preempt|shutdown|NVRM|\bXid\b|not ready|disk pressure"


class Query(msgspec.Struct, frozen=True):
    """What to find of a job: entries with one of these ids, of the services that may have given them.

    `uids` are those of Batch jobs, whose entries may name nothing else.
    """

    ids: tuple[str, ...]
    services: frozenset[Service]
    uids: tuple[str, ...] = ()

    def text(self, since: Instant, until: Instant | None = None) -> str:
        """The query for entries from a moment on, up to another one where that is given."""
        places = [part for job in self.ids for part in _places(job, self.services)]
        places += [f"labels.job_uid={quoted(uid)}" for uid in self.uids]
        return f"{_span(since, until)} AND ({' OR '.join(places)})"


def machines_filter(nodes: Sequence[str], since: Instant, until: Instant) -> str:
    """Finds what clusters and Compute Engine say of machines: node events, kernel and kubelet lines that matter."""
    names = nodes[:MACHINES]
    either = " OR ".join(quoted(name) for name in names)
    audited = quoted(f"/instances/({'|'.join(re.escape(name) for name in names)})$")
    words = quoted(_MACHINE_WORDS)
    places = [
        f'(resource.type="k8s_node" AND resource.labels.node_name=({either}) AND (log_id("events") OR '
        f"jsonPayload.MESSAGE=~{words} OR jsonPayload.message=~{words} OR textPayload=~{words}))",
        f'(log_id("cloudaudit.googleapis.com/system_event") AND protoPayload.resourceName=~{audited})',
    ]
    early, late = Instant(since - AROUND), Instant(until + AROUND)
    return f"{_span(early, late)} AND ({' OR '.join(places)})"


def quoted(text: str) -> str:
    """A text as the query language writes it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _span(since: Instant, until: Instant | None) -> str:
    begin = f"timestamp>={quoted(str(since))}"
    return begin if until is None else f"{begin} AND timestamp<{quoted(str(until))}"


def _places(job: str, services: frozenset[Service]) -> list[str]:
    name = quoted(job)
    places = []
    if services & {Service.VERTEX, Service.AI_PLATFORM}:
        places += [
            f'(resource.type=("ml_job" OR "cloudml_job") AND resource.labels.job_id={name})',
            f'labels."ml.googleapis.com/job_id"={name}',
        ]
    if Service.VERTEX in services:
        places += [
            f"resource.labels.pipeline_job_id={name}",
            f'(resource.type="aiplatform.googleapis.com/CustomJob" AND resource.labels.job_id={name})',
        ]
    if Service.GKE in services:
        places += _cluster_places(job)
    if Service.BATCH in services:
        places += [
            f'(resource.type="batch.googleapis.com/Job" AND resource.labels.job_id={name})',
            f"labels.task_group_name=~{quoted(f'/jobs/{re.escape(job)}/')}",
        ]
    ended = quoted(f"(?:[jJ]obs|[pP]ipelines|pods)/{re.escape(job)}$")
    places.append(f'(log_id("cloudaudit.googleapis.com/activity") AND protoPayload.resourceName=~{ended})')
    return places


def _cluster_places(job: str) -> list[str]:
    name = quoted(job)
    named = quoted(f"^{re.escape(job)}($|[-.])")
    labels = [f"labels.{quoted('k8s-pod/' + label.replace('.', '_'))}={name}" for label in CONTROLLER_LABELS]
    owners = " OR ".join(['labels."logging.gke.io/top_level_controller_name"=' + name, *labels])
    return [
        f'(resource.type="k8s_container" AND ({owners} OR resource.labels.pod_name=~{named}))',
        f'(log_id("events") AND jsonPayload.involvedObject.name=~{named})',
    ]
