"""Puts hostile text into every place of a diagnosis that can hold text of a log."""

from __future__ import annotations

from typing import Any

import msgspec

from analyzer.model import Diagnosis, Instant, Note, Report, Tool

PAYLOADS = {
    "script": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "attribute": "\" onmouseover=alert(1) x='\" autofocus onfocus='alert(2)",
    "svg": "</title></svg><svg onload=alert(1)><style>*{display:none}</style></style></script>",
    "template": "{{ 7*7 }} {% raw %} ${7*7} {0} {name} %s %(x)s",
    "ansi": "\x1b[31mred\x1b[0m \x1b]0;owned\x07 \x1b[2J\x1b[H \x9b31m",
    "bidi": "safe\u202etxt.exe\u2066\u200bzero\u200fwidth\ufeff",
    "control": "nul\x00bell\x07back\x08vt\x0bff\x0cdel\x7fcr\rover",
    "markdown": "# h\n> q\n```\n[x](javascript:alert(1)) ![i](http://e.e/i)\n**b** @team #12 | a | www.e.com `c` ~~~",
    "workflow": "::error::owned\n::set-output name=x::y\n%0A::warning::z",
    "formula": "=HYPERLINK(\"http://evil\",\"x\")\t+1\t-1\t@SUM(A1)",
    "entity": "&lt;b&gt; &#60; ]]> <![CDATA[ <!-- --> <?xml?>",
    "surrogate": "half \ud83d of a pair",
    "link": "javascript:alert(1)",
}  # fmt: skip

# Texts that come from closed lists or that the program makes itself.
_CLOSED = {
    ("Diagnosis", "outcome"), ("Diagnosis", "category"), ("Alternative", "category"), ("RuledOut", "category"),
    ("Retry", "advice"), ("Run", "reason"), ("Attempt", "end_reason"), ("Job", "platform"), ("TimelineEvent", "kind"),
    ("Budgets", "job_retries"),
}  # fmt: skip


def with_text(value: Any, text: str) -> Any:
    """The same value with every open text replaced."""
    if isinstance(value, str):
        return text
    if isinstance(value, list):
        return [with_text(item, text) for item in value]
    if isinstance(value, dict):
        return {with_text(key, text): with_text(item, text) for key, item in value.items()}
    if isinstance(value, msgspec.Struct):
        kept = {name: getattr(value, name) for name in value.__struct_fields__}
        closed = {name for name in kept if (type(value).__name__, name) in _CLOSED}
        return type(value)(**{name: item if name in closed else with_text(item, text) for name, item in kept.items()})
    assert value is None or isinstance(value, bool | int | float | Instant)
    return value


def hostile_report(diagnosis: Diagnosis, text: str) -> Report:
    """A report of that diagnosis in which every text is hostile, also the notes and the tool's name."""
    note = Note(kind="bad_line", text=text, source=text, line=3)
    return Report(
        tool=Tool(name=text, version=text, rulebook_version=text), diagnoses=[with_text(diagnosis, text)], notes=[note]
    )
