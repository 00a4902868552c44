"""Puts the entries of a job together to what a person would call its messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analyzer.model import Entry, Message, Origin
from analyzer.stitch.chain import parse_exceptions


def message_of(text: str, origin: Origin = Origin.TEXT, fields: Mapping[str, Any] | None = None) -> Message:
    """One message out of a bare text; its lines are one message."""
    entry = Entry(text=text, origin=origin, fields=dict(fields or {}))
    exceptions = parse_exceptions(text)
    kind = "traceback" if any(link.frames for link in exceptions) else "line"
    return Message(text=text, entries=(entry,), kind=kind, exceptions=exceptions)
