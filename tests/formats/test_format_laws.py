"""Laws of reading that hold for every form."""

from __future__ import annotations

import json

import msgspec
import pytest
from forms import FORMS, INPUTS, NAMES, entries_of, read

from analyzer.model import Origin

EXPORTS = (
    "logentry_ndjson/sink.ndjson",
    "logentry_array/pretty.json",
    "logentry_array/compact.json",
    "logentry_pasted/pasted.txt",
    "logentry_yaml/read.yaml",
    "logentry_csv/explorer.csv",
    "bigquery_rows/rows.ndjson",
    "log_analytics/rows.json",
    "pubsub/pull.ndjson",
    "api_page/page.json",
)
DECODED = ("pubsub", "otlp", "log_analytics", "split")  # their text does not stand in the file letter by letter


def said(entries):
    """What entries say, without where they stand, in their total order."""
    return [msgspec.structs.replace(entry, source="", line=0) for entry in sorted(entries, key=lambda e: e.order)]


@pytest.mark.parametrize("export", EXPORTS[1:])
def test_same_log_in_any_export_gives_same_entries(export):
    """The arrangement of an export changes nothing but where an entry stands."""
    assert said(read(export)) == said(read(EXPORTS[0]))


@pytest.mark.parametrize("path", INPUTS, ids=NAMES)
def test_every_text_stands_in_the_input(path):
    """A person finds each line of an entry's text in the input by a plain search (in JSON: as JSON writes it)."""
    if path.parent.name in DECODED or path.suffix == ".yaml":  # YAML breaks long texts where it likes
        pytest.skip("the form hides the text")
    content = path.read_bytes().decode()
    for line in (line for entry in read(path) for line in entry.text.split("\n")):
        forms = (line, json.dumps(line)[1:-1], json.dumps(line, ensure_ascii=False)[1:-1], line.replace('"', '""'))
        assert any(form in content for form in forms), line


def test_descriptions_in_yaml_are_quoted_as_they_stand():
    """The lines of a container's end stand in a YAML file as they do in the entry."""
    content = (FORMS / "pod/pod.yaml").read_text()
    ends = [entry for entry in read("pod/pod.yaml") if entry.fields.get("exit_code") == 137]
    assert len(ends) == 1
    assert all(line in content for entry in ends for line in entry.text.split("\n"))


@pytest.mark.parametrize("path", INPUTS, ids=NAMES)
def test_reading_is_deterministic(path):
    """Two readings give the same."""
    assert read(path) == read(path)


@pytest.mark.parametrize("path", INPUTS, ids=NAMES)
def test_places_are_lines_of_the_input(path):
    """Every entry stands at a line that the input has."""
    last = path.read_bytes().count(b"\n") + 1
    assert all(1 <= entry.line <= last for entry in read(path))


@pytest.mark.parametrize("path", INPUTS, ids=NAMES)
def test_structured_facts_have_plain_types(path):
    """Numbers are whole numbers, and all fields can be written as JSON."""
    for entry in read(path):
        json.dumps(entry.fields)
        for name in ("exit_code", "restart_count", "count", "code", "accelerator_count", "trial"):
            assert isinstance(entry.fields.get(name, 0), int)


@pytest.mark.parametrize("path", INPUTS, ids=NAMES)
def test_entries_without_insert_id_keep_their_order(path):
    """No two entries of a text source have the same place in its order."""
    texts = [entry for entry in read(path) if not entry.insert_id]
    assert len({entry.sequence for entry in texts}) == len(texts)


def test_newest_first_text_sorts_like_oldest_first():
    """Text that runs backwards gets its order back, lines of one second included."""
    newest = said(read("stream_logs_vertex/newest_first.txt"))
    oldest = said(entry for entry in read("stream_logs_vertex/tabs.txt") if entry.origin is not Origin.TEXT)
    assert [entry.text for entry in newest] == [entry.text for entry in oldest]


def test_spaces_instead_of_tabs_change_nothing():
    """A copy from a terminal gives the same texts, the indentation of tracebacks included."""
    assert said(read("stream_logs_vertex/spaces.txt")) == said(read("stream_logs_vertex/tabs.txt"))


def test_a_column_of_trials_changes_no_text():
    """Tuning jobs of Vertex AI have one, which is empty where a line is of no trial."""
    plain = said(read("stream_logs_vertex/tabs.txt"))
    rows = (FORMS / "stream_logs_vertex/tabs.txt").read_text().splitlines(keepends=True)
    wide = "".join("\t".join((*parts[:3], "", parts[3])) if len(parts := row.split("\t", 3)) == 4 else row for row in rows)
    assert [entry.text for entry in said(entries_of(wide, "tabs.txt"))] == [entry.text for entry in plain]


@pytest.mark.parametrize("path", INPUTS, ids=NAMES)
@pytest.mark.parametrize("change", ["crlf", "bom", "utf-16"])
def test_line_ends_and_byte_order_marks_change_nothing(path, change):
    """Files that went through Windows read the same."""
    content = path.read_bytes()
    if change == "crlf" and b"\r" not in content:
        content = content.replace(b"\n", b"\r\n")
    elif change == "bom":
        content = b"\xef\xbb\xbf" + content
    elif change == "utf-16":
        content = content.decode().encode("utf-16")
    assert entries_of(content, path.name) == read(path)
