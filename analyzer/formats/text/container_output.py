"""Output of containers as kubectl, container runtimes and CI systems hand it on: with a transport prefix a line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from analyzer.formats.clock import rfc3339
from analyzer.formats.text.dialect import Said, share
from analyzer.model import JobKey, Origin

_STAMP = r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}(?:Z|[+-]\d\d:\d\d))"
_PREFIXED = re.compile(rf"^\[pod/(?P<pod>[^/\]]+)/(?P<container>[^\]/]+)\] ?(?:{_STAMP} )?(?P<text>.*)$")
_STAMPED = re.compile(rf"^{_STAMP} (?P<text>.*)$|^{_STAMP.replace('time', 'alone')}$")
_CRI = re.compile(
    rf"^{_STAMP.replace('{6,9}', '{1,9}')} (?P<stream>stdout|stderr) (?P<tag>[FP])(?::\S*)? ?(?P<text>.*)$"
)
_HOST = re.compile(r"^(?P<name>[a-z][a-z0-9.-]{0,60}[0-9]): ?(?P<text>.*)$")
_PDSH = re.compile(r"^pdsh@\S+: (?P<name>[\w.-]+): (?P<text>.*)$")
_MULTIPLEXED = re.compile(
    r"^(?:(?P<name>[A-Za-z][\w.-]*\d) *\|"
    r"|\((?P<round>(?i:worker|host|node)[ :_-]{1,2}\d{1,6})\)"
    r"|\[(?P<square>(?i:worker|host|node)[ :_-]{1,2}\d{1,6})\]:?)"
    r"(?: (?P<text>.*))?$"
)
_POD_LOG = re.compile(
    r"(?:^|/)(?P<pod>[a-z0-9][a-z0-9.-]*)_(?P<ns>[a-z0-9-]+)_(?P<container>[a-z0-9-]+)-[0-9a-f]{64}\.log"
)


def recognize_cri(head: Sequence[str], name: str) -> Cri | None:
    """The dialect of a container runtime's log file (CRI: time, stream, tag, text)."""
    return Cri(name) if share([_CRI.match(line) for line in head]) > 0.6 else None


def recognize_prefixed(head: Sequence[str], name: str) -> Prefixed | None:
    """The dialect of `kubectl logs --prefix`."""
    return Prefixed() if share([_PREFIXED.match(line) for line in head]) > 0.3 else None


def recognize_stamped(head: Sequence[str], name: str) -> Stamped | None:
    """The dialect of `kubectl logs --timestamps` and of CI systems: a time to the microsecond before every line."""
    return Stamped() if len(head) > 1 and share([_STAMPED.match(line) for line in head]) > 0.95 else None


def recognize_multiplexed(head: Sequence[str], name: str) -> Multiplexed | None:
    """The dialect of several containers or hosts in one console.

    `worker-0 | text` is Docker Compose's; `(worker 0) text` and `[worker 0] text` that of tools that call ssh on all
    hosts of a slice.
    """
    return Multiplexed() if len(head) > 1 and share([_MULTIPLEXED.match(line) for line in head]) > 0.7 else None


def recognize_hosts(head: Sequence[str], name: str) -> Hosts | None:
    """The dialect of several machines in one console (`node-07: text`), as pdsh and the launchers above it write it."""
    rows = [_HOST.match(line) for line in head]
    names = {row["name"] for row in rows if row}
    return Hosts() if len(names) > 1 and share(rows) > 0.7 else None


class Hosts:
    """Reads `HOST: text`, and what pdsh itself says of a host."""

    def read(self, line: str) -> Said | None:
        """What a line says; None for one without a host."""
        row = _HOST.match(line) or _PDSH.match(line)
        return None if row is None else Said(text=row["text"], replica=row["name"], node=row["name"])


class Multiplexed:
    """Reads `NAME | text`, `(NAME) text` and `[NAME] text`."""

    def read(self, line: str) -> Said | None:
        """What a line says; None for one without name."""
        row = _MULTIPLEXED.match(line)
        if row is None:
            return None
        return Said(text=row["text"] or "", replica=row["name"] or row["round"] or row["square"])


class Prefixed:
    """Reads `[pod/NAME/CONTAINER] text`."""

    def read(self, line: str) -> Said | None:
        """What a line says; None for one without prefix."""
        row = _PREFIXED.match(line)
        if row is None:
            return None
        return Said(
            text=row["text"],
            time=rfc3339(row["time"]) if row["time"] else None,
            origin=Origin.REPLICA,
            job=JobKey("gke", "", row["pod"]),
            replica=row["pod"],
            fields={"container": row["container"]},
        )


class Stamped:
    """Reads `TIME text`."""

    def read(self, line: str) -> Said | None:
        """What a line says; None for one without time."""
        row = _STAMPED.match(line)
        if row is None:
            return None
        return Said(text=row["text"] or "", time=rfc3339(row["time"] or row["alone"]))


class Cri:
    """Reads a runtime's log file. A line that it wrote in parts (tag P) is given part by part."""

    def __init__(self, name: str) -> None:
        place = _POD_LOG.search(name.replace("\\", "/"))
        self._pod = place["pod"] if place else None
        self._fields = {"container": place["container"]} if place else {}
        self._parts: list[str] = []

    def read(self, line: str) -> Said | None:
        """What a line says; None for one that is not of this form."""
        row = _CRI.match(line)
        if row is None:
            return None
        return Said(
            text=row["text"],
            time=rfc3339(row["time"]),
            severity="ERROR" if row["stream"] == "stderr" else "INFO",
            origin=Origin.REPLICA,
            job=JobKey("gke", "", self._pod) if self._pod else None,
            replica=self._pod,
            fields=self._fields,
        )
