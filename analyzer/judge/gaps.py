"""What the input lacks, each with the command that would fetch it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from analyzer.entries import Story
from analyzer.entries.sift import severities, time_span
from analyzer.facts.log_losses import ENTRY_LIMIT, ENTRY_MOST, loss_in
from analyzer.judge.fetching import (
    RETENTION,
    Pods,
    events_command,
    fetch_command,
    parts_command,
    pods_of,
    previous_command,
    safe,
)
from analyzer.judge.sentences import sentence
from analyzer.judge.silence import holes_in
from analyzer.model import SECOND, Entry, Gap, Instant, Job, Origin, Timeline
from analyzer.rulebook import Finding, Role
from analyzer.timeline.sentences import duration

CUT_END = 600 * SECOND
"""A log that ends so long (ns) before its job does is not all of it; services say their last word within minutes."""
_SKEW = 5 * SECOND
_MOST_NAMES = 5
_OUTPUT = frozenset((Origin.REPLICA, Origin.TEXT))
_LAST_WORDS = frozenset(("job_succeeded", "job_failed", "job_cancelled"))
_BEGINS = frozenset(("job_queued", "attempt_begin"))
_NEVER_STARTED = frozenset(("StartError", "ContainerCannotRun", "RunContainerError", "CreateContainerError"))
"""What kubelet and container runtime call the end of a container whose program never ran, so that it has no log."""
_SEVERE = ("WARNING", "ERROR", "CRITICAL", "ALERT", "EMERGENCY")
_SOME = 3  # lines at least that show what severities are there; fewer are a quotation
_RAN = frozenset(("SUCCEEDED", "COMPLETE", "COMPLETED", "RUNNING", "ACTIVE"))


def gaps_of(story: Story, findings: Sequence[Finding], timeline: Timeline, job: Job, lang: str) -> list[Gap]:
    """All gaps that can be seen, the most telling first."""
    known = _Known(story, findings, timeline, job, pods_of(story), lang)
    return [
        *_no_replica_log(known),
        *_previous_logs(known),
        *_cut_end(known),
        *_holes(known),
        *_torn_entries(known),
        *_losses(known),
        *_silent_replicas(known),
        *_cut_start(known),
    ]


class _Known(msgspec.Struct, frozen=True):
    """All that gaps are seen by."""

    story: Story
    findings: Sequence[Finding]
    timeline: Timeline
    job: Job
    pods: Pods
    lang: str

    def say(self, name: str, **values: str) -> str:
        return sentence(name, self.lang, values)

    def fetch(
        self, since: Instant | None = None, until: Instant | None = None, names: Sequence[str] = ()
    ) -> str | None:
        """The command that fetches the job's log, left open from its creation or the day that the input begins."""
        if since is None and self.job.created is None and self.job.project:
            first = time_span(self.story.entries)[0]
            since = None if first is None else _day(first)
        return fetch_command(self.job, self.pods, since=since, until=until, names=names)

    def span(self, start: Instant, end: Instant) -> dict[str, str]:
        return {"start": _second(start), "end": _second(end), "length": duration(end - start)}


def _second(moment: Instant) -> str:
    return str(Instant(moment - moment % SECOND))


def _day(moment: Instant) -> Instant:
    return Instant(moment - moment % (86_400 * SECOND))


def _no_replica_log(known: _Known) -> Iterator[Gap]:
    entries = known.story.entries
    if any(entry.origin in _OUTPUT for entry in entries):
        return
    failed = any(f.role is Role.VERDICT and f.event == "replica_failed" for f in known.findings)
    if all(entry.origin is Origin.STATUS for entry in entries):
        if known.job.platform == "gke" and not any(map(_has_run, entries)):
            yield Gap(kind="no_log", text=known.say("gap_no_events"), command=events_command(known.job, known.pods))
        else:
            yield Gap(kind="no_log", text=known.say("gap_no_log"), command=known.fetch())
    elif failed:
        command = (
            f"gcloud projects add-iam-policy-binding {safe(known.job.project or 'PROJECT')} "
            "--member=serviceAccount:SERVICE_ACCOUNT --role=roles/logging.logWriter"
        )
        yield Gap(kind="no_replica_log", text=known.say("gap_no_replica_log"), command=command)


def _has_run(entry: Entry) -> bool:
    """Whether a description tells of a container that ran."""
    fields = entry.fields
    if fields.get("kind") == "container":
        return fields.get("state") in ("running", "terminated") or "exit_code" in fields
    if fields.get("kind") == "pod":
        return fields.get("phase") in ("Running", "Succeeded", "Failed", "Completed")
    counted = fields.get("failed") or fields.get("succeeded") or fields.get("active")
    return bool(counted) or str(fields.get("state")).upper() in _RAN


def _previous_logs(known: _Known) -> Iterator[Gap]:
    """Containers that ran, ended and were started again, of whose earlier life no line is there."""
    seen = set()
    for entry in known.story.entries:
        fields = entry.fields
        ended = Instant.parse(fields.get("finished"))
        ran = fields.get("kind") == "container" and not fields.get("init") and fields.get("started")
        if not ran or not fields.get("last_state") or ended is None or fields.get("reason") in _NEVER_STARTED:
            continue
        pod, container = entry.replica or known.job.id, str(fields.get("container") or "")
        if (pod, container) in seen or _said_something(known.story, pod, container, ended):
            continue
        seen.add((pod, container))
        code = fields.get("exit_code")
        text = known.say("gap_previous_log", container=container, pod=pod, end=_second(ended), code=str(code or 0))
        command = previous_command(known.job, known.pods, pod, container, ended)
        yield Gap(kind="previous_log", text=text, command=command)


def _said_something(story: Story, pod: str, container: str, until: Instant) -> bool:
    """Whether the input may hold a line of a container up to a time; lines without time or name may be of it."""
    return any(
        entry.origin in _OUTPUT
        and (entry.replica == pod or entry.replica is None)
        and entry.fields.get("container") in (container, None)
        and (entry.time is None or entry.time <= until + _SKEW)
        for entry in story.entries
    )


def _cut_end(known: _Known) -> Iterator[Gap]:
    """A job that by its description ended long after the last line of its log, which does not tell of that end."""
    described = (e.fields for e in known.story.entries if e.fields.get("kind") in ("job", "container"))
    ends = [end for f in described if not f.get("last_state") and (end := Instant.parse(f.get("finished"))) is not None]
    log = [e for e in known.story.entries if e.origin is not Origin.STATUS and not e.fields.get("kind")]
    last = time_span(log)[1]
    told = any(f.event in _LAST_WORDS and f.message.origin is not Origin.STATUS for f in known.findings)
    if not ends or last is None or told:
        return
    end = max(ends)
    if end - last >= CUT_END:
        text = known.say("gap_cut_end", **known.span(last, end))
        yield Gap(kind="cut_end", text=text, command=known.fetch(since=last))


def _holes(known: _Known) -> Iterator[Gap]:
    for hole in holes_in(known.story, known.findings, known.timeline):
        values = known.span(hole.start, hole.end)
        if hole.counted is None:
            text = known.say("gap_hole", **values)
        else:
            text = known.say("gap_hole_counted", **values, before=str(hole.counted[0]), after=str(hole.counted[1]))
        yield Gap(kind="hole", text=text, command=known.fetch(since=hole.start, until=hole.end))


def _torn_entries(known: _Known) -> Iterator[Gap]:
    """Entries that Cloud Logging split and of which parts are missing."""
    parts: dict[str, int] = {}
    torn: dict[str, Entry] = {}
    for entry in known.story.entries:
        uid = entry.fields.get("split_uid")
        if uid:
            parts[uid] = parts.get(uid, 0) + int(entry.fields["split_parts"])
            torn.setdefault(uid, entry)
    lacking = [entry for uid, entry in torn.items() if parts[uid] < int(entry.fields["split_total"])]
    if lacking:
        first = lacking[0]
        values = {
            "count": str(len(lacking)), "parts": str(first.fields["split_parts"]), "who": first.replica or known.job.id,
            "total": str(first.fields["split_total"]), "time": _second(first.time) if first.time is not None else "?",
        }  # fmt: skip
        text = known.say("gap_torn" if len(lacking) == 1 else "gap_torn_many", **values)
        command = parts_command(known.job, str(first.fields["split_uid"]), first.time)
        yield Gap(kind="torn_entry", text=text, command=command)


def _losses(known: _Known) -> Iterator[Gap]:
    """Lines that say that others are missing, and entries that are as large as one may be; each kind once."""
    told: dict[str, Entry] = {}
    for entry in known.story.entries:
        loss = None if entry.fields.get("kind") else loss_in(entry.text)
        kind = loss.kind if loss is not None else "full" if _is_full(entry) else None
        if kind is not None:
            told.setdefault(kind, entry)
    for kind, entry in sorted(told.items()):
        place = entry.replica or entry.node or entry.source or known.job.id
        time = f" ({_second(entry.time)})" if entry.time is not None and entry.time_stated else ""
        text = known.say(f"gap_lost_{kind}", who=place, time=time)
        yield Gap(kind=f"lost_{kind}", text=text, command=_recover(known, kind))


def _recover(known: _Known, kind: str) -> str | None:
    """The command that gives what was lost where a line says so; what was thrown away cannot be had."""
    return known.fetch() if kind == "unread" else None


def _is_full(entry: Entry) -> bool:
    if not entry.insert_id or len(entry.text) * 4 < ENTRY_LIMIT or "split_uid" in entry.fields:
        return False
    return ENTRY_LIMIT <= len(entry.text.encode()) <= ENTRY_MOST


def _silent_replicas(known: _Known) -> Iterator[Gap]:
    speaking = {entry.replica for entry in known.story.entries if entry.origin is Origin.REPLICA}
    if not speaking:
        return
    silent = [name for name in known.job.replicas if name not in speaking and name != known.job.id]
    if silent:
        values = {"names": ", ".join(silent[:_MOST_NAMES]), "more": str(len(silent) - _MOST_NAMES)}
        text = known.say("gap_silent_many" if len(silent) > _MOST_NAMES else "gap_silent", **values)
        yield Gap(kind="silent_replicas", text=text, command=known.fetch(names=silent))


def _cut_start(known: _Known) -> Iterator[Gap]:
    """What an export lacks that began too late, or that a filter of severities thinned.

    `gcloud logging read` without a time filter gives the last day only. The training services tell at INFO how a job is
    queued, starts and ends, so that a log without any such line is not all of it.
    """
    trains = known.job.platform == "ai_platform" or (known.job.platform == "vertex" and known.job.id.isdecimal())
    if not trains or any(f.event in _BEGINS for f in known.findings):
        return
    spoken = [e for e in known.story.entries if e.time is not None and e.origin in (Origin.REPLICA, Origin.SERVICE)]
    if not spoken:
        return
    first = spoken[0].time
    since = None if known.job.created is not None or first is None else _day(Instant(first - RETENTION))
    found = {severity for severity, _ in severities(e for e in spoken if e.insert_id)}
    if len(spoken) >= _SOME and found and found <= set(_SEVERE):
        lowest = min(found, key=_SEVERE.index)
        yield Gap(kind="filtered", text=known.say("gap_filtered", severity=lowest), command=known.fetch(since=since))
        return
    name = "gap_cut_start" if any(e.origin is Origin.SERVICE for e in spoken) else "gap_no_service_log"
    yield Gap(kind=name.removeprefix("gap_"), text=known.say(name), command=known.fetch(since=since))
