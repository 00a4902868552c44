"""Makes evidence out of messages: verbatim but for masked secrets, bounded, with the telling line always in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from urllib.parse import quote

from analyzer.model import Entry, Evidence, Instant, JobKey, Message
from analyzer.rulebook import Finding
from analyzer.rulebook.conditions import telling_line
from analyzer.stitch.hints import AFTERWORDS

MAX_LINES = 60
MAX_CHARS = 8_000
FIRST_LINES = 44
FIRST_CHARS = 6_000
SUPPORT_LINES = 8
SUPPORT_CHARS = 1_200

Mask = Callable[[str], str]


def evidence_of(finding: Finding, key: JobKey, mask: Mask, *, support: bool = False) -> Evidence:
    """The evidence that a finding's message is, cut to its telling part where it is long."""
    lines, chars = (SUPPORT_LINES, SUPPORT_CHARS) if support else (FIRST_LINES, FIRST_CHARS)
    return message_evidence(finding.message, key, mask, telling_line(finding.rule.when, finding.message), lines, chars)


def proof_of(finding: Finding, key: JobKey, mask: Mask) -> list[Evidence]:
    """The evidence that proves a cause: first the one line that does, then the whole message that it stands in."""
    whole = evidence_of(finding, key, mask)
    telling = telling_line(finding.rule.when, finding.message)
    if telling is None or "\n" not in finding.message.raw:
        return [whole]
    line = message_evidence(finding.message, key, mask, telling, lines=1, chars=FIRST_CHARS)
    return [line, whole] if line.text.strip() else [whole]


def message_evidence(
    message: Message,
    key: JobKey,
    mask: Mask,
    telling: int | None = None,
    lines: int = FIRST_LINES,
    chars: int = FIRST_CHARS,
) -> Evidence:
    """A message as evidence; `telling` is the number of its line that must stay in view."""
    raw = message.raw
    parts = raw.split("\n")
    first = 0
    if len(parts) > lines:
        first = _window(len(parts), telling if telling is not None else len(parts) - 1, lines)
        parts = parts[first : first + lines]
    text = "\n".join(parts)
    if len(text) > chars:
        text = _bounded(parts, (telling or 0) - first, chars)
    text = _without_afterword(text)
    entry = _entry_at(message, first)
    return Evidence(
        text=mask(text),
        source=entry.source or None,
        line=entry.line or None,
        insert_id=entry.insert_id or None,
        replica=message.replica,
        time=entry.time if entry.time_stated else None,
        severity=None if entry.severity == "DEFAULT" else entry.severity,
        link=link_to(entry, key),
    )


def _without_afterword(text: str) -> str:
    """The text up to the words that a service or library puts behind each of its messages, which prove nothing."""
    place = min((found for word in AFTERWORDS if (found := text.find(word)) > 0), default=len(text))
    return text[:place].rstrip() if text[:place].strip() else text


def _window(total: int, telling: int, size: int) -> int:
    """Where to begin so that the telling line is in view, with most of the room before it: causes stand at the end."""
    return max(0, min(telling - (size * 3) // 4, total - size))


def _bounded(parts: list[str], telling: int, chars: int) -> str:
    telling = max(0, min(telling, len(parts) - 1))
    kept = [parts[telling][:chars]]
    room = chars - len(kept[0])
    for line in reversed(parts[:telling]):
        if len(line) + 1 > room:
            break
        kept.insert(0, line)
        room -= len(line) + 1
    for line in parts[telling + 1 :]:
        if len(line) + 1 > room:
            break
        kept.append(line)
        room -= len(line) + 1
    return "\n".join(kept)


def _entry_at(message: Message, line: int) -> Entry:
    """The entry that a line of the message stands in."""
    if message.excerpt:
        return message.entries[0]
    for entry in message.entries:
        height = entry.text.count("\n") + 1
        if line < height:
            return entry
        line -= height
    return message.entries[-1]


def link_to(entry: Entry, key: JobKey) -> str | None:
    """The address of an entry in Logs Explorer; None where its insertId or project is not known."""
    if not entry.insert_id or not key.project or entry.time is None:
        return None
    query = quote(f'insertId="{entry.insert_id}"', safe="")
    project = quote(key.project, safe="")
    return f"https://console.cloud.google.com/logs/query;query={query};timestamp={entry.time}?project={project}"


def within_bounds(evidence: Iterable[Evidence]) -> list[Evidence]:
    """The evidence in order, as far as all together stay within the contract's bounds."""
    kept: list[Evidence] = []
    lines = chars = 0
    for item in evidence:
        lines += item.text.count("\n") + 1
        chars += len(item.text) + 1
        if kept and (lines > MAX_LINES - 1 or chars > MAX_CHARS - 100):
            break
        if all(item.text != known.text for known in kept):
            kept.append(item)
    return kept


def context_around(
    messages: list[Message], position: int, key: JobKey, mask: Mask, size: int = 8
) -> tuple[list[Evidence], list[Evidence]]:
    """Messages of the same replica before and after one, for the report."""
    replica = messages[position].replica
    before = list(islice((m for m in reversed(messages[:position]) if m.replica == replica), size))[::-1]
    after = list(islice((m for m in islice(messages, position + 1, None) if m.replica == replica), size))

    def short(message: Message) -> Evidence:
        return message_evidence(message, key, mask, lines=4, chars=400)

    return [short(m) for m in before], [short(m) for m in after]


def stated_time(message: Message) -> Instant | None:
    """When a message was logged, if its entry states it."""
    return message.time if message.first.time_stated else None
