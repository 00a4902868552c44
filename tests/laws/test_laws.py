"""The laws that hold for every input: over the whole casebook."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest
from cases import CASES, diagnose, entries_of, expected, report_of, rulebook

from analyzer.entries import Options, Partials, merge, sift
from analyzer.entries.sift import Partial
from analyzer.judge.weigh import VERDICT_LAG
from analyzer.model import Diagnosis, Entry, JobKey, Origin, Report
from analyzer.pipeline import report_on
from analyzer.report.json_report import to_builtins
from analyzer.rulebook.telling import telling

every_case = pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
HARMLESS = ("prefetch queue is full", "cache warmed up", "using 8 workers", "tokens per second: 1,024")


def answer(report: Report) -> list[dict[str, object]]:
    """What a reader sees of a report; without the counts of what was read."""
    return [{key: value for key, value in to_builtins(d).items() if key != "stats"} for d in report.diagnoses]


def verdicts(report: Report) -> list[tuple[object, ...]]:
    """The verdicts alone."""
    return [(d.job.id, d.outcome, d.category, d.cause, d.root_cause and d.root_cause.rule) for d in report.diagnoses]


@every_case
def test_sift_what_is_kept_gives_the_same_diagnosis(case: Path) -> None:
    """Diagnosing what sift kept equals diagnosing everything."""
    kept = sift(entries_of(case), telling(rulebook()))
    assert answer(report_on(kept, rulebook(), Options(), [])) == answer(report_of(case))


@every_case
def test_merge_any_partition_in_any_order_gives_the_same_diagnosis(case: Path) -> None:
    """Parts of the input, cut anywhere, shuffled and merged in any order, are the same job."""
    entries = list(entries_of(case))
    random.Random(case.name).shuffle(entries)
    third = len(entries) // 3
    parts = [sift(entries[:third]), sift(entries[third : 2 * third]), sift(entries[2 * third :])]
    together: Partials = merge(parts[2], merge(parts[0], parts[1]))
    assert answer(diagnose(_all(together))) == answer(report_of(case))


@every_case
def test_noise_doubled_entries_change_nothing(case: Path) -> None:
    """The same entries twice are the same job."""
    assert answer(diagnose([*entries_of(case), *entries_of(case)])) == answer(report_of(case))


@every_case
def test_noise_another_job_changes_nothing(case: Path) -> None:
    """Entries of another job in the same export leave every verdict as it was."""
    report = report_of(case)
    if any(entry.job is None for entry in entries_of(case)):
        return  # what names no job joins the only one: with a second job that is another question
    stranger = Entry(
        text="Traceback (most recent call last):", job=JobKey("vertex", "elsewhere", "999"), insert_id="zz"
    )
    others = [v for v in verdicts(diagnose([*entries_of(case), stranger])) if v[0] != "999"]
    assert others == verdicts(report)


@every_case
def test_noise_harmless_chatter_before_the_end_changes_no_verdict(case: Path) -> None:
    """Lines that say nothing, put among the job's own, change no verdict."""
    entries = entries_of(case)
    spoken = [entry for entry in entries if entry.origin is Origin.REPLICA and entry.insert_id and entry.time]
    chatter = [
        msgspec.structs.replace(entry, text=HARMLESS[n % 4], insert_id=f"chatter-{n}", severity="INFO")
        for n, entry in enumerate(_well_begun(spoken)[: len(spoken) // 2 : 5])
    ]
    assert verdicts(diagnose([*entries, *chatter])) == verdicts(report_of(case))


@every_case
def test_honesty_every_evidence_line_stands_in_the_input(case: Path) -> None:
    """Evidence is verbatim: each of its lines is found by a plain search, masked secrets aside."""
    known = "\n".join(entry.text for entry in entries_of(case))
    for diagnosis in report_of(case).diagnoses:
        for text in evidence_texts(diagnosis):
            for line in text.split("\n"):
                assert line in known or "[masked:" in line


@every_case
def test_order_of_cause_a_root_does_not_come_after_what_it_explains(case: Path) -> None:
    """A cause stands before its symptoms, clock skew and the service's lag allowed for."""
    for diagnosis in report_of(case).diagnoses:
        root = diagnosis.root_cause
        if root is None or root.time is None:
            continue
        for symptom in diagnosis.symptoms:
            if symptom.explained_by == root.rule and symptom.time is not None and symptom.evidence.time is not None:
                assert root.time <= symptom.time.plus(VERDICT_LAG) or symptom.rule.startswith("cascade")


SUCCESSES = [case for case in CASES if expected(case)["category"] == "success"]


@pytest.mark.parametrize("case", SUCCESSES, ids=lambda path: path.name)
def test_no_success_is_called_a_failure(case: Path) -> None:
    """A job that succeeded is never reported as failed, however loud its log is."""
    assert report_of(case).diagnoses[0].outcome != "failed"


def evidence_texts(diagnosis: Diagnosis) -> list[str]:
    """All quoted texts of a diagnosis."""
    quoted = list(diagnosis.root_cause.evidence) if diagnosis.root_cause else []
    quoted += [symptom.evidence for symptom in diagnosis.symptoms]
    quoted += [alternative.evidence for alternative in diagnosis.alternatives if alternative.evidence]
    return [item.text for item in quoted + diagnosis.context.before + diagnosis.context.after]


def _well_begun(entries: list[Entry]) -> list[Entry]:
    """Without the first entries of each replica: what stands there is how a container begins, and no chatter."""
    counts: dict[str | None, int] = {}
    kept = []
    for entry in sorted(entries, key=lambda e: e.order):
        counts[entry.replica] = counts.get(entry.replica, 0) + 1
        if counts[entry.replica] > 4:
            kept.append(entry)
    return kept


def _all(partials: dict[JobKey | None, Partial]) -> list[Entry]:
    return [entry for partial in partials.values() for entry in partial.entries.values()]
