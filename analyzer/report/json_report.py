"""The machine's form: one JSON object, and the schema that describes it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, cast

import msgspec

from analyzer.errors import NothingToDiagnose
from analyzer.model.diagnosis import CATEGORIES, OUTCOMES, RETRY_ADVICE, SCHEMA_VERSION, Diagnosis, Report
from analyzer.model.instant import Instant
from analyzer.model.order import in_order
from analyzer.model.timeline import END_REASONS_BESIDE_CATEGORIES, RUN_REASONS
from analyzer.report.neutral import escaped_json, without_lone_surrogates

SCHEMA_ID = f"https://example.invalid/training-job-analyzer/diagnosis-{SCHEMA_VERSION}.schema.json"

# Where the closed lists stand: (struct, field) → the name of its list.
_CLOSED_LISTS = {
    ("Diagnosis", "outcome"): "Outcome",
    ("Diagnosis", "category"): "Category",
    ("Alternative", "category"): "Category",
    ("RuledOut", "category"): "Category",
    ("Retry", "advice"): "RetryAdvice",
    ("Run", "reason"): "RunReason",
    ("Attempt", "end_reason"): "EndReason",
}
_LISTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Outcome": ("How the job stands.", OUTCOMES),
    "Category": ("Who has to act: the family of the cause.", CATEGORIES),
    "RetryAdvice": ("Whether, and after what, trying again helps.", RETRY_ADVICE),
    "RunReason": ("How one run of a replica ended.", RUN_REASONS),
    "EndReason": (
        "How an attempt ended: a category, or one of its own words.",
        (*CATEGORIES, *END_REASONS_BESIDE_CATEGORIES),
    ),
}


def to_builtins(diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis as the JSON contract has it, in dicts, lists, numbers and text; times are RFC 3339 text."""
    return cast(dict[str, Any], msgspec.to_builtins(diagnosis, enc_hook=_instant_to_text))


def render_json(report: Report) -> str:
    """The report as indented JSON, failed jobs first; equal reports give equal text.

    Characters that a terminal or an editor would obey (C1 controls, bidirectional and zero-width marks) are written
    as `\\u` escapes, which every JSON reader turns back into the same text.
    """
    ordered = msgspec.structs.replace(report, diagnoses=in_order(report.diagnoses))
    try:
        encoded = msgspec.json.encode(ordered, enc_hook=_instant_to_text)
    except UnicodeEncodeError:  # half of a surrogate pair, from an input that was cut inside a character
        encoded = msgspec.json.encode(without_lone_surrogates(msgspec.to_builtins(ordered, enc_hook=_instant_to_text)))
    text = msgspec.json.format(encoded, indent=2).decode()
    return escaped_json(text) + "\n"


def load_report(data: bytes, where: str | None = None) -> Report:
    """The report that `render_json` wrote, or that an earlier version wrote with fewer fields.

    `where` names the file in an error.

    Raises:
        NothingToDiagnose: if the bytes are no such report.
    """
    try:
        report = msgspec.json.decode(data, type=Report, dec_hook=_text_to_instant)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NothingToDiagnose(
            f"this is no saved diagnosis ({error})", where=where, advice="give a file written by --format json"
        ) from error
    if word := next(_unknown_words(report), None):
        raise NothingToDiagnose(
            f"this is no saved diagnosis ({word[0]} {word[1]!r} is not known)", where=where,
            advice="give a file written by --format json",
        )  # fmt: skip
    if report.schema_version > SCHEMA_VERSION:
        raise NothingToDiagnose(
            f"the saved diagnosis has schema version {report.schema_version}, newer than {SCHEMA_VERSION}",
            where=where,
            advice="render it with the program's version that wrote it, or update",
        )
    return report


def _unknown_words(value: object) -> Iterator[tuple[str, str]]:
    """Words, with the names of their fields, that are none of the closed list that they are from."""
    if isinstance(value, list):
        for item in value:
            yield from _unknown_words(item)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            item = getattr(value, name)
            listed = _CLOSED_LISTS.get((type(value).__name__, name))
            if listed is None:
                yield from _unknown_words(item)
            elif item is not None and item not in _LISTS[listed][1]:
                yield name, item


@lru_cache(maxsize=1)
def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of what `render_json` writes: every field is there, an unknown value is null."""
    schema = msgspec.json.schema(Report, schema_hook=_instant_schema)
    definitions: dict[str, Any] = schema["$defs"]
    for name, definition in definitions.items():
        _describe(name, definition)
    for name, (meaning, words) in _LISTS.items():
        definitions[name] = {"title": name, "description": meaning, "enum": list(words)}
    definitions["Diagnosis"]["properties"]["confidence"] |= {"minimum": 0, "maximum": 1}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, "title": "Diagnosis report"}
    return {**head, "$ref": schema["$ref"], "$defs": dict(sorted(definitions.items()))}


def _describe(name: str, definition: dict[str, Any]) -> None:
    """What msgspec cannot know: that every field is always written, and which texts come from a closed list."""
    properties: dict[str, Any] = definition["properties"]
    definition["required"] = list(properties)
    for field in properties:
        if listed := _CLOSED_LISTS.get((name, field)):
            known = {"$ref": f"#/$defs/{listed}"}
            nullable = "anyOf" in properties[field]
            properties[field] = {"anyOf": [known, {"type": "null"}]} if nullable else known
        else:
            properties[field].pop("default", None)


def _instant_to_text(value: object) -> str:
    if isinstance(value, Instant):
        return str(value)
    raise NotImplementedError(type(value).__name__)


def _text_to_instant(wanted: type, value: object) -> Instant:
    if wanted is not Instant:
        raise NotImplementedError(wanted.__name__)
    instant = Instant.parse(value)
    if instant is None:
        raise ValueError(f"not a time: {value!r}")
    return instant


def _instant_schema(wanted: type) -> dict[str, str]:
    if wanted is not Instant:
        raise NotImplementedError(wanted.__name__)
    return {"type": "string", "format": "date-time"}
