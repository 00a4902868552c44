"""What is fuzzed: each target takes bytes and raises only if a promise is broken. See `run.py` for the fuzzer itself."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, cast

from analyzer.entries import Options, merge, sift, sift_source
from analyzer.errors import DiagnoseError
from analyzer.formats import read_source
from analyzer.model import Entry, Instant, JobKey, Note, Origin, Report
from analyzer.pipeline import report_on
from analyzer.redact import redact
from analyzer.report import render
from analyzer.report.json_report import load_report, render_json
from analyzer.rulebook.cache import load_rulebook
from analyzer.rulebook.load import parse_rule
from analyzer.rulebook.telling import telling
from analyzer.sources import Source, open_sources
from analyzer.stitch import stitch

FORMS = ("text", "html", "json", "markdown", "sarif", "junit", "github")
OBEYED = ("\x1b", "\x07", "\x00", "\u202e", "\u2066", "\u200b", "\x9b")
"""Characters that a screen would obey or hide: no form may hold one unescaped."""


def _source(data: bytes) -> Source:
    return Source("fuzzed.log", lambda: cast(BinaryIO, io.BytesIO(data)))


def read(data: bytes) -> None:
    """Any bytes as a log: entries, and with them a diagnosis whose evidence stands in the input, in every form."""
    notes: list[Note] = []
    rulebook = load_rulebook()
    entries = list(read_source(_source(data), notes))
    partials = sift_source(_source(data), [], telling(rulebook))
    report = report_on(partials, rulebook, Options(), notes)
    known = "\n".join(entry.text for entry in entries)
    for diagnosis in report.diagnoses:
        for item in diagnosis.root_cause.evidence if diagnosis.root_cause else ():
            for line in item.text.split("\n"):
                assert line in known or "[masked:" in line or "\ufffd" in line, line
    write(report)


def write(report: Report) -> None:
    """A report in every form, none of which holds what a screen would obey; its JSON gives the same report again."""
    for form in FORMS:
        told = render(report, form)
        assert not any(sign in told for sign in OBEYED), form
    again = load_report(render_json(report).encode())
    assert load_report(render_json(again).encode()) == again


def stitched(data: bytes) -> None:
    """Lines of several replicas: every entry is in a message, rules match with and without the prefilter alike."""
    rulebook = load_rulebook()
    entries = []
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n")):
        replica = f"workerpool0-{ord(line[0]) % 3}" if line else None
        origin = Origin.SERVICE if line.startswith("!") else Origin.REPLICA
        entries.append(Entry(
            text=line, time=Instant(number * 10**9), origin=origin, replica=replica, insert_id=f"i{number:06}",
            job=JobKey("vertex", "p", "1"),
        ))  # fmt: skip
    messages = stitch(entries)
    told = {entry.insert_id for message in messages for entry in message.entries}
    assert told == {entry.insert_id for entry in entries}
    for message in messages:
        assert rulebook.find(message, "vertex") == rulebook.find_exhaustively(message, "vertex")
    middle = len(entries) // 2
    parted = merge(sift(entries[middle:]), sift(entries[:middle]))
    one, other = (report_on(partials, rulebook, Options(), []) for partials in (sift(entries), parted))
    assert render_json(one) == render_json(other)


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
    "read": read, "stitched": stitched, "archive": archive, "rule": rule, "saved": saved, "masked": masked,
}  # fmt: skip


def attempt(name: str, data: bytes) -> None:
    """Runs a target; the program's own errors are answers."""
    try:
        TARGETS[name](data)
    except DiagnoseError:
        return
