"""Tables of Kubernetes events: of `kubectl get events`, and at the end of `kubectl describe`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from analyzer.formats.clock import any_instant
from analyzer.formats.kubernetes_event import JOB_KINDS
from analyzer.formats.part import Part, known
from analyzer.formats.text.table import Table, age_seconds, header_names, repetitions
from analyzer.model import JobKey, Origin
from analyzer.model.numbers import number

_COLUMNS = (
    "NAMESPACE", "LAST SEEN", "FIRST SEEN", "TYPE", "REASON", "OBJECT", "SUBOBJECT", "SOURCE", "MESSAGE", "COUNT",
    "NAME", "KIND", "LASTSEEN", "FIRSTSEEN",
)  # fmt: skip
_HEADER = re.compile(r"^(?:NAMESPACE\s+)?(?:LAST ?SEEN|FIRST ?SEEN)\s.*\bTYPE\b.*\bREASON\b")
_DESCRIBED = ("Type", "Reason", "Age", "From", "Message", "FirstSeen", "LastSeen", "Count", "SubObjectPath")
_KINDS = {kind.lower(): kind for kind in (*JOB_KINDS, "Pod", "Node")}


def is_event_header(line: str) -> bool:
    """Whether a line is the header of a table of `kubectl get events`."""
    return _HEADER.match(line) is not None


def event_rows(lines: Sequence[str], first: int) -> Iterator[Part]:
    """The events of a table whose header is the first of these lines, the oldest first; `first` is its line number."""
    table = Table(lines[0], header_names(lines[0], _COLUMNS))
    rows = ((place, table.row(line)) for place, line in enumerate(lines[1:], first + 1))
    yield from _oldest_first([_event(row, place) for place, row in rows if row is not None])


def _oldest_first(events: list[Part]) -> list[Part]:
    """Events in the order of their ages, which say what came first but not when: nobody knows when they were printed.

    Equal ages, which kubectl rounds, keep the table's order, and so does all where an age is missing.
    """
    if any("age_seconds" not in event.fields for event in events):
        return events
    return sorted(events, key=lambda event: -int(event.fields["age_seconds"]))


def described_events(
    lines: Sequence[str], first: int, about: tuple[str, str] | None, namespace: str | None
) -> Iterator[Part]:
    """The events below `Events:`, the oldest first; `about` is kind and name of the described object."""
    table: Table | None = None
    events: list[Part] = []
    for place, line in enumerate(lines, first):
        if table is None:
            names = header_names(line, _DESCRIBED)
            table = Table(line, names) if "Reason" in names and "Message" in names else None
            continue
        if set(line.strip()) <= set("- "):
            continue
        row = table.row(line)
        if row is not None and row.get("Type") in ("Normal", "Warning"):
            events.append(_described(row, place, about, namespace))
    yield from _oldest_first(events)


def _described(row: dict[str, str], place: int, about: tuple[str, str] | None, namespace: str | None) -> Part:
    age = row.get("Age") or row.get("LastSeen") or ""
    count, first_age = repetitions(age)
    kind, name = about or ("", "")
    return _part(
        row["Message"], kind, name, place, row.get("Type", ""),
        known(
            kind="event", reason=row.get("Reason"), type=row.get("Type"), involved_kind=kind, involved_name=name,
            pod=name if kind == "Pod" else None, namespace=namespace, component=row.get("From"),
            count=count or number(row.get("Count")), age_seconds=age_seconds(age),
            first_age_seconds=first_age or age_seconds(row.get("FirstSeen", "")),
        ),
    )  # fmt: skip


def _event(row: dict[str, str], place: int) -> Part:
    short, _, name = (row.get("OBJECT") or f"{row.get('KIND', '')}/{row.get('NAME', '')}").partition("/")
    kind = _KINDS.get(short.split(".", 1)[0].lower(), short)
    seen = row.get("LAST SEEN") or row.get("LASTSEEN") or ""
    count, first_age = repetitions(seen)
    part = _part(
        row.get("MESSAGE") or row.get("REASON", ""), kind, name, place, row.get("TYPE", ""),
        known(
            kind="event", reason=row.get("REASON"), type=row.get("TYPE"), involved_kind=kind, involved_name=name,
            pod=name if kind == "Pod" else None, namespace=row.get("NAMESPACE"), component=row.get("SOURCE"),
            count=count or number(row.get("COUNT")), age_seconds=age_seconds(seen),
            first_age_seconds=first_age or age_seconds(row.get("FIRST SEEN", "")),
        ),
        seen,
    )  # fmt: skip
    return part


def _part(
    text: str, kind: str, name: str, place: int, event_type: str, fields: dict[str, object], seen: str = ""
) -> Part:
    owns = kind == "Pod" or kind in JOB_KINDS
    return Part(
        text=text,
        fields=fields,
        job=JobKey("gke", "", name) if owns and name else None,
        replica=name if kind == "Pod" and name else None,
        node=name if kind == "Node" and name else None,
        severity="WARNING" if event_type == "Warning" else "INFO",
        time=any_instant(seen),
        line=place,
        origin=Origin.CLUSTER,
    )
