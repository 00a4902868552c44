"""Recognises the form of a source by its first bytes, never by its name."""

from __future__ import annotations

import re
from enum import StrEnum

import msgspec

from analyzer.expressions import expression
from analyzer.formats.record import decode
from analyzer.formats.stream import AVRO, PARQUET

_ROWS = 6  # so many lines of a head show a table


class Form(StrEnum):
    """What a source is read as."""

    NDJSON = "ndjson"  # one JSON object a line
    JSON = "json"  # JSON in any other arrangement
    YAML = "yaml"  # documents parted by `---`, or one description
    CSV = "csv"
    TEXT = "text"
    PARQUET = "parquet"
    AVRO = "avro"


_JSON_START = expression(rb'\s*(?:\{\s*(?:["}]|$)|\[\s*(?:[{\[]|\]\s*$|$))')
_EXPORT_MARK = expression(rb'"(?:insertId|logName|apiVersion|jobSpec|textPayload|jsonPayload|displayName)"')
_PREAMBLE = 12
_YAML_START = expression(rb"[A-Za-z_][\w.-]*:(?: |\r?$)", re.MULTILINE)
_YAML_LINE = expression(rb"^(?:[\w.\"'/-]+:(?: .*)?|\s+.*|- .*|-|#.*|---.*|\.\.\.)\r?$")
_YAML_MARK = expression(
    rb"^(?:apiVersion: \S|kind: [\w#]+\s*$|insertId: \S|logName: projects/|createTime: '|jobId: \w|name: projects/"
    rb"|  state: |state: JOB_STATE)",
    re.MULTILINE,
)
_MIDDLE = expression(rb'^\s+"(?:insertId|logName|receiveTimestamp|textPayload|severity|timestamp)": ', re.MULTILINE)
_NEXT_ENTRY = expression(rb"\n( *)\},\s*\n\1\{")


_CSV_COLUMNS = frozenset(
    ("insertid", "logname", "severity", "timestamp", "receivetimestamp", "textpayload", "jsonpayload", "protopayload",
     "insert_id", "log_name", "text_payload", "json_payload", "proto_payload", "receive_timestamp", "resource",
     "labels")
)  # fmt: skip


class Recognised(msgspec.Struct, frozen=True):
    """A form and where it begins: what stands before are plain lines, or the rest of an entry that was cut off."""

    form: Form
    start: int = 0
    cut: bool = False


def recognise(head: bytes, complete: bool) -> Recognised:
    """The form of a source that begins with these bytes."""
    if head.startswith((PARQUET, AVRO)):
        return Recognised(Form.PARQUET if head.startswith(PARQUET) else Form.AVRO)
    start = _json_start(head)
    if start is not None:
        return Recognised(_json_form(head[start:], complete), start)
    if _is_csv_header(head.split(b"\n", 1)[0]):
        return Recognised(Form.CSV)
    middle = _MIDDLE.search(head[:4096])
    follow = _NEXT_ENTRY.search(head) if middle and not head.lstrip().startswith((b"{", b"[")) else None
    if follow is not None:
        return Recognised(Form.JSON, follow.end() - 1, cut=True)
    yaml = _yaml_start(head)
    return Recognised(Form.TEXT) if yaml is None else Recognised(Form.YAML, yaml)


def _json_start(head: bytes) -> int | None:
    """Where JSON begins: at once, or behind a few lines of a shell or of gcloud's own words."""
    position = 0
    for _ in range(_PREAMBLE):
        found = _JSON_START.match(head, position, position + 4096)
        if found and (position == 0 or _EXPORT_MARK.search(head, position, position + 4096)):
            return position
        newline = head.find(b"\n", position)
        if newline < 0:
            return None
        position = newline + 1
    return None


def _json_form(head: bytes, complete: bool) -> Form:
    lines = [line for line in head.split(b"\n") if line.strip()]
    if len(lines) > 1 and not complete:
        lines.pop()  # it may be cut by the end of the head
    first = lines[0].strip() if lines else b""
    if not first.startswith(b"{"):
        return Form.JSON
    if any(_is_known(line.strip()) for line in lines[:2]):
        return Form.NDJSON
    return Form.TEXT if _is_object(first) else Form.JSON  # a program that prints objects of its own


def _is_csv_header(line: bytes) -> bool:
    """Whether a first line names the columns of exported log entries."""
    if b"," not in line or len(line) > 100_000:
        return False
    names = [name.strip().strip('"').split(".", 1)[0].lower() for name in line.decode("utf-8", "replace").split(",")]
    return sum(1 for name in set(names) if name in _CSV_COLUMNS) >= 2


def _is_known(line: bytes) -> bool:
    if decode(line) is not None:
        return True
    from analyzer.formats.json_values import is_known

    return is_known(line)


def _is_object(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, ValueError, RecursionError):
        return False
    return True


def _yaml_start(head: bytes) -> int | None:
    position = 0
    for _ in range(3):  # `Using endpoint [https://…]` may stand before
        rest = head[position:].lstrip(b"\r\n")
        if rest.startswith((b"---\n", b"---\r\n")) or _YAML_START.match(rest):
            break
        newline = head.find(b"\n", position)
        if newline < 0:
            return None
        position = newline + 1
    else:
        return None
    lines = [line for line in head[position:].split(b"\n")[:-1] if line.strip()][:400]
    fitting = sum(1 for line in lines if _YAML_LINE.match(line))
    marked = _YAML_MARK.search(head, position) is not None
    return position if lines and marked and fitting >= 0.9 * len(lines) else None


def is_other_table(head: bytes) -> bool:
    """Whether a text is a table of something else than log entries: column names, then rows with as many cells."""
    lines = head.decode("utf-8", "replace").splitlines()[:_ROWS]
    names = [name.strip().strip('"') for name in lines[0].split(",")] if len(lines) == _ROWS else []
    named = len(names) >= 3 and all(name.isidentifier() for name in names)
    return named and all(line.count(",") == len(names) - 1 for line in lines)
