"""What an exit code or signal means: by itself, on a platform, and after which launcher."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import msgspec

from analyzer.errors import UsageError
from analyzer.expressions import expression
from analyzer.facts.tables import table_document

_BARE_NUMBER_PLATFORMS = ("vertex", "ai_platform")
_KILLS = ("SIGKILL",)
_SERVICE = {"vertex": "vertex", "ai_platform": "vertex", "gke": "gke", "batch": "batch", "slurm": "slurm", "": "vertex"}
_FORMS = expression(r"(?P<code>-?\d+)(?::(?P<second>\d+))?(?:\s*\((?P<name>SIG[A-Z0-9]+)\))?", re.ASCII)
_ADVICE = "give a number from 0 to 255, a negative one, 50000 to 50006 for Batch, Slurm's `0:9`, or a name like SIGKILL"

_TEXTS = {
    "en": {
        "own": "The program itself chose this code; its meaning stands in its code or documentation.",
        "signal": "Ended by signal {number} ({name}).",
        "unnamed": "Ended by signal {number}.",
        "child": "The process itself ended with this code, most likely a Python launcher that did sys.exit(-{number}) "
        "and so passed on that its child was ended by {name}.",
        "negative": "Python's way to say that a child process was ended by {name}; containers show the same end as "
        "{shell}.",
        "own_look": "its last lines before the end",
        "launcher": "The service sees the launcher's own exit code (1 of torchrun, 256-n of DeepSpeed), not this one.",
    },
    "de": {
        "own": "Das Programm hat diesen Code selbst gewählt; seine Bedeutung steht in seinem Quelltext oder seiner "
        "Dokumentation.",
        "signal": "Durch Signal {number} ({name}) beendet.",
        "unnamed": "Durch Signal {number} beendet.",
        "child": "Der Prozess selbst endete mit diesem Code, wahrscheinlich ein Python-Starter, der mit "
        "sys.exit(-{number}) weitergab, dass sein Kindprozess durch {name} endete.",
        "negative": "So meldet Python, dass ein Kindprozess durch {name} endete; Container zeigen dasselbe Ende als "
        "{shell}.",
        "own_look": "seine letzten Zeilen vor dem Ende",
        "launcher": "Der Dienst sieht den Code des Starters (1 bei torchrun, 256-n bei DeepSpeed), nicht diesen.",
    },
}


class Likely(msgspec.Struct, frozen=True, kw_only=True):
    """A cause that an exit code can have, and what in the log would show it."""

    cause: str
    words: str
    look_for: str


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """A sign that decides what a kill was; the first that holds wins. `confidence`: certain, probable, weak."""

    evidence: str
    cause: str
    words: str
    confidence: str


class ExitExplanation(msgspec.Struct, frozen=True, kw_only=True):
    """What an exit code says. `signal` ended the process itself, `child_signal` a child of it.

    `service` is what the platform does about it. `flag` is `verified` or `inferred`, for the code's meaning.
    """

    code: str
    number: int | None
    signal: str | None
    child_signal: str | None
    meaning: str
    likely: tuple[Likely, ...]
    tell_apart: str
    telling: tuple[Telling, ...]
    kubernetes_reason: str
    service: str
    conventions: tuple[str, ...]
    flag: str
    sources: tuple[str, ...]


def signal_name(code: int, platform: str = "") -> str | None:
    """The signal that ended a process with this exit code; None if none did or it is not sure.

    Negative codes (Python) and 129–192 (shells, containers) name one everywhere; bare numbers (6, 9, 11, 15) only on AI
    Platform and Vertex AI, whose built-in containers report them so.
    """
    if code < 0:
        return _signals().get(-code)
    if 128 < code <= 192:
        return _signals().get(code - 128)
    bare = table_document("exit_codes")["built_in_container_signals"]["codes"]
    return _signals().get(code) if platform in _BARE_NUMBER_PLATFORMS and code in bare else None


def child_signal(code: int) -> str | None:
    """The signal that ended the child of a launcher which passed it on with sys.exit(-n), shown as 256-n; else None."""
    return _signals().get(256 - code) if 241 <= code <= 254 else None


def explain_exit(code: int | str, platform: str = "", lang: str = "en") -> ExitExplanation:
    """What an exit code, a signal's name or a Kubernetes reason means, its likely causes, and what the service does.

    Raises:
        UsageError: if it is none of these.
    """
    text = str(code).strip()
    reason = _reason(text, platform, lang)
    if reason is not None:
        return reason
    number = _number(text)
    table = table_document("exit_codes")
    row = _rows().get(number)
    base = row or _rows().get(128 - number if number < 0 else 384 - number if child_signal(number) else number, {})
    signal = signal_name(number, platform or "vertex")
    words = _TEXTS[lang if lang in _TEXTS else "en"]
    killed = signal in _KILLS or child_signal(number) in _KILLS
    return ExitExplanation(
        code=text,
        number=number,
        signal=signal,
        child_signal=child_signal(number),
        meaning=_meaning(number, row, base, words, lang),
        likely=_likely(base, lang) or (_own_choice(lang),),
        tell_apart=_text(base, "tell_apart", lang),
        telling=_telling(lang) if killed else (),
        kubernetes_reason=base.get("kubernetes_reason", "Error" if number > 0 else ""),
        service=words["launcher"] if number < 0 else _service(_kind(base, number), platform, lang),
        conventions=tuple(entry[lang if lang in entry else "en"] for entry in table["conventions"]),
        flag=base.get("flag", "inferred"),
        sources=_sources(base.get("source", ""), platform),
    )  # fmt: skip


@cache
def _signals() -> dict[int, str]:
    return {int(number): name for number, name in table_document("exit_codes")["signals"].items()}


@cache
def _rows() -> dict[int, dict[str, Any]]:
    table = table_document("exit_codes")
    return {row["code"]: row for row in (*table["codes"], *table["batch"])}


def _number(text: str) -> int:
    found = _FORMS.fullmatch(text)
    if found is None:
        name = text.upper() if text.upper().startswith("SIG") else f"SIG{text.upper()}"
        for number, signal in _signals().items():
            if signal == name:
                return 128 + number
        raise UsageError(f"{text!r} is no exit code, signal or reason that is known", advice=_ADVICE)
    number = int(found["code"])
    if found["second"] is not None:  # Slurm: exit code, then signal
        second = int(found["second"])
        number = 128 + second if number == 0 and 0 < second < 65 else number
    if not (-64 <= number <= 255 or 50000 <= number <= 50006):
        raise UsageError(f"{text} cannot be an exit code", advice=_ADVICE)
    return number


def _reason(text: str, platform: str, lang: str) -> ExitExplanation | None:
    table = table_document("exit_codes")
    for row in (*table["slurm"], *table["kubernetes_reasons"]):
        name = row.get("reason", row.get("code"))
        if name.casefold() != text.casefold():
            continue
        return ExitExplanation(
            code=name, number=None, signal=None, child_signal=None, meaning=_text(row, "meaning", lang), likely=(),
            tell_apart="", telling=(), kubernetes_reason=row.get("exit_code", ""),
            service=_service("any", platform or ("slurm" if "code" in row else "gke"), lang), conventions=(),
            flag=row["flag"], sources=_sources(row["source"], "gke"),
        )  # fmt: skip
    return None


def _meaning(number: int, row: dict[str, Any] | None, base: dict[str, Any], words: dict[str, str], lang: str) -> str:
    if row is not None:
        return _text(row, "meaning", lang)
    ended_by, of_child = signal_name(number), child_signal(number)
    if number < 0 and ended_by:
        return f"{words['negative'].format(name=ended_by, shell=128 - number)} {_text(base, 'meaning', lang)}".rstrip()
    if of_child:
        return words["child"].format(number=256 - number, name=of_child)
    if number < 0 or 128 < number <= 192:
        key = "signal" if ended_by else "unnamed"
        return words[key].format(number=-number if number < 0 else number - 128, name=ended_by)
    return words["own"]


def _likely(row: dict[str, Any], lang: str) -> tuple[Likely, ...]:
    return tuple(
        Likely(cause=one["cause"], words=_cause(one["cause"], lang), look_for=_text(one, "look_for", lang))
        for one in row.get("likely_causes", ())
    )


def _own_choice(lang: str) -> Likely:
    cause = "user_exception.*"
    return Likely(cause=cause, words=_cause(cause, lang), look_for=_TEXTS[lang if lang in _TEXTS else "en"]["own_look"])


def _telling(lang: str) -> tuple[Telling, ...]:
    return tuple(
        Telling(
            evidence=_text(row, "evidence", lang), cause=row["cause"], words=_cause(row["cause"], lang),
            confidence=row["confidence"],
        )
        for row in table_document("exit_codes")["kill_evidence"]
    )  # fmt: skip


def _cause(name: str, lang: str) -> str:
    words = table_document("exit_codes")["causes"][name]
    return str(words.get(lang, words["en"]))


def _kind(row: dict[str, Any], number: int) -> str:
    return str(row.get("service", "unlisted" if number > 128 else "permanent"))


def _service(kind: str, platform: str, lang: str) -> str:
    texts = table_document("exit_codes")["service"].get(_SERVICE.get(platform, ""), {})
    words = texts.get(kind) or texts.get("any") or {}
    return str(words.get(lang, words.get("en", "")))


def _text(row: dict[str, Any], key: str, lang: str) -> str:
    return str((row.get(f"{key}_{lang}") if lang != "en" else None) or row.get(key) or "")


def _sources(cell: str, platform: str) -> tuple[str, ...]:
    parts = [part.strip() for part in cell.split(" ; ") if part.strip()]
    if platform in ("", *_BARE_NUMBER_PLATFORMS) and cell:
        parts += [part.strip() for part in table_document("exit_codes")["service_source"].split(" ; ")]
    return tuple(dict.fromkeys(parts))
