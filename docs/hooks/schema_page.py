"""The JSON reference out of the shipped schema: a section a struct, a row a field."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from site_markup import block, code, codes, table, text, with_generated

from analyzer.resources import data_folder

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

PAGE = "reference/json.md"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Puts the structs into the page."""
    return with_generated(markdown, "schema", sections()) if page.file.src_uri == PAGE else markdown


def sections() -> str:
    """All structs, the report first, then by name."""
    schema = json.loads((data_folder("reports") / "diagnosis.schema.json").read_text(encoding="utf-8"))
    first = schema["$ref"].rsplit("/", 1)[1]
    names = sorted(schema["$defs"], key=lambda name: (name != first, name))
    return "\n\n".join(part for name in names for part in _section(name, schema["$defs"][name]))


def _section(name: str, definition: dict[str, Any]) -> list[str]:
    parts = [f"<p>{text(definition.get('description', ''))}</p>"]
    if "enum" in definition:
        parts.append(f"<p>One of {codes(definition['enum'])}.</p>")
    else:
        rows = [[code(field), type_of(value)] for field, value in definition["properties"].items()]
        parts.append(table(["field", "value"], rows))
    return [f"### {name} {{ #{name} }}", block(*parts)]


def type_of(value: dict[str, Any]) -> str:
    """The type of a field in words, with links to the structs that it names."""
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[1]
        return f'<a href="#{name}">{text(name)}</a>'
    if "anyOf" in value:
        return " or ".join(map(type_of, value["anyOf"]))
    kind = value.get("type", "any")
    if kind == "array":
        return f"list of {type_of(value.get('items', {}))}"
    if kind == "object":
        return f"object, each value {type_of(value.get('additionalProperties', {}))}"
    if value.get("format") == "date-time":
        return "time (RFC 3339, UTC)"
    bounds = [str(value[bound]) for bound in ("minimum", "maximum") if bound in value]
    return text(" ".join([kind, *([f"from {' to '.join(bounds)}"] if len(bounds) == 2 else [])]))
