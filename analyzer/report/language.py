"""The reports' own words in English and German, by gettext. Texts of rules come in the language of the diagnosis."""

from __future__ import annotations

import gettext
from functools import lru_cache

from analyzer.model.instant import Instant
from analyzer.model.timeline import Restarts
from analyzer.resources import data_folder

LANGUAGES = ("en", "de")
DOMAIN = "report"


def mark(text: str) -> str:
    """Marks a text for the catalogues; it is translated where it is used."""
    return text


CATEGORY_NAMES = {
    "success": mark("success"),
    "user_exception": mark("error in the training program"),
    "out_of_memory": mark("out of memory"),
    "stockout": mark("no capacity"),
    "internal": mark("internal error of the service"),
    "quota": mark("quota"),
    "permission": mark("permission"),
    "image": mark("container image"),
    "configuration": mark("configuration"),
    "preemption": mark("machine taken away"),
    "hardware": mark("hardware"),
    "network": mark("network"),
    "storage": mark("storage"),
    "timeout": mark("timeout"),
    "cancelled": mark("cancelled"),
    "unknown": mark("cause not known"),
}
OUTCOME_NAMES = {
    "failed": mark("Failed"),
    "succeeded": mark("Succeeded"),
    "cancelled": mark("Cancelled"),
    "running": mark("Running"),
    "unknown": mark("Outcome not known"),
}
RETRY_NAMES = {
    "as_is": mark("Start it again as it is"),
    "elsewhere": mark("Start it again elsewhere"),
    "after_fix": mark("Start it again after the fix"),
    "after_quota": mark("Start it again once the quota allows"),
    "never": mark("Do not start it again"),
}
END_NAMES = {
    **CATEGORY_NAMES,
    "crash": mark("crash"),
    "restarts_exhausted": mark("restarts used up"),
}
# What became of one run: one sign (colour is never alone), one word.
RUN_SIGNS = {
    "completed": "✓", "error": "✕", "oom": "M", "crash": "C", "retryable": "R", "cascade": "↯",
    "maintenance": "W", "preempted": "P", "stopped": "S", "running": "▸", "unknown": "?",
}  # fmt: skip
RUN_NAMES = {
    "completed": mark("completed"),
    "error": mark("ended with an error"),
    "oom": mark("ran out of memory"),
    "crash": mark("crashed"),
    "retryable": mark("failed, started again"),
    "cascade": mark("died after a peer died"),
    "maintenance": mark("moved for maintenance"),
    "preempted": mark("preempted"),
    "stopped": mark("stopped by the service"),
    "running": mark("still running"),
    "unknown": mark("end not known"),
}
PLATFORM_NAMES = {
    "ai_platform": "AI Platform Training", "vertex": "Vertex AI", "gke": "GKE", "batch": "Batch", "tpu": "Cloud TPU",
    "slurm": "Slurm", "compute": "Compute Engine", "local": mark("local"),
}  # fmt: skip


class Language:
    """A language of the reports: `say` for texts, `count` for texts with a number, and its ways with figures."""

    def __init__(self, code: str) -> None:
        self.code = code
        folder = data_folder("reports") / "locale"
        self._catalogue = gettext.translation(DOMAIN, folder, [code], fallback=code == "en")

    def say(self, text: str, **values: object) -> str:
        """The text in this language, `{name}` filled with the values."""
        found = self._catalogue.gettext(text) if text else ""
        return found.format(**values) if values else found

    def count(self, one: str, many: str, number: int, **values: object) -> str:
        """The text for so many things; `{number}` is the number."""
        return self._catalogue.ngettext(one, many, number).format(number=self.number(number), **values)

    def number(self, value: float, digits: int = 0) -> str:
        """A number with so many decimals at most: `12,400.5`, in German `12.400,5`."""
        text = f"{value:,.{digits}f}"
        if digits:
            text = text.rstrip("0").rstrip(".")
        return text if self.code == "en" else text.translate(str.maketrans(",.", ".,"))

    def gib(self, value: float | None) -> str:
        """An amount of memory, given in GiB."""
        if value is None:
            return "–"
        digits = 0 if value >= 100 else 1 if value >= 1 else 2
        return f"{self.number(value, digits)} GiB"

    def seconds(self, value: float | None) -> str:
        """A duration by its two largest units: `3 d 4 h`, `6 min 50 s`, `0.4 s`."""
        if value is None:
            return "–"
        if value < 10:
            return f"{self.number(max(value, 0), 1)} s"
        whole = round(value)
        for (size, unit), (smaller, part) in (
            ((86_400, "d"), (3_600, "h")),
            ((3_600, "h"), (60, "min")),
            ((60, "min"), (1, "s")),
        ):
            if whole >= size:
                rest = whole % size // smaller
                return f"{whole // size} {unit}" + (f" {rest} {part}" if rest else "")
        return f"{whole} s"

    def moment(self, when: Instant | None) -> str:
        """Day and time to the second, UTC: `2026-03-11 08:21:09 UTC`."""
        return "–" if when is None else str(when)[:19].replace("T", " ") + " UTC"

    def span(self, start: Instant, end: Instant) -> str:
        """From when to when, UTC; the day once where it is the same."""
        until = f"{clock(end)} UTC" if str(start)[:10] == str(end)[:10] else self.moment(end)
        return f"{self.moment(start).removesuffix(' UTC')} – {until}"

    def restart_kinds(self, restarts: Restarts) -> list[tuple[str, int]]:
        """The kinds of restart that occurred, in words, with their numbers."""
        named = [
            (self.say("in place"), restarts.in_place), (self.say("on another machine"), restarts.moved),
            (self.say("after the end was sealed"), restarts.doomed),
            (self.say("of the whole job"), restarts.job_retries),
        ]  # fmt: skip
        return [(name, number) for name, number in named if number]

    def share(self, value: float) -> str:
        """A share of one in percent."""
        return f"{round(100 * value)} %"


@lru_cache(maxsize=len(LANGUAGES))
def language(code: str) -> Language:
    """The language with that code; English for one that there is no catalogue for."""
    return Language(code if code in LANGUAGES else "en")


def clock(when: Instant | None, digits: int = 0) -> str:
    """The time of day, UTC, with so many decimals of a second: `08:21:09.500`."""
    if when is None:
        return ""
    text = str(when)
    fraction = text[20:-1].ljust(9, "0")[:digits] if digits else ""
    return text[11:19] + (f".{fraction}" if fraction else "")
