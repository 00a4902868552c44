"""Makes a line what a person sees: no colours, only the last state of a progress bar, no launcher prefix."""

from __future__ import annotations

import re
from collections.abc import Sequence

from analyzer.expressions import expression
from analyzer.stitch.prefixes import Prefixed, learn, without_label, without_prefix

_ESCAPE = (
    r"(?:\x1b\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)?"  # operating system commands: titles, links
    r"|(?:\x1b|\^\[|#033|\\x1b|\\u001b|\\033|\\e)\[[0-?]*[ -/]*[@-~]"  # also as syslog and JSON writers spell it
    r"|\x1b[ -/]*[0-~])"
)
_ESCAPES = expression(_ESCAPE)
_BARE_COLOUR = expression(r"\[(?:0|3[0-79]|9[0-7]|0?1|[34]8;[\d;]{1,12}|[0-4]?;?[349][0-7]|0?[14];[349][0-7])m")
_SPELLED_ESCAPES = ("^[[", "#033[", "\\x1b[", "\\u001b[", "\\033[", "\\e[")
# What a text must have in it for `visible` to change it.
UNCLEAN = ("\x1b", "\r", "\x08", "\n", "[0m", "[39m", *_SPELLED_ESCAPES)
_BACKSPACES = expression("\x08+")
_PROGRESS = expression(r"\d ?%|\d ?/ ?\d|(?:it|s|B|ba|ex|examples)/(?:s|it)\b|\bETA\b|[|#=>.█▏▎▍▌▋▊▉━╸]{4}")


def visible(text: str) -> str:
    """The text as a terminal would leave it on the screen: without escapes, overwritten states, the last newline."""
    if "\x1b" in text or any(mark in text for mark in _SPELLED_ESCAPES):
        text = _ESCAPES.sub("", text)
    if "[0m" in text or "[39m" in text:  # colours whose escape character got lost on the way
        text = _BARE_COLOUR.sub("", text)
    if "\r" in text or "\x08" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    return text[:-1] if text.endswith("\n") else text


def _last_state(line: str) -> str:
    """What is left of a line that overwrites itself; parts that are no progress may be messages, and stay."""
    if "\x08" in line:
        line = _BACKSPACES.sub("\r", line)
    states = [state for state in line.split("\r") if state.strip()]
    if not states:
        return ""
    prefixed = without_prefix(states[0]) if len(states) > 1 else None
    if (
        prefixed is not None and without_prefix(states[-1]) is None
    ):  # a launcher writes it once a line, not once a state
        states[-1] = states[0].removesuffix(prefixed.text) + states[-1]
    kept = [state for state in states[:-1] if not _PROGRESS.search(state)]
    return "\n".join((*kept, states[-1]))


def clean(text: str) -> tuple[int | None, str]:
    """The rank that a text's prefix names (None if none does) and the text as a person would read it.

    Prefixes that could be ordinary text (`0: `, `node-5: `) go only where several lines of the text agree on them.
    """
    seen = visible(text)
    parts = cleaned_lines(seen, learn(seen.split("\n")).patterns() if "\n" in seen else ())
    rank = next((part.rank for part in parts if part.rank is not None), None)
    return rank, "\n".join(part.text for part in parts)


def cleaned_lines(seen: str, labels: Sequence[re.Pattern[str]]) -> list[Prefixed]:
    """The lines of a visible text without their prefixes."""
    return [cleaned_line(line, labels) for line in seen.split("\n")]


def cleaned_line(line: str, labels: Sequence[re.Pattern[str]] = ()) -> Prefixed:
    """A line without its launcher prefixes: the source's labels, then the certain ones."""
    labelled = without_label(line, labels) if labels else None
    certain = without_prefix(labelled.text if labelled else line)
    if labelled is None or certain is None:
        return labelled or certain or Prefixed("", None, line)
    rank = labelled.rank if certain.rank is None else certain.rank
    return Prefixed(f"{labelled.speaker}/{certain.speaker}", rank, certain.text)
