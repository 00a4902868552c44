"""The catalogues hold every text of the reports."""

from __future__ import annotations

import gettext
from io import BytesIO
from string import Formatter

import pytest

from analyzer.report.catalogue import catalogue_file, current, is_current, texts, untranslated
from analyzer.report.language import LANGUAGES, Language, language

pytest.importorskip("babel", reason="Babel is not installed, the catalogues go unchecked")


@pytest.mark.parametrize("lang", LANGUAGES[1:])
def test_the_catalogue_is_complete_and_current(lang: str) -> None:
    """Every text has words, no text is left over, and the compiled file says the same."""
    catalogue, _, _ = current(lang)
    assert untranslated(catalogue) == []
    assert is_current(lang)


@pytest.mark.parametrize("lang", LANGUAGES[1:])
def test_translations_keep_the_placeholders(lang: str) -> None:
    """`{name}` of a text stands in its translation, and no other."""
    found = gettext.GNUTranslations(BytesIO(catalogue_file(lang, "mo").read_bytes()))
    for text in texts():
        pairs = (
            [(text, found.gettext(text))]
            if isinstance(text, str)
            else [(text[n - 1], found.ngettext(*text, n)) for n in (1, 2)]
        )
        for words, translated in pairs:
            assert _placeholders(words) == _placeholders(translated), words


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_a_text_of_a_template_and_one_in_an_f_string_are_found() -> None:
    """The reader of texts sees modules and templates alike."""
    assert {"Skip to the diagnosis", "Ruled out", ("{number} job", "{number} jobs")} <= set(texts())


def test_an_unknown_language_is_english() -> None:
    """A language without a catalogue does not break a report."""
    assert language("fr").code == "en"
    assert Language("en").say("Failed") == "Failed"
