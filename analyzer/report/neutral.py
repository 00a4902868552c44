"""Makes log text harmless to show: a log may hold anything, and a screen obeys what it is shown.

Terminal escapes, control characters, and marks that hide or reorder text are removed or made visible. Escaping for a
language (HTML, Markdown, XML) comes on top of it, in the writer of that language.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from analyzer.expressions import expression

# A CSI sequence only moves the cursor or sets a colour, so nothing is lost without it. Other escape sequences carry
# text: their ESC becomes a visible sign and the text stays.
_CSI = expression(r"\x1b\[[0-?]*[ -/]*[@-~]")
_UNSAFE = expression(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
# JSON escapes C0 controls itself; these are legal in JSON text but not harmless on a screen that shows it.
_RAW_IN_JSON = expression(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff\U000e0000-\U000e007f]"
)
_LONE_SURROGATE = expression("[\ud800-\udfff]")
_SPACES = expression(r"\s+")


def shown(text: str) -> str:
    """The text as it may be shown: line ends are `\\n`, tabs stay, everything that a screen would obey is visible."""
    if text.isascii() and text.isprintable():
        return text
    unified = text.replace("\r\n", "\n")
    if "\r" in unified:
        unified = "\n".join(map(_last_state, unified.split("\n")))
    return _UNSAFE.sub(_sign, _CSI.sub("", unified) if "\x1b" in unified else unified)


def escaped_json(text: str) -> str:
    """JSON text with the characters that a screen would obey as `\\u` escapes: the same value, harmless to print."""
    return _RAW_IN_JSON.sub(_json_escape, text)


def shown_line(text: str, limit: int = 0) -> str:
    """The text as one line, runs of blanks joined; with a limit, cut to so many characters with an ellipsis."""
    head = text if not limit or len(text) <= 8 * limit else text[: 8 * limit]
    line = _SPACES.sub(" ", shown(head)).strip()
    return line if not limit or len(line) <= limit else line[: max(limit - 1, 1)].rstrip() + "…"


def clipped(text: str, *, lines: int, characters: int) -> tuple[str, int]:
    """Head and tail of a long text, a line `⋯` between, and how many characters were left out (0: it is whole)."""
    rows = text.split("\n")
    if len(text) <= characters and len(rows) <= lines:
        return text, 0
    if len(rows) > lines:
        head = lines // 3
        rows = [*rows[:head], "⋯", *rows[len(rows) - (lines - head - 1) :]]
    widest = max(characters // len(rows), 80)
    kept = "\n".join(
        row if len(row) <= widest else f"{row[: widest // 2]} ⋯ {row[len(row) - widest // 2 :]}" for row in rows
    )
    return kept, max(len(text) - len(kept), 1)


def web_link(address: str | None) -> str | None:
    """The address if it is an absolute http(s) one without control characters, else None: nothing else is a link."""
    if not address or _UNSAFE.search(address) or any(blank in address for blank in " \t\n\"'<>\\`"):
        return None
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    return address if parts.scheme in ("http", "https") and parts.netloc else None


def without_lone_surrogates(value: Any) -> Any:
    """The same value of dicts, lists and text with every half of a surrogate pair replaced by U+FFFD."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [without_lone_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {without_lone_surrogates(key): without_lone_surrogates(item) for key, item in value.items()}
    return value


def _last_state(line: str) -> str:
    """Of a progress bar that wrote over itself only what it came to, and a mark that something stood before."""
    *before, last = [state for state in line.split("\r") if state.strip()] or [""]
    return f"⋯ {last}" if before else last


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)  # the control pictures: ␀ ␇ ␛
    if code == 0x7F:
        return "␡"
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"⟨U+{code:04X}⟩"


def _json_escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
