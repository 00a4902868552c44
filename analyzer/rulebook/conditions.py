"""Evaluates a rule's condition over one message, or over the findings of a job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analyzer.expressions import expression
from analyzer.model import ExceptionLink, Message
from analyzer.rulebook.patterns import compile_pattern
from analyzer.rulebook.schema import Condition

if TYPE_CHECKING:
    from analyzer.rulebook.match import Finding

Values = dict[str, str]


def match_message(condition: Condition, message: Message) -> Values | None:
    """The values that a message gives if the condition holds for it; None if it does not."""
    if condition.regex is not None:
        return _regex(condition.regex, message.text)
    if condition.exception is not None:
        return _exception(condition, message)
    if condition.fields is not None:
        return _fields(condition.fields, message)
    if condition.all is not None:
        values: Values = {}
        for part in condition.all:
            found = match_message(part, message)
            if found is None:
                return None
            values |= found
        return values
    if condition.any is not None:
        for part in condition.any:
            found = match_message(part, message)
            if found is not None:
                return found
        return None
    if condition.not_ is not None:
        return {} if match_message(condition.not_, message) is None else None
    return None


def telling_line(condition: Condition, message: Message) -> int | None:
    """The number (from 0) of the line of a message's text that proves the condition; None if it has none.

    In a traceback that is the line that names the exception, not a line of code that happens to hold the same words.
    """
    if condition.regex is not None:
        for link in reversed(message.exceptions):
            if _regex(condition.regex, link.headline) is not None:
                return line_of(link, message)
        return _line_told(condition.regex, message)
    if condition.exception is not None:
        chosen = _chosen_link(condition, message)
        return line_of(chosen[0], message, condition.message) if chosen else None
    for part in (*(condition.all or ()), *(condition.any or ())):
        if match_message(part, message) is not None and (line := telling_line(part, message)) is not None:
            return line
    return None


def _line_told(pattern: str, message: Message) -> int | None:
    """The first line that a pattern matches on; where a traceback quotes code, one that is not a line of that code.

    Where a match reaches down to the line that names an exception, that line is the proof, not the frame above it.
    """
    found = compile_pattern(pattern).search(message.text)
    if found is None:
        return None
    first = message.text.count("\n", 0, found.start())
    last = message.text.count("\n", 0, found.end())
    lines = message.text.split("\n")
    if first < last and any(line_of(link, message) == last for link in message.exceptions):
        return last
    if first < last and _ANNOUNCES.fullmatch(lines[first]):
        first += 1
    if not message.exceptions or not _is_code(lines, first):
        return first
    others = (number for number in range(first + 1, len(lines)) if not _is_code(lines, number))
    return next((number for number in others if compile_pattern(pattern).search(lines[number])), first)


_ANNOUNCES = expression(r"\s*[A-Z][a-z]+(?: [a-z]+)+:\s*")
"""A line that only says what the next one is, as NCCL's `Last error:`: it proves nothing by itself."""


def _is_code(lines: Sequence[str], number: int) -> bool:
    """Whether a line of a traceback is the source line below a frame."""
    return number > 0 and lines[number - 1].lstrip().startswith('File "') and lines[number].startswith(" ")


def line_of(link: ExceptionLink, message: Message, pattern: str | None = None) -> int | None:
    """The line of an exception's headline; with a pattern, the line of its message that the pattern matches."""
    place = message.text.rfind(link.headline)
    gap = 0
    if place < 0:  # its message begins with an empty line, so the type stands alone; or other blanks stand between
        place = message.text.rfind(f"{link.type}:")
        begin = message.text.find(link.message.partition("\n")[0], max(place, 0))
        if place < 0 or begin < 0:
            return None
        gap = message.text.count("\n", place, begin) if link.message[:1].isalnum() else 0  # not to a ruled line
    found = compile_pattern(pattern).search(link.message) if pattern else None
    below = link.message.count("\n", 0, found.start()) if found else 0
    return message.text.count("\n", 0, place) + gap + below


def match_job(condition: Condition, findings: Sequence[Finding]) -> list[Finding] | None:
    """The findings that make the condition hold for a job, first the one that proves it; None if it does not hold."""
    if condition.finding is not None:
        found = [f for f in findings if names(condition.finding, f.rule.id)]
        return found if len(found) >= condition.min else None
    if condition.absent is not None:
        return None if any(names(condition.absent, f.rule.id) for f in findings) else []
    if condition.sequence is not None:
        return _sequence(condition.sequence, condition.within, findings)
    if condition.all is not None:
        together: list[Finding] = []
        for part in condition.all:
            held = match_job(part, findings)
            if held is None:
                return None
            together += held
        return together
    if condition.any is not None:
        return next((held for part in condition.any if (held := match_job(part, findings)) is not None), None)
    if condition.not_ is not None:
        return [] if match_job(condition.not_, findings) is None else None
    return None


def names(pattern: str, identity: str) -> bool:
    """Whether a rule id, cause or category is meant by a name that may end in `*`."""
    if pattern.endswith("*"):
        return identity.startswith(pattern[:-1])
    return identity == pattern or identity.startswith(pattern + ".")


def _regex(pattern: str, text: str) -> Values | None:
    found = compile_pattern(pattern).search(text)
    if found is None:
        return None
    return {name: value for name, value in found.groupdict().items() if value}


def _exception(condition: Condition, message: Message) -> Values | None:
    chosen = _chosen_link(condition, message)
    return None if chosen is None else link_values(chosen[0]) | chosen[1]


def _chosen_link(condition: Condition, message: Message) -> tuple[ExceptionLink, Values] | None:
    """The link of a traceback's chain that the condition holds for, with what its message gives.

    Of several the last one, which ended the program; but a wrapper says less than the cause that it was raised from,
    unless that is a transport's detail which a client library translated.
    """
    wanted = [condition.exception] if isinstance(condition.exception, str) else condition.exception or []
    found: tuple[ExceptionLink, Values] | None = None
    for link in reversed(message.exceptions):
        if found is not None and not (wanted == ["*"] and link.relation in ("cause", "remote")):
            break
        if not any(_is_type(name, link.type) for name in wanted):
            continue
        if found is not None and any(_is_type(name, link.type) for name in condition.translated):
            break
        values: Values | None = {} if condition.message is None else _regex(condition.message, link.message)
        if values is not None:
            found = (link, values)
    return found


def _is_type(name: str, printed: str) -> bool:
    return name == "*" or printed == name or printed.endswith("." + name)


def link_values(link: ExceptionLink) -> Values:
    """What a rule's texts may say of an exception: type, message, and the user's frame as file, line and function."""
    said = (line for line in link.message.split("\n") if any(sign.isalnum() for sign in line))  # no ruled line
    values = {"exception": link.short_type, "message": next(said, "").strip()}
    if frame := link.user_frame:
        values |= {"frame_file": frame.file, "frame_function": frame.function}
        if frame.line is not None:
            values["frame_line"] = str(frame.line)
        if frame.code:
            values["frame_code"] = frame.code
    return values


def _fields(wanted: dict[str, str | int | list[str | int]], message: Message) -> Values | None:
    fields = message.first.fields
    if not fields:
        return None
    values: Values = {}
    for name, accepted in wanted.items():
        if name not in fields or fields[name] is None:
            return None
        given = str(fields[name])
        options = accepted if isinstance(accepted, list) else [accepted]
        found = next((hit for option in options if (hit := _field_value(str(option), given)) is not None), None)
        if found is None:
            return None
        values |= found | {name: given}
    return values


def _field_value(option: str, given: str) -> Values | None:
    if len(option) > 1 and option[0] == option[-1] == "/":
        return _regex(option[1:-1], given)
    return {} if option == given else None


def _sequence(wanted: list[str], within: float | None, findings: Sequence[Finding]) -> list[Finding] | None:
    timed = sorted(
        ((f.time, number, f) for number, f in enumerate(findings) if f.time is not None), key=lambda item: item[:2]
    )
    for begin, (_, _, first) in enumerate(timed):
        if not names(wanted[0], first.rule.id):
            continue
        chain = [first]
        for _, _, candidate in timed[begin + 1 :]:
            if len(chain) < len(wanted) and names(wanted[len(chain)], candidate.rule.id):
                chain.append(candidate)
        if len(chain) == len(wanted):
            start, end = chain[0].time, chain[-1].time
            if within is None or (start is not None and end is not None and end.since(start) <= within):
                return chain
    return None
