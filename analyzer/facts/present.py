"""What `diagnose memory` and `diagnose exit-code` answer: a plain value for JSON, and a text of it for a terminal."""

from __future__ import annotations

import textwrap
from typing import Any

import msgspec

from analyzer.errors import UsageError
from analyzer.facts.exit_codes import explain_exit
from analyzer.facts.machine_types import Machine, all_machines, machine, nearest_machines, smallest_machines
from analyzer.facts.memory import memory_facts
from analyzer.facts.sizes import gib, show_gib

PLATFORMS = ("vertex", "ai_platform", "gke", "batch", "slurm")

_SOURCES = (
    "https://cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes",
    "https://cloud.google.com/ai-platform/training/docs/understanding-training-service",
    "https://docs.cloud.google.com/gemini-enterprise-agent-platform/machine-learning/training/configure-compute",
)

_WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "columns": ("Machine type", "vCPU", "Memory", "Allocatable", "At least", "Documented", "Accelerators"),
        "legend": {
            "Memory": "All in GiB.",
            "Allocatable": "Allocatable: what pods of a GKE node can have (estimate).",
            "At least": "At least: what a program can count on under AI Platform and Vertex AI (inferred).",
            "Documented": "Documented: an older table of the documentation.",
        },
        "fits": "A peak of {peak} GiB fits {name}.",
        "not": "A peak of {peak} GiB does not fit {name} safely.",
        "smallest": "The smallest types that hold it:",
        "no_type": "No known type with the same accelerators holds it.",
        "stands": "{name} stands for {stands}.",
        "code": "Exit code {code}",
        "child": "child ended by {signal}",
        "likely": "What usually causes it",
        "look": "look for: ",
        "tell": "How to tell them apart",
        "first": "How to tell them apart: the first sign that holds decides",
        "service": {
            "": "What AI Platform and Vertex AI do", "vertex": "What Vertex AI does",
            "ai_platform": "What AI Platform does", "gke": "What Kubernetes does", "batch": "What Batch does",
            "slurm": "What Slurm does",
        },
        "kubernetes": "Reason that Kubernetes shows: ",
        "exit": "Exit code with it: ",
        "memory": "Memory of the machine",
        "sources": "Sources",
        "inferred": "The meaning is inferred, not stated by a source.",
        "confidence": {"certain": "certain", "probable": "probable", "weak": "weak"},
    },
    "de": {
        "columns": ("Maschinentyp", "vCPU", "Speicher", "Zuteilbar", "Mindestens", "Dokumentiert", "Beschleuniger"),
        "legend": {
            "Speicher": "Alles in GiB.",
            "Zuteilbar": "Zuteilbar: was Pods eines GKE-Knotens bekommen können (Schätzung).",
            "Mindestens": "Mindestens: womit ein Programm unter AI Platform und Vertex AI rechnen kann (abgeleitet).",
            "Dokumentiert": "Dokumentiert: eine ältere Tabelle der Dokumentation.",
        },
        "fits": "Ein Spitzenbedarf von {peak} GiB passt auf {name}.",
        "not": "Ein Spitzenbedarf von {peak} GiB passt nicht sicher auf {name}.",
        "smallest": "Die kleinsten Typen, die ihn fassen:",
        "no_type": "Kein bekannter Typ mit denselben Beschleunigern fasst ihn.",
        "stands": "{name} steht für {stands}.",
        "code": "Exit-Code {code}",
        "child": "Kindprozess durch {signal} beendet",
        "likely": "Was meist dahintersteckt",
        "look": "suchen nach: ",
        "tell": "Wie es sich unterscheiden lässt",
        "first": "Wie es sich unterscheiden lässt: Das erste zutreffende Zeichen entscheidet",
        "service": {
            "": "Was AI Platform und Vertex AI tun", "vertex": "Was Vertex AI tut",
            "ai_platform": "Was AI Platform tut", "gke": "Was Kubernetes tut", "batch": "Was Batch tut",
            "slurm": "Was Slurm tut",
        },
        "kubernetes": "Grund, den Kubernetes zeigt: ",
        "exit": "Exit-Code dazu: ",
        "memory": "Speicher der Maschine",
        "sources": "Quellen",
        "inferred": "Die Bedeutung ist abgeleitet, keine Quelle nennt sie ausdrücklich.",
        "confidence": {"certain": "sicher", "probable": "wahrscheinlich", "weak": "schwach"},
    },
}  # fmt: skip


def memory_view(
    machine_type: str, peak: str | None = None, platform: str | None = None, lang: str = "en"
) -> dict[str, Any]:
    """The allocatable-memory table of a machine type's series and, with a peak (`13GiB`), the types that hold it.

    Without a platform it is Vertex AI where that has the type, else AI Platform, else a GKE node.

    Raises:
        UsageError: for a type that is not known, with the nearest names, or a peak that is no amount.
    """
    asked = _known_machine(machine_type)
    peak_gib = _amount(peak)
    on = platform or ("vertex" if asked.on_vertex else "ai_platform" if asked.on_ai_platform else "gke")
    usable = asked.usable_gib(on)
    fits = None if peak_gib is None or usable is None else usable >= peak_gib
    holding = [] if peak_gib is None else smallest_machines(peak_gib, on, like=asked)
    series = [one for one in all_machines() if one.series == asked.series and one.memory_gib is not None]
    return {
        "machine_type": asked.name,
        "platform": on,
        "stands_for": asked.stands_for,
        "basis": memory_facts(asked.name, on, lang=lang).basis,
        "table": [_row(one) for one in sorted(series, key=lambda one: one.memory_gib or 0) or [asked]],
        "peak_gib": peak_gib,
        "fits": fits,
        "suggestions": [_row(one) for one in holding],
        "sources": list(_SOURCES),
    }


def memory_text(view: dict[str, Any], lang: str = "en", width: int = 100) -> str:
    """A memory view as text, with the asked type marked by `>`."""
    words = _WORDS.get(lang, _WORDS["en"])
    lines = _wrapped(view["basis"], width)
    if view["stands_for"]:
        lines += _wrapped(words["stands"].format(name=view["machine_type"], stands=view["stands_for"]), width)
    table = _table(view["table"], words, lang, view["machine_type"])
    legend = " ".join(text for column, text in words["legend"].items() if column in table[0])
    lines += ["", *table, "", *_wrapped(legend, width)]
    if view["peak_gib"] is not None:
        verdict = words["fits" if view["fits"] else "not"]
        peak = show_gib(view["peak_gib"], lang)
        lines += ["", *_wrapped(verdict.format(peak=peak, name=view["machine_type"]), width)]
        if view["suggestions"]:
            lines += [words["smallest"], "", *_table(view["suggestions"], words, lang, None)]
        else:
            lines.append(words["no_type"])
    return "\n".join([*lines, "", words["sources"], *(f"  {url}" for url in view["sources"]), ""])


def exit_view(code: str, machine_type: str | None = None, platform: str = "", lang: str = "en") -> dict[str, Any]:
    """What an exit code, signal or Kubernetes reason means; with a machine type also what memory the machine has.

    Raises:
        UsageError: for what is no exit code, or a machine type or platform that is not known.
    """
    if platform not in ("", *PLATFORMS):
        raise UsageError(f"{platform!r} is no platform", advice=f"give one of {', '.join(PLATFORMS)}")
    view: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(explain_exit(code, platform, lang)))
    view["platform"] = platform or None
    host = _known_machine(machine_type) if machine_type else None
    view["memory"] = msgspec.to_builtins(memory_facts(host.name, platform or "vertex", lang=lang)) if host else None
    return view


def exit_text(view: dict[str, Any], lang: str = "en", width: int = 100) -> str:
    """An exit view as text."""
    words = _WORDS.get(lang, _WORDS["en"])
    lines = [_heading(view, words), "", *_wrapped(view["meaning"], width)]
    if view["flag"] == "inferred":
        lines += _wrapped(words["inferred"], width)
    if view["likely"]:
        lines += ["", words["likely"]]
        for one in view["likely"]:
            lines += _wrapped(f"{one['words']} ({one['cause']})", width, "  - ")
            if one["look_for"] and not view["telling"]:
                lines += _wrapped(words["look"] + one["look_for"], width, "    ")
    if view["telling"]:
        lines += ["", words["first"]]
        for place, sign in enumerate(view["telling"], start=1):
            ending = f"{sign['words']} ({words['confidence'][sign['confidence']]})"
            lines += _wrapped(f"{sign['evidence']} → {ending}", width, f"  {place:>2}. ")
    if view["tell_apart"]:
        lines += ["", words["tell"], *_wrapped(view["tell_apart"], width, "  ")]
    lines += ["", words["service"][_speaker(view)], *_wrapped(view["service"], width, "  ")]
    if view["kubernetes_reason"]:
        label = words["kubernetes" if view["number"] is not None else "exit"]
        lines += ["", *_wrapped(label + view["kubernetes_reason"], width)]
    if view["memory"]:
        lines += ["", words["memory"], *_wrapped(view["memory"]["basis"], width, "  ")]
    sources = ["", words["sources"], *(f"  {source}" for source in view["sources"])] if view["sources"] else []
    return "\n".join([*lines, *sources, ""])


def _speaker(view: dict[str, Any]) -> str:
    if view["platform"] in PLATFORMS:
        return str(view["platform"])
    if view["number"] is None:
        return "slurm" if view["code"][0].isdecimal() else "gke"
    return ""


def _heading(view: dict[str, Any], words: dict[str, Any]) -> str:
    parts = [view["code"] if view["number"] is None else words["code"].format(code=view["code"])]
    if view["signal"]:
        parts.append(view["signal"])
    if view["child_signal"]:
        parts.append(words["child"].format(signal=view["child_signal"]))
    return " · ".join(parts)


def _known_machine(name: str) -> Machine:
    found = machine(name)
    if found is None:
        near = nearest_machines(name)
        advice = f"did you mean {', '.join(near)}?" if near else "give a name like n1-standard-4 or n2-custom-8-32768"
        raise UsageError(f"{name!r} is no machine type that is known", advice=advice)
    return found


def _amount(peak: str | None) -> float | None:
    if peak is None:
        return None
    amount = gib(peak)
    if amount is None or amount <= 0:
        raise UsageError(f"{peak!r} is no amount of memory", advice="write it like 13GiB or 13312MiB")
    return amount


def _row(one: Machine) -> dict[str, Any]:
    sizes = {
        "capacity_gib": one.memory_gib, "allocatable_gib": one.allocatable_gib, "usable_low_gib": one.usable_low_gib,
        "documented_gib": one.documented_gib,
    }  # fmt: skip
    return {
        "machine_type": one.name,
        "vcpus": one.vcpus,
        **{name: None if size is None else round(size, 2) for name, size in sizes.items()},
        "accelerator": one.accelerator,
        "accelerator_count": one.accelerator_count if one.accelerator else None,
    }


def _table(rows: list[dict[str, Any]], words: dict[str, Any], lang: str, marked: str | None) -> list[str]:
    sizes = ("capacity_gib", "allocatable_gib", "usable_low_gib", "documented_gib")
    cells = [words["columns"]]
    for row in rows:
        count = f"{row['accelerator_count']:g} x " if row["accelerator_count"] else ""
        cpus = "" if row["vcpus"] is None else f"{row['vcpus']:g}"
        device = f"{count}{row['accelerator']}" if row["accelerator"] else ""
        cells.append((row["machine_type"], cpus, *(show_gib(row[size], lang) for size in sizes), device))
    used = [place for place in range(len(cells[0])) if any(line[place] for line in cells[1:])]
    widths = {place: max(len(line[place]) for line in cells) for place in used}
    lines = []
    for line in cells:
        fields = (line[at].ljust(widths[at]) if at in (0, len(line) - 1) else line[at].rjust(widths[at]) for at in used)
        lines.append((("> " if line[0] == marked else "  ") + "  ".join(fields)).rstrip())
    return lines


def _wrapped(text: str, width: int, lead: str = "") -> list[str]:
    return textwrap.wrap(
        text, max(width, 40), initial_indent=lead, subsequent_indent=" " * len(lead), break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
