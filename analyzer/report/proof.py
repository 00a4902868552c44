"""Which line of the evidence is put in front."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from analyzer.expressions import expression
from analyzer.model import Frame
from analyzer.model.diagnosis import Alternative, Diagnosis, Evidence, Remedy
from analyzer.report.language import Language

_TRACEBACK = "Traceback (most recent call last):"
_ROOT_CAUSE = "Root Cause (first observed failure):"  # of torchrun's report
_CALL = expression(r"\bFile \"(?P<file>[^\"]+)\", line (?P<line>\d+)")
# A line of a traceback that names an exception: `Type: message`, perhaps behind a launcher's prefix.
_EXCEPTION = expression(
    r"^(?:.{0,80}?[\]:|>]\s?)?[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning|Failure)\b.*"
)


_LONGEST_SOURCE = 48


class Proof(NamedTuple):
    """The evidence that proves the cause, and the one line of it to show first."""

    evidence: Evidence
    line: str
    whole: bool  # the line is all there is


def proof_of(diagnosis: Diagnosis) -> Proof | None:
    """The proving line: of a traceback the exception that was chosen, else the first line that says something."""
    root = diagnosis.root_cause
    if root is None or not root.evidence:
        return None
    evidence = root.evidence[0]
    lines = [line.rstrip() for line in evidence.text.split("\n") if line.strip()]
    if not lines:
        return Proof(evidence, evidence.text, True)
    return Proof(evidence, _telling(lines, root.values), len(lines) == 1)


def whereabouts(diagnosis: Diagnosis, words: Language) -> list[str]:
    """Where and when the cause was, part by part: replica, rank, attempt, moment, exit code."""
    root, say = diagnosis.root_cause, words.say
    if root is None:
        return []
    parts = [root.replica or ""]
    if root.rank is not None and root.replica != f"rank{root.rank}":
        parts.append(say("rank {rank}", rank=root.rank))
    total = len(diagnosis.timeline.attempts)
    if root.attempt is not None and total > 1:
        parts.append(say("attempt {number} of {total}", number=root.attempt, total=total))
    when = root.time or (root.evidence[0].time if root.evidence else None)
    parts.append(words.moment(when) if when is not None else "")
    if root.exit_code is not None:
        parts.append(say("exit code {code}", code=root.exit_code) + (f" ({root.signal})" if root.signal else ""))
    return [part for part in parts if part]


def gist_of(evidence: Evidence, values: Mapping[str, str]) -> list[str]:
    """The lines of a further piece of evidence that say most: of a traceback its last call, of a report its root cause.

    The call is that of the program's own code, which `values` of the root cause may name. Lines without a letter, such
    as rulers, are left out.
    """
    lines = [line.rstrip() for line in evidence.text.split("\n") if any(sign.isalnum() for sign in line)]
    calls = [(place, found) for place, line in enumerate(lines) if (found := _CALL.search(line)) is not None]
    if calls and (calls[0][0] == 0 or any(_TRACEBACK in line for line in lines)):
        chosen = (values.get("frame_file"), values.get("frame_line"))
        known = [place for place, call in calls if call.group("file", "line") == chosen]
        own = [place for place, call in calls if Frame(call["file"], None, "").is_users]
        place = (known or own or [calls[-1][0]])[-1]
        return lines[place : place + 2]
    named = next((place for place, line in enumerate(lines[:-2]) if _ROOT_CAUSE in line), 0)
    return [" ".join(" ".join(lines[named:]).split())] if lines else []


def steps_of(remedy: Remedy) -> list[str]:
    """The steps of a remedy, without one that only repeats its title."""
    return [step for step in remedy.steps if step.strip() != remedy.title.strip()]


def source_of(evidence: Evidence) -> str:
    """The end of the evidence's source and its line: `…/exports/ml_job.json:48211`."""
    if not evidence.source:
        return ""
    parts = evidence.source.split("/")
    name = "/".join(parts) if len(evidence.source) <= _LONGEST_SOURCE or len(parts) < 3 else "…/" + "/".join(parts[-2:])
    return f"{name}:{evidence.line}" if evidence.line else name


def other_causes(diagnosis: Diagnosis) -> list[tuple[Alternative, list[str]]]:
    """Alternatives of another cause than the chosen, best first, each with the other replicas it was found on."""
    groups: dict[tuple[str, str], tuple[Alternative, list[str]]] = {}
    for item in diagnosis.alternatives:
        if (item.category, item.cause) == (diagnosis.category, diagnosis.cause):
            continue
        first, others = groups.setdefault((item.category, item.cause), (item, []))
        if item is not first and item.replica and item.replica not in (first.replica, *others):
            others.append(item.replica)
    return list(groups.values())


def _telling(lines: list[str], values: dict[str, str]) -> str:
    if not any(_TRACEBACK in line for line in lines):
        return lines[0]
    named = [line for line in lines if _EXCEPTION.match(line)]
    wanted = values.get("exception", "").rsplit(".", 1)[-1]
    chosen = [line for line in named if wanted and wanted in line] or named
    return chosen[-1] if chosen else lines[-1]
