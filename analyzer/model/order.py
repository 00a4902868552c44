"""The order in which jobs and findings are told."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.model.diagnosis import Diagnosis


def in_order(diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    """Failed jobs first, then the rest, each by when the job began (unknown last); ties by platform, project and id."""
    return sorted(diagnoses, key=_place)


def _place(diagnosis: Diagnosis) -> tuple[bool, bool, int, str, str, str]:
    job = diagnosis.job
    began = job.created or job.started or diagnosis.stats.first
    return (diagnosis.outcome != "failed", began is None, int(began or 0), job.platform, job.project or "", job.id)
