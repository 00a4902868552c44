"""Starts a new rule: a file with every key in its place, that passes the schema once it is filled in.

Given a line of a log, its fixed words become the pattern and what differs from run to run becomes its values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from analyzer.errors import UsageError
from analyzer.facts.masks import masks
from analyzer.model import CATEGORIES

_SKELETON = """\
id: {id}
title:
  en: a short clause that can stand after a colon
  de: ein kurzer Satz, der nach einem Doppelpunkt stehen kann
role: root
cause: {cause}
when:
  regex: {regex}
weight: 50
explains: []
why:
  en: what it means, in plain words{with_en}
  de: was es bedeutet, in einfachen Worten{with_de}
remedy:
  - do:
      en: the one thing to do now
      de: das eine, was jetzt zu tun ist
again:
  en: what to do if it comes back
  de: was zu tun ist, wenn es wiederkommt
retry: after_fix
sources:
  - https://
examples:
  match:
    - {line}
    - {other}
  no_match:
    - 'the fixed words of a message with 42'
    - 'the message with 42'
"""
_LINE = "the fixed words of the message with 42"
_LONGEST = 300
"""So many characters of a line make a pattern: what follows differs, or says nothing more."""


def pattern_of(line: str) -> str:
    """An expression (RE2) for lines like this one: numbers, paths, names in quotes and times are its values."""
    pieces: list[tuple[str, str]] = [("", line.strip()[:_LONGEST])]  # (what it stands for, text)
    for mask in masks():
        parts = ([(kind, text)] if kind else _cut(text, mask.token, mask.regex) for kind, text in pieces)
        pieces = [part for some in parts for part in some]
    counts: dict[str, int] = {}
    made = []
    for kind, text in pieces:
        if not kind:
            made.append(re.escape(text).replace("\\ ", " "))
            continue
        counts[kind] = counts.get(kind, 0) + 1
        number = "" if counts[kind] == 1 else str(counts[kind])
        made.append(f"(?P<{_VALUES.get(kind, 'value')}{number}>{_SHAPES.get(kind, '[^ ]+')})")
    return "".join(made)


_VALUES = {"<time>": "time", "<id>": "id", "<url>": "url", "<node>": "node", "<ip>": "address", "<hex>": "hex",
           "<path>": "path", "<text>": "name", "<n>": "number"}  # fmt: skip
_SHAPES = {"<n>": r"[-+]?\d[\d.,]*%?", "<text>": r"[\"'][^\"'\n]*[\"']", "<time>": r"\d[^ ]*(?: \d[^ ]*)?"}


def _cut(text: str, token: str, pattern: str) -> Iterator[tuple[str, str]]:
    """A text in the pieces that a mask covers and those between."""
    end = 0
    for found in re.finditer(pattern, text):
        if found.start() > end:
            yield "", text[end : found.start()]
        yield token, found[0]
        end = found.end()
    if end < len(text):
        yield "", text[end:]


def write_skeleton(rule_id: str, folder: Path, line: str | None = None) -> Path:
    """Writes the file for a new rule and returns its path. `line`: a line of a log that the rule is to know.

    Raises:
        UsageError: if the id is no dotted lower-case name in a category, or the file exists.
    """
    if not re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)+", rule_id):
        raise UsageError(
            f"{rule_id!r} is no rule id", advice="write category.name in lower case, e.g. storage.disk_full"
        )
    parts = rule_id.split(".")
    if parts[0] not in CATEGORIES:
        raise UsageError(f"{parts[0]!r} is no category", advice=f"start the id with one of {', '.join(CATEGORIES)}")
    path = folder.joinpath(*parts).with_suffix(".yaml")
    if path.exists():
        raise UsageError("exists already", where=str(path), advice="choose another id")
    path.parent.mkdir(parents=True, exist_ok=True)
    text = (line or _LINE).strip()
    regex = pattern_of(text)
    words = {"regex": regex, "line": text, "other": f"INFO {text}"}
    quoted = {name: "'" + value.replace("'", "''") + "'" for name, value in words.items()}
    value = next(iter(re.compile(regex).groupindex), None)
    texts = {
        "with_en": f", with {{{value}|the value}}" if value else "",
        "with_de": f", mit {{{value}|dem Wert}}" if value else "",
    }
    path.write_text(_SKELETON.format(id=rule_id, cause=".".join(parts[:2]), **quoted, **texts), encoding="utf-8")
    return path
