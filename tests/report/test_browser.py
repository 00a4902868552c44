"""What a real browser does with the page: no error, no request, no injected script, keyboard, width, print."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fleet_samples import hostile_fleet, simulated_fleet
from hostile import PAYLOADS, hostile_report
from samples import ALL, host_oom, many_replicas, nccl_cascade, report

from analyzer.report.fleet import render_fleet
from analyzer.report.html import render_html

pytestmark = pytest.mark.browser

_BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
if _BROWSER is None:
    pytest.skip("no Chromium here: the pages go unchecked in a browser", allow_module_level=True)
sync_api = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not installed: no page is checked in a browser"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=_BROWSER, args=_QUIET)
        yield running
        running.close()


class _Opened:
    """A page with what it complained about and what it asked for."""

    def __init__(self, context: Any, address: str) -> None:
        self.page = context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append("dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)


Open = Callable[..., _Opened]


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens a page from a file in a window of its own, which is closed after the test."""
    contexts = []

    def open_page(html: str, **settings: Any) -> _Opened:
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        contexts.append(browser.new_context(**settings))
        return _Opened(contexts[-1], file.as_uri())

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", [*ALL, "all", "many"])
def test_the_page_opens_without_a_complaint_and_asks_for_nothing(opened: Open, name: str) -> None:
    """Offline and quiet."""
    jobs = (
        [make() for make in ALL.values()]
        if name == "all"
        else [many_replicas(300)]
        if name == "many"
        else [ALL[name]()]
    )
    shown = opened(render_html(report(*jobs)))
    assert shown.complaints == []
    assert len(shown.requests) == 1


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_text_runs_nothing_and_hides_nothing(opened: Open, payload: str) -> None:
    """No dialog, no error, no request; the page is still there to read."""
    shown = opened(render_html(hostile_report(host_oom(), PAYLOADS[payload])))
    assert shown.complaints == []
    assert len(shown.requests) == 1
    assert shown.page.locator("h1").is_visible()
    assert shown.page.locator("footer").is_visible()


_INJECTED = (
    "<script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "<style>body{display:none}</style>",
    "<p style='position:fixed'>x</p>",
)


@pytest.mark.parametrize("injected", _INJECTED)
def test_the_policy_stops_what_escaping_would_have_missed(opened: Open, injected: str) -> None:
    """Even markup that got in could neither run, nor style, nor load."""
    html = render_html(report(host_oom())).replace('<main id="main">', f'<main id="main">{injected}')
    shown = opened(html)
    assert "owned" not in shown.page.title()
    assert shown.page.locator("h1").is_visible()
    assert any("Content Security Policy" in complaint for complaint in shown.complaints)
    assert all(request.startswith("file:") for request in shown.requests)


@pytest.mark.parametrize("width", [320, 360, 768, 1400])
@pytest.mark.parametrize("lang", ["en", "de"])
def test_nothing_is_wider_than_the_window(opened: Open, width: int, lang: str) -> None:
    """Readable from a phone on."""
    jobs = [make() for make in ALL.values()]
    shown = opened(render_html(report(*jobs), lang=lang), viewport={"width": width, "height": 800})
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width


def test_runs_are_reached_by_keyboard_and_lead_to_their_rows(opened: Open) -> None:
    """The focused run tells its facts; Enter opens the table at its row."""
    page = opened(render_html(report(host_oom()))).page
    page.locator("a.run.oom").first.focus()
    assert (
        "workerpool1-0, 07:45:03 – 08:20:41, ran out of memory, exit code 137 (SIGKILL)"
        in page.locator(".reading").first.inner_text()
    )
    page.keyboard.press("Enter")
    assert re.search(r"#j1-run-\d+$", page.url)
    assert page.locator("tr:target").is_visible()


def test_without_javascript_everything_is_there(opened: Open) -> None:
    """Only the copy buttons are missing; folds open by themselves."""
    page = opened(render_html(report(host_oom())), java_script_enabled=False).page
    assert page.locator("button.copy:visible").count() == 0
    page.locator("summary").first.click()
    assert page.locator("table.runs").is_visible()


def test_a_command_is_copied_as_it_stands(opened: Open) -> None:
    """What is copied is the command, not its layout."""
    page = opened(render_html(report(host_oom())), permissions=["clipboard-read", "clipboard-write"]).page
    page.locator("button.copy").first.click()
    page.locator("button.copy").first.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == host_oom().remediation[0].commands[0]


_SEEN = [
    (name, lang, scheme) for name in (*ALL, "all", "fleet") for lang in ("en", "de") for scheme in ("light", "dark")
]


def _page(name: str, lang: str) -> str:
    if name == "fleet":
        return render_fleet(simulated_fleet(120), lang)
    return render_html(report(*([make() for make in ALL.values()] if name == "all" else [ALL[name]()])), lang=lang)


@pytest.mark.parametrize(("name", "lang", "scheme"), _SEEN)
def test_axe_finds_no_violation(opened: Open, name: str, lang: str, scheme: str) -> None:
    """WCAG 2.2 AA as far as a machine can tell, in both themes and languages, folds opened."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    shown = opened(_page(name, lang), color_scheme=scheme, bypass_csp=True)
    shown.page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    found = axe.Axe().run(shown.page).response["violations"]
    assert [(item["id"], [node["html"][:200] for node in item["nodes"][:3]]) for item in found] == []


def test_print_shows_all_and_cuts_nothing(opened: Open) -> None:
    """On A4 no table or line is wider than the sheet, and folds are open."""
    shown = opened(render_html(report(nccl_cascade())), viewport={"width": 703, "height": 1000})
    shown.page.emulate_media(media="print")
    shown.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert shown.page.locator("table.runs").is_visible()
    assert shown.page.evaluate(
        "[...document.querySelectorAll('.scroll')].every(box => box.scrollWidth <= box.clientWidth + 1)"
    )
    assert shown.page.pdf(prefer_css_page_size=True)[:5] == b"%PDF-"


def test_the_fleet_is_searched_filtered_and_sorted(opened: Open) -> None:
    """Ten thousand jobs: a slice is drawn, the rest is found; nothing is asked for and nothing complained about."""
    shown = opened(render_fleet(simulated_fleet(10_000)))
    page = shown.page
    assert page.locator("#table tbody tr").count() == 100
    page.locator("#search").fill("ranking-bert-00 out_of_memory")
    sync_api.expect(page.locator("#shown")).not_to_contain_text("10,000 of")
    names = page.locator("#table tbody th").all_inner_texts()
    assert names
    assert all("ranking-bert-00" in name for name in names)
    page.locator("#reset").click()
    page.locator("button[data-sort=lost]").click()
    lost = [float(cell.replace(",", "")) for cell in page.locator("#table tbody td:last-child").all_inner_texts()]
    assert lost == sorted(lost, reverse=True)
    assert page.locator("th[aria-sort=descending]").count() == 1
    assert (shown.complaints, len(shown.requests)) == ([], 1)


def test_a_group_of_the_fleet_leads_to_its_jobs(opened: Open) -> None:
    """The number of a kind of failure filters the table; the chip takes the filter away, by keyboard too."""
    page = opened(render_fleet(simulated_fleet(300))).page
    link = page.locator("a[data-key=group]").first
    wanted = link.inner_text()
    link.focus()
    page.keyboard.press("Enter")
    assert page.locator("#shown").inner_text() == f"{wanted} of 300"
    page.locator("#chips button").focus()
    page.keyboard.press("Enter")
    assert page.locator("#shown").inner_text() == "300 of 300"


def test_the_fleet_is_there_without_javascript(opened: Open) -> None:
    """The failed jobs as a plain table, and no dead controls."""
    fleet = simulated_fleet(80)
    page = opened(render_fleet(fleet), java_script_enabled=False).page
    failed = sum(row.outcome == "failed" for row in fleet.rows)
    assert page.locator("table.all:visible tbody tr").count() == failed
    assert page.locator("#controls:visible").count() == 0


@pytest.mark.parametrize("width", [320, 360, 768, 1400])
@pytest.mark.parametrize("lang", ["en", "de"])
def test_no_part_of_the_fleet_is_wider_than_the_window(opened: Open, width: int, lang: str) -> None:
    """Readable from a phone on."""
    page = opened(render_fleet(simulated_fleet(200), lang), viewport={"width": width, "height": 800}).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_rows_run_nothing(opened: Open, payload: str) -> None:
    """What the script draws is text, whatever a job is called."""
    shown = opened(render_fleet(hostile_fleet(PAYLOADS[payload])))
    assert (shown.complaints, len(shown.requests)) == ([], 1)
    assert shown.page.locator("#table tbody tr").count() == 40
