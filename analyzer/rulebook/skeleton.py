"""Starts a new rule: a file with every key in its place, that passes the schema once it is filled in."""

from __future__ import annotations

import re
from pathlib import Path

from analyzer.errors import UsageError
from analyzer.model import CATEGORIES

_SKELETON = """\
id: {id}
title:
  en: a short clause that can stand after a colon
  de: ein kurzer Satz, der nach einem Doppelpunkt stehen kann
role: root
cause: {cause}
when:
  regex: 'the fixed words of the message with (?P<value>\\S+)'
weight: 50
explains: []
why:
  en: what it means, in plain words, with {{value|the value}}
  de: was es bedeutet, in einfachen Worten, mit {{value|dem Wert}}
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
    - 'the fixed words of the message with 42'
    - 'INFO the fixed words of the message with another'
  no_match:
    - 'the fixed words of a message with 42'
    - 'the message with 42'
"""


def write_skeleton(rule_id: str, folder: Path) -> Path:
    """Writes the file for a new rule and returns its path.

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
    path.write_text(_SKELETON.format(id=rule_id, cause=".".join(parts[:2])), encoding="utf-8")
    return path
