"""Keeps the catalogues of the reports' texts current: `python -m analyzer.report.catalogue [--check]`.

For those who work on the program; needs Babel for the file formats. Texts are found in the syntax trees of the modules
and templates, and not by Babel's own reader, which before Python 3.12 does not see a call inside an f-string.
"""

from __future__ import annotations

import ast
import gettext
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from jinja2.ext import extract_from_ast

from analyzer.report.language import DOMAIN, LANGUAGES
from analyzer.resources import data_folder

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

_CALLS = ("say", "count", "mark")
_SOMETIME = datetime(2026, 1, 1, tzinfo=UTC)  # a real date would change the files without any change of texts

Text = str | tuple[str, str]


def texts() -> list[Text]:
    """Every text that the reports may say, singular and plural as a pair, sorted, each once."""
    found: set[Text] = set()
    for module in Path(__file__).parent.glob("*.py"):
        found.update(_in_module(module.read_text(encoding="utf-8")))
    for template in data_folder("reports").glob("*.j2"):
        found.update(_in_template(template.read_text(encoding="utf-8")))
    return sorted(found, key=lambda text: (text,) if isinstance(text, str) else text)


def catalogue_file(lang: str, suffix: str) -> Path:
    """Where the catalogue of a language stands, as text (`po`) or compiled (`mo`)."""
    return data_folder("reports") / "locale" / lang / "LC_MESSAGES" / f"{DOMAIN}.{suffix}"


def current(lang: str) -> tuple[Catalog, bytes, bytes]:
    """The language's catalogue with today's texts, and both files as they should be."""
    from babel.messages.catalog import Catalog
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po, write_po

    template = Catalog(fuzzy=False)
    for text in texts():
        template.add(text)
    po = catalogue_file(lang, "po")
    catalogue = read_po(BytesIO(po.read_bytes()), locale=lang) if po.is_file() else Catalog(locale=lang, fuzzy=False)
    catalogue.update(template, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    catalogue.creation_date = catalogue.revision_date = _SOMETIME
    as_text, compiled = BytesIO(), BytesIO()
    write_po(as_text, catalogue, sort_output=True, width=0, omit_header=False)
    write_mo(compiled, catalogue)
    return catalogue, as_text.getvalue(), compiled.getvalue()


def untranslated(catalogue: Catalog) -> list[str]:
    """The texts that the catalogue has no words for."""
    missing = []
    for message in catalogue:
        words = message.string if isinstance(message.string, tuple) else (message.string,)
        if message.id and (message.fuzzy or not all(words)):
            missing.append(str(message.id))
    return missing


def _in_module(source: str) -> Iterator[Text]:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        words = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        yield from _called(name, [word for word in words if isinstance(word, str)])


def _in_template(source: str) -> Iterator[Text]:
    tree = jinja2.Environment(autoescape=True).parse(source)
    for _, name, words in extract_from_ast(tree, _CALLS):
        listed = words if isinstance(words, tuple) else (words,)
        yield from _called(name, [word for word in listed if isinstance(word, str)])


def _called(name: str, words: list[str]) -> Iterator[Text]:
    if name == "count" and len(words) >= 2:
        yield words[0], words[1]
    elif name in ("say", "mark") and words:
        yield words[0]


def is_current(lang: str) -> bool:
    """Whether both files of the language say what they should; which Babel wrote them does not matter."""
    po, mo = catalogue_file(lang, "po"), catalogue_file(lang, "mo")
    _, as_text, compiled = current(lang)
    if not po.is_file() or not mo.is_file():
        return False
    same_text = _without_generator(po.read_bytes()) == _without_generator(as_text)
    return same_text and _said(mo.read_bytes()) == _said(compiled)


def _without_generator(content: bytes) -> list[bytes]:
    return [line for line in content.splitlines() if b"Generated-By:" not in line]


def _said(compiled: bytes) -> list[str]:
    translations = gettext.GNUTranslations(BytesIO(compiled))
    words = []
    for text in texts():
        one, many = (text, text) if isinstance(text, str) else text
        words += [translations.gettext(one)] if one == many else [translations.ngettext(one, many, n) for n in (1, 2)]
    return words


def main(arguments: list[str]) -> int:
    """Writes the catalogues anew, or with `--check` only says whether they are current and complete."""
    wrong = 0
    for lang in LANGUAGES[1:]:
        catalogue, as_text, compiled = current(lang)
        for text in untranslated(catalogue):
            print(f"{lang}: no words for {text!r}")
            wrong = 1
        if "--check" in arguments:
            if not is_current(lang):
                print(f"{lang}: the catalogue is not current; run python -m analyzer.report.catalogue")
                wrong = 1
            continue
        for suffix, content in (("po", as_text), ("mo", compiled)):
            path = catalogue_file(lang, suffix)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
