"""Where else a job could find its accelerator: regions that list it, and what could stand in for it."""

from __future__ import annotations

from analyzer.facts.accelerators import accelerator, next_best, offers, training_regions
from analyzer.facts.machine_types import machines_with
from analyzer.judge.sentences import sentence
from analyzer.model import Job

MAX_REGIONS = 6


def capacity_steps(job: Job, region: str | None, lang: str) -> list[str]:
    """What a stockout's remedy can say of this job's accelerator; empty where the job does not name one.

    A region in the list only says that the request is accepted there, never that there is capacity.
    """
    count, _, name = (job.accelerator or "").rpartition(" × ")
    wanted = accelerator(name)
    if wanted is None or job.platform not in ("vertex", "ai_platform"):
        return []
    steps = []
    regions = training_regions(wanted.id, near=region or job.region)
    if regions:
        as_of = max(offer.as_of for offer in offers(wanted.id))
        values = {"accelerator": wanted.name, "regions": ", ".join(regions[:MAX_REGIONS]), "as_of": as_of}
        steps.append(sentence("capacity_regions", lang, values))
    for other in next_best(wanted.id)[:2]:
        hosts = machines_with(other.id, int(count) if count.isdecimal() else 1, "vertex")
        if hosts:
            steps.append(sentence("capacity_other", lang, {"accelerator": other.name, "machine": hosts[0].name}))
    return steps
