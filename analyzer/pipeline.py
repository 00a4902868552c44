"""The program on one screen: bytes become entries, entries stories, stories diagnoses.

sources ─▶ formats ─▶ entries ─▶ sift ─▶ merge ─▶ assemble ─▶ stitch ─▶ match ─▶ timeline ─▶ judge ─▶ report
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analyzer import __version__
from analyzer.baseline import with_baseline
from analyzer.entries import Options, Partials, Room, Story, absorb, assemble, sift, sift_source
from analyzer.judge.judge import judge
from analyzer.judge.replicas import name_replicas
from analyzer.model import Diagnosis, Entry, Note, Report, Tool
from analyzer.model.order import in_order
from analyzer.redact import redact_all
from analyzer.rulebook import Matcher
from analyzer.rulebook.hearsay import mark_hearsay
from analyzer.rulebook.telling import telling
from analyzer.sources import open_sources
from analyzer.stitch import stitch
from analyzer.timeline import reconstruct, settled


def diagnose_paths(paths: Sequence[str], rulebook: Matcher, options: Options) -> Report:
    """Diagnoses every job found in files, folders, globs or standard input (or the one that `options` names)."""
    notes: list[Note] = []
    partials: Partials = {}
    tells, room = telling(rulebook), Room()
    for source in open_sources(paths, notes):
        absorb(partials, sift_source(source, notes, tells, room))
    return report_on(partials, rulebook, options, notes)


def diagnose_entries(entries: Iterable[Entry], rulebook: Matcher, options: Options) -> Report:
    """The same for entries that are already read. Nothing is left out: what the sifted way is checked against."""
    return report_on(sift(entries), rulebook, options, [])


def report_on(partials: Partials, rulebook: Matcher, options: Options, notes: Sequence[Note]) -> Report:
    """Puts the jobs together and diagnoses each."""
    stories, more = assemble(partials)
    options = with_baseline(options, stories)
    chosen = [story for story in stories if options.job_id is None or story.key.id == options.job_id]
    diagnoses = in_order(diagnose_story(story, rulebook, options) for story in chosen)
    tool = Tool(version=__version__, rulebook_version=rulebook.version)
    found = sorted({story.key.id for story in stories})
    told = redact_all([*notes, *more]) if options.redact else [*notes, *more]
    return Report(tool=tool, diagnoses=diagnoses, notes=sorted_notes(told), jobs_found=found)


def diagnose_story(story: Story, rulebook: Matcher, options: Options) -> Diagnosis:
    """The second half of the chain, for one job."""
    messages = stitch(story.entries)
    findings = rulebook.find_all(messages, story.key.platform)
    findings += rulebook.find_in_job(findings, story.key.platform)
    findings = mark_hearsay(name_replicas(findings, story), messages, story.key.platform)
    timeline = reconstruct(story, messages, findings, options)
    diagnosis = judge(story, messages, findings, timeline, options)
    diagnosis.timeline = settled(diagnosis, story, messages, findings, options)
    return redact_all(diagnosis) if options.redact else diagnosis


def sorted_notes(notes: Iterable[Note]) -> list[Note]:
    """Each note once, in a fixed order."""
    return sorted(set(notes), key=lambda n: (n.source or "", n.line or 0, n.kind, n.text, n.count))
