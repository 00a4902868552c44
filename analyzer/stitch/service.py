"""The managed training service's verdicts: which replica they are about, and where one ends and the next begins.

Message formats: "The replica {name} exited with a non-zero status of {code}…", "The replica {name} ran out of memory
and exited…" (AI Platform Training: `master 0`, `ps 1`; Vertex AI: `workerpool0-0`), several of them in one text.
"""

from __future__ import annotations

from typing import NamedTuple

from analyzer.expressions import expression

_VERDICT = expression(
    r"[Tt]he replica (?P<name>workerpool\d+-\d+|[a-z_]+-replica-\d+|[a-z_]+[ -]\d+|[\w-]+) "
    r"(?=(?:exited|ran out|failed|was|has|terminated|could not|did not|crashed|got)\b)"
)
_TASK = expression(r"^(?P<role>[a-z_]+)[ -](?P<number>\d+)$")


class Verdict(NamedTuple):
    """One verdict: the replica it is about by its canonical name, and its part of the text, verbatim."""

    about: str
    excerpt: str


def verdicts(text: str) -> list[Verdict]:
    """The verdicts of a text in order; their excerpts together are the text. Empty if it has none."""
    found = list(_VERDICT.finditer(text))
    starts = [0, *(match.start() for match in found[1:])]
    ends = [*starts[1:], len(text)]
    return [
        Verdict(canonical_name(match["name"]), text[start:end])
        for match, start, end in zip(found, starts, ends, strict=False)
    ]


def canonical_name(name: str) -> str:
    """A replica's name as its logs call it: `ps 0` is `ps-replica-0`, `workerpool0-0` stays."""
    task = _TASK.match(name)
    return f"{task['role']}-replica-{task['number']}" if task and not name.startswith("workerpool") else name
