"""Texts of rules, schemas and commands as HTML: they hold pipes, backticks, brackets and expressions.

Generated parts are blocks of HTML, in which nothing is Markdown, so that a text renders as exactly that text. A page of
the docs says where its generated part goes by a comment: `<!-- generated: name -->`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import urlsplit


def text(value: str) -> str:
    """A text on one line."""
    return escape(" ".join(value.split()))


def code(value: str) -> str:
    """A text as code within a line."""
    return f"<code>{text(value)}</code>"


def codes(values: Iterable[str]) -> str:
    """Several words of code."""
    return ", ".join(map(code, values))


def listing(value: str, searched: bool = True) -> str:
    """A text as a block of code with its line ends; `searched`: whether the site's search looks into it."""
    return f"<pre{'' if searched else ' data-search-exclude'}><code>{escape(value)}</code></pre>"


def link(address: str) -> str:
    """A link to a source, shown as its address; only a web address becomes one."""
    if urlsplit(address).scheme not in ("http", "https"):
        return text(address)
    return f'<a href="{escape(address)}">{text(address)}</a>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already."""
    first = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{first}</tr></thead><tbody>{body}</tbody></table>"


def block(*parts: str) -> str:
    """Parts as one block of HTML of a Markdown page."""
    return "<div>" + "".join(parts) + "</div>"


def with_generated(markdown: str, name: str, generated: str) -> str:
    """A page with its generated part in place.

    Raises:
        ValueError: if the page has no place for it.
    """
    mark = f"<!-- generated: {name} -->"
    if mark not in markdown:
        raise ValueError(f"the page lacks the line {mark}")
    return markdown.replace(mark, generated)
