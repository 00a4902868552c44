"""A machine's memory as a bar: what the job may use, what the platform keeps, and how far the job went."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from analyzer.model.diagnosis import Memory
from analyzer.report.language import Language

_PART = Markup('<rect class="{}" x="{:.2f}%" y="14" width="{:.2f}%" height="20"><title>{}</title></rect>')
_LINE = Markup(
    '<svg x="{:.2f}%" overflow="visible"><g class="{}"><path d="M0 8v32"/>'
    '<text x="{}" y="{}" text-anchor="{}">{}</text></g></svg>'
)


class MemoryBar(NamedTuple):
    """The drawing, its short description, and the figures as text."""

    drawing: Markup | None
    told: str
    figures: list[tuple[str, str]]

    @classmethod
    def of(cls, memory: Memory, words: Language) -> MemoryBar:
        """The bar of these figures; without a capacity or a limit there is nothing to draw."""
        say = words.say
        named = [
            (say("capacity of the machine"), memory.capacity_gib),
            (say("the platform's share"), _difference(memory.capacity_gib, memory.allocatable_gib)),
            (say("usable by the job"), memory.allocatable_gib),
            (say("usable, at the least"), memory.usable_low_gib),
            (say("limit of the container"), memory.limit_gib),
            (say("peak seen or asked for"), memory.observed_peak_gib),
            (say("memory of an accelerator"), memory.accelerator_memory_gib),
        ]
        figures = [(name, words.gib(value)) for name, value in named if value is not None]
        whole = memory.capacity_gib or memory.limit_gib
        told = ", ".join(f"{name} {value}" for name, value in figures)
        return cls(_drawn(memory, whole, words) if whole else None, told, figures)


def _drawn(memory: Memory, whole: float, words: Language) -> Markup:
    longest = max(whole, memory.observed_peak_gib or 0.0, memory.limit_gib or 0.0) * 1.001
    usable = min(memory.allocatable_gib if memory.allocatable_gib is not None else whole, whole)
    sure = min(memory.usable_low_gib if memory.usable_low_gib is not None else usable, usable)
    parts = [
        (name, start, end)
        for name, start, end in (("sure", 0.0, sure), ("likely", sure, usable), ("platform", usable, whole))
        if end > start
    ]
    titles = {
        "sure": words.say("usable by the job"), "likely": words.say("usable, not at all times"),
        "platform": words.say("the platform's share"),
    }  # fmt: skip
    drawn = [
        _PART.format(
            name, 100 * start / longest, 100 * (end - start) / longest, f"{titles[name]}: {words.gib(end - start)}"
        )
        for name, start, end in parts
    ]
    if memory.limit_gib is not None:
        drawn.append(
            _line("limit", memory.limit_gib / longest, f"{words.say('limit')} {words.gib(memory.limit_gib)}", 51)
        )
    if memory.observed_peak_gib is not None:
        drawn.append(
            _line(
                "peak",
                memory.observed_peak_gib / longest,
                f"{words.say('peak')} {words.gib(memory.observed_peak_gib)}",
                7,
            )
        )
    return Markup("").join(drawn)


def _line(kind: str, place: float, text: str, height: int) -> Markup:
    left = place > 0.5
    return _LINE.format(100 * place, kind, -6 if left else 6, height + 3, "end" if left else "start", text)


def _difference(whole: float | None, part: float | None) -> float | None:
    return None if whole is None or part is None or part > whole else whole - part
