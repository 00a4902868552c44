"""What is fuzzed: each target takes bytes and raises only if a promise is broken. See `run.py` for the fuzzer itself.

A target does one step of the chain, so that thousands of executions fit into a minute; `diagnosed` does all of them.
"""

from __future__ import annotations

import csv
import io
import json
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import BinaryIO, cast
from xml.etree import ElementTree

sys.path.append(str(Path(__file__).parents[1] / "report"))

from fleet_samples import hostile_fleet, simulated_fleet
from hostile import hostile_report
from samples import ALL

from analyzer.entries import Options, assemble, merge, sift, sift_source
from analyzer.errors import DiagnoseError
from analyzer.formats import read_source
from analyzer.model import Entry, Instant, JobKey, Message, Note, Origin, Report, Timeline, Tool
from analyzer.pipeline import report_on
from analyzer.redact import redact
from analyzer.report import render
from analyzer.report.bundle import packet
from analyzer.report.fleet import render_fleet
from analyzer.report.json_report import load_report, render_json
from analyzer.rulebook import Matcher
from analyzer.rulebook.cache import load_rulebook
from analyzer.rulebook.load import parse_rule
from analyzer.rulebook.telling import telling
from analyzer.sources import Source, open_sources
from analyzer.stitch import stitch
from analyzer.timeline import reconstruct

FORMS = ("text", "html", "json", "markdown", "sarif", "junit", "github")
OBEYED = ("\x1b", "\x07", "\x00", "\u202e", "\u2066", "\u200b", "\x9b")
"""Characters that a screen would obey or hide: no form may hold one unescaped."""
SAID = [
    "Waiting for job to be provisioned.", "Waiting for training program to start.", "Job is running.", "Job failed.",
    "Job completed successfully.", "The replica workerpool0-1 exited with a non-zero status of 139(SIGSEGV).",
    "The replica workerpool0-0 ran out-of-memory and exited with a non-zero status of 137(SIGKILL).",
    "Running module trainer.task.", "Module completed; cleaning up.", "Clean up finished.", "step 40 loss 0.1",
    "Saving checkpoint to gs://b/ckpt-40", "Restoring parameters from gs://b/ckpt-40", "Killed", "step 4 loss 2.1",
    "CUDA out of memory. Tried to allocate 2.00 GiB.", "The job was cancelled.", "Task is being restarted.",
    "Internal error occurred for the current attempt.", "Instance was preempted.", "Signal 15 (SIGTERM) was caught.",
    "Resources are insufficient in region: us-central1.", "Retrying the job. Attempt 2 of 3.",
]  # fmt: skip
"""Lines that tell a timeline something; a byte stands for each in the input of `timeline`."""
_ORIGINS = (Origin.REPLICA, Origin.SERVICE, Origin.TEXT, Origin.NODE, Origin.CLUSTER, Origin.STATUS, Origin.AUDIT)
_PLATFORMS = ("vertex", "ai_platform", "gke", "batch", "slurm", "tpu", "")
_SHARES = 32


@cache
def rulebook() -> Matcher:
    """The bundled rules."""
    return load_rulebook()


@cache
def share_of_rules(number: int) -> Matcher:
    """Every thirty-second rule of the bundled ones, which together are all of them."""
    return Matcher(rulebook().rules[number % _SHARES :: _SHARES])


def _source(data: bytes) -> Source:
    return Source("fuzzed.log", lambda: cast(BinaryIO, io.BytesIO(data)))


def read(data: bytes) -> None:
    """Any bytes as a log: entries in an order, the same when read again, and no more than the bytes can hold."""
    notes: list[Note] = []
    entries = list(read_source(_source(data), notes))
    assert entries == list(read_source(_source(data), []))
    assert sorted(entries, key=lambda entry: entry.order) is not None
    assert len(entries) + len(notes) <= 4 * len(data) + 4


def diagnosed(data: bytes) -> None:
    """Any bytes as a log: a diagnosis whose evidence stands in the input, in every form."""
    notes: list[Note] = []
    known = "\n".join(entry.text for entry in read_source(_source(data), notes))
    report = report_on(sift_source(_source(data), [], telling(rulebook())), rulebook(), Options(), notes)
    for diagnosis in report.diagnoses:
        for item in diagnosis.root_cause.evidence if diagnosis.root_cause else ():
            for line in item.text.split("\n"):
                assert line in known or "[masked:" in line or "\ufffd" in line, line
    write(report)


def write(report: Report) -> None:
    """A report in every form, none of which holds what a screen would obey; its JSON gives the same report again."""
    for form in FORMS:
        harmless(form, render(report, form))
    again = load_report(render_json(report).encode())
    assert load_report(render_json(again).encode()) == again


def harmless(form: str, told: str) -> None:
    """Whether a form can be shown: nothing that a screen obeys, and it is what its name says."""
    assert not any(sign in told for sign in OBEYED), form
    if form in ("json", "sarif"):
        json.loads(told)
    elif form == "junit":
        ElementTree.fromstring(told)
    elif form == "html":
        found = _elements(told)
        assert set(found) <= known_elements(), set(found) - known_elements()
        assert found.count("script") <= 2
        assert found.count("style") <= 1
    elif form == "github":
        assert all(line.startswith(("::error", "::warning", "::notice")) for line in told.splitlines() if "::" in line[:3])


class _Elements(HTMLParser):
    """The names of a page's elements, in order; none may have an attribute that runs something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")], attrs
        followed = [value or "" for name, value in attrs if name in ("href", "src", "action", "xlink:href")]
        assert not [value for value in followed if value.strip().lower().startswith(("javascript:", "data:"))], attrs


def _elements(page: str) -> list[str]:
    parser = _Elements()
    parser.feed(page)
    parser.close()
    return parser.found


@cache
def known_elements() -> frozenset[str]:
    """The elements of pages without anything hostile: no text of a log may add one of another name."""
    jobs = [make() for make in ALL.values()]
    pages = [render(Report(tool=Tool(), diagnoses=shown), "html") for shown in (*([job] for job in jobs), jobs)]
    return frozenset(name for page in [*pages, render_fleet(simulated_fleet(40))] for name in _elements(page))


def written(data: bytes) -> None:
    """Any text in every place of a diagnosis that can hold text of a log, in one of all the forms."""
    if not data:
        return
    form, make = (*FORMS, "fleet", "packet")[data[0] % 9], list(ALL.values())[data[0] // 9 % len(ALL)]
    text = data[1:].decode("utf-8", "surrogatepass") if _decodes(data[1:]) else data[1:].decode("latin-1")
    if form == "fleet":
        harmless("html", render_fleet(hostile_fleet(text)))
    elif form == "packet":
        _opens(packet(hostile_report(make(), text), "de", "strict"))
    else:
        harmless(form, render(hostile_report(make(), text), form, lang="en" if data[0] < 128 else "de"))


def _opens(data: bytes) -> None:
    """A packet for support: whole, nothing obeyed in its texts, no cell that is a formula."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    for name, text in texts.items():
        assert not any(sign in text for sign in OBEYED), name
    cells = [cell for row in csv.reader(io.StringIO(texts["timeline.csv"], newline="")) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "\t", "\r"))]


def _spoken(data: bytes) -> list[Entry]:
    """Lines of several replicas: the first character of each says whose it is."""
    entries = []
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n")):
        replica = f"workerpool0-{ord(line[0]) % 3}" if line else None
        origin = Origin.SERVICE if line.startswith("!") else Origin.REPLICA
        entries.append(Entry(
            text=line, time=Instant(number * 10**9), origin=origin, replica=replica, insert_id=f"i{number:06}",
            job=JobKey("vertex", "p", "1"),
        ))  # fmt: skip
    return entries


def stitched(data: bytes) -> None:
    """Lines of several replicas: every entry is in a message, and the story of a part and of the rest is that of all."""
    entries = _spoken(data)
    told = {entry.insert_id for message in stitch(entries) for entry in message.entries}
    assert told == {entry.insert_id for entry in entries}
    middle = len(entries) // 2
    parted = merge(sift(entries[middle:]), sift(entries[:middle]))
    assert assemble(parted)[0] == assemble(sift(entries))[0]


def matched(data: bytes) -> None:
    """A share of the rules over any text: the prefilter leaves out no rule that matches."""
    rules = share_of_rules(data[0] if data else 0)
    origin = _ORIGINS[data[1] % len(_ORIGINS)] if len(data) > 1 else Origin.TEXT
    text = data[2:].decode("utf-8", "replace")
    whole = [Message(text=text, entries=(Entry(text=text, origin=origin),))]
    for message in [*whole, *stitch(_spoken(data[2:]))]:
        assert rules.find(message, "vertex") == rules.find_exhaustively(message, "vertex")


def timeline(data: bytes) -> None:
    """What services and replicas say in any order, at any time: a timeline whose runs and counts are sound."""
    platform = _PLATFORMS[data[0] % len(_PLATFORMS)] if data else ""
    entries = list(_happened(data[1:], JobKey(platform, "p", "1")))
    told = _timeline_of(entries)
    assert told == _timeline_of(entries[::-1])
    _is_sound(told)


def _happened(data: bytes, job: JobKey) -> Iterator[Entry]:
    """Three bytes a line: what, who, and how long after the one before."""
    now = 1_772_500_000 * 10**9
    for number in range(0, len(data) - 2, 3):
        what, who, later = data[number : number + 3]
        now += (later**3 - 1000) * 10**8
        origin = _ORIGINS[who // 4 % len(_ORIGINS)]
        fields = {"kind": "container", "exit_code": what % 150, "reason": "Error"} if who > 230 else {}
        yield Entry(
            text=SAID[what % len(SAID)], time=None if later == 255 else Instant(now), origin=origin, job=job,
            replica="service" if origin is Origin.SERVICE else f"workerpool0-{who % 3}", insert_id=f"{number:06}",
            node=f"vm-{what // 128}", fields=fields, attempt=who % 4 if who > 200 else None,
        )  # fmt: skip


def _timeline_of(entries: list[Entry]) -> Timeline:
    stories = assemble(sift(entries))[0]
    story = stories[0] if stories else None
    if story is None:
        return Timeline()
    messages = stitch(story.entries)
    return reconstruct(story, messages, rulebook().find_all(messages, story.key.platform), Options())


def _is_sound(told: Timeline) -> None:
    """Attempts are numbered, runs do not end before they begin, restarts add up."""
    assert [attempt.number for attempt in told.attempts] == list(range(1, len(told.attempts) + 1))
    assert told.restarts_total == told.restarts.total
    assert sum(told.restarts_by_replica.values()) <= told.restarts_total
    for attempt in told.attempts:
        for run in (run for lane in attempt.replicas for run in lane.runs):
            assert run.start is None or run.end is None or run.start <= run.end, run
    assert told.lost_seconds is None or told.lost_seconds >= 0


def archive(data: bytes) -> None:
    """Any bytes as a file: archives and compressed ones are opened in memory, and none is written anywhere."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fuzzed"
        file.write_bytes(data)
        notes: list[Note] = []
        for source in open_sources([str(file)], notes):
            with source.open() as stream:
                while stream.read(1 << 16):
                    pass
        assert [path.name for path in Path(folder).iterdir()] == ["fuzzed"]


def rule(data: bytes) -> None:
    """Any text as a rule file: it is loaded or refused with a place."""
    parse_rule(data.decode("utf-8", "replace"), "fuzzed.yaml")


def saved(data: bytes) -> None:
    """Any bytes as a saved diagnosis."""
    write(load_report(data))


def masked(data: bytes) -> None:
    """Masking twice is masking once, and keeps the number of lines outside what it masks."""
    text = data.decode("utf-8", "surrogatepass" if b"\xed" in data else "replace") if _decodes(data) else ""
    once = redact(text)
    assert redact(once) == once


def _decodes(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


TARGETS: dict[str, Callable[[bytes], None]] = {
    "read": read, "diagnosed": diagnosed, "stitched": stitched, "matched": matched, "timeline": timeline,
    "written": written, "archive": archive, "rule": rule, "saved": saved, "masked": masked,
}  # fmt: skip


def attempt(name: str, data: bytes) -> None:
    """Runs a target; the program's own errors are answers."""
    try:
        TARGETS[name](data)
    except DiagnoseError:
        return
