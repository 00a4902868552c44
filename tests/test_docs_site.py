"""The documentation as a site: it builds without a warning, loads nothing from elsewhere, and leaves nothing out."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from analyzer.cli.main import app
from analyzer.resources import data_folder
from analyzer.rulebook.cache import load_rulebook

ROOT = Path(__file__).parents[1]
HOOKS = ROOT / "docs" / "hooks"

MISSING = [name for name in ("material", "mkdocstrings") if importlib.util.find_spec(name) is None]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built in strict mode: a warning, such as a link that leads nowhere, is an error."""
    if MISSING:
        pytest.skip("LEFT OUT: the site's tests. They need the group docs: pip install --group docs")
    folder = tmp_path_factory.mktemp("site")
    # Not with --quiet: what is not logged is not counted as a warning either.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class _Loads(HTMLParser):
    """Addresses that a browser fetches by itself when it shows a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        names = (
            ("href",) if tag == "link" and given.get("rel") not in ("canonical", "next", "prev") else ("src", "srcset")
        )
        self.found += [given[name] or "" for name in names if name in given]


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """Scripts, styles, fonts and pictures of every page are files of the site."""
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        loads = _Loads()
        loads.feed(_text(page))
        assert loads.found
        assert [address for address in loads.found if re.match(r"(\w+:)?//", address)] == [], page.name
        assert 'class="mermaid"' not in _text(page)  # for which the theme would load a script
    styles = [_text(path) for path in site.rglob("*.css")]
    assert styles
    assert [
        found for style in styles for found in re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//[^)\"';]*", style)
    ] == []


def test_each_rule_has_its_place(site: Path) -> None:
    """Under its id, with its sources; texts with expressions and pipes come out as they are."""
    rules = load_rulebook().rules
    pages = {path.stem: unescape(_text(path)) for path in (site / "reference" / "rules").glob("*.html")}
    assert rules
    for rule in rules:
        page = pages[rule.id.split(".", 1)[0]]
        assert f'<h2 id="{rule.id}">' in page
        assert all(source in page for source in rule.sources), rule.id
        assert (rule.when.regex or "") in page, rule.id


def test_texts_of_rules_are_no_markup() -> None:
    """Whatever a rule's text holds, it stays text."""
    hostile = "<script>alert(1)</script> | `x` **b** [a](javascript:b) {: #id } &amp;"
    markup = _hook("site_markup")
    for made in (
        markup.text(hostile),
        markup.code(hostile),
        markup.listing(hostile),
        markup.link("javascript:" + hostile),
    ):
        assert "<script" not in made
        assert "href" not in made
        assert hostile in unescape(re.sub(r"</?(?:code|pre)>", "", made))


def test_each_command_and_option_has_its_place(site: Path) -> None:
    """The reference of the command line has all of them."""
    page = unescape(_text(site / "reference" / "commands.html"))

    def commands(command: Any, name: str) -> list[tuple[str, Any]]:
        if not hasattr(command, "list_commands"):
            return [(name, command)]
        below = ((word, command.get_command(None, word)) for word in command.list_commands(None))
        return [found for word, one in below for found in commands(one, f"{name} {word}")]

    found = commands(get_command(app), "diagnose")
    assert len(found) > 12
    for name, command in found:
        assert f"<code>{name}</code>" in page
        section = page.split(f"<code>{name}</code>", 1)[1].split("<h3", 1)[0]
        options = [option for parameter in command.params for option in parameter.opts if option.startswith("-")]
        assert [option for option in options if f"<code>{option}</code>" not in section] == [], name


def test_each_field_of_the_json_has_its_place(site: Path) -> None:
    """The reference of the JSON has every struct, field and closed list of the schema."""
    page = unescape(_text(site / "reference" / "json.html"))
    schema = json.loads((data_folder("reports") / "diagnosis.schema.json").read_text(encoding="utf-8"))
    for name, definition in schema["$defs"].items():
        assert f'<h3 id="{name}">' in page
        section = page.split(f'<h3 id="{name}">', 1)[1].split("<h3", 1)[0]
        named = definition.get("enum") or list(definition["properties"])
        assert [word for word in named if f"<code>{word}</code>" not in section] == [], name


def test_functions_for_python_have_their_place(site: Path) -> None:
    """Each public name of the package is on the page for Python."""
    import analyzer

    page = _text(site / "reference" / "python.html")
    names = [name for name in analyzer.__all__ if not name.startswith("__")]
    assert len(names) > 4
    assert [name for name in names if not re.search(rf'id="analyzer\.[\w.]*\b{name}"', page)] == []


def test_the_search_finds_a_message_of_a_rule(site: Path) -> None:
    """The index holds the rules' examples, so that a reader may look for a line of a log."""
    index = json.loads(_text(site / "search" / "search_index.json"))
    assert any("CUBLAS_STATUS_ALLOC_FAILED" in page["text"] for page in index["docs"])


def _hook(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, HOOKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
