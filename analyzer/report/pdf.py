"""The page as a PDF, printed by a Chromium that is there; we bring none along."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from analyzer.errors import RenderError

VARIABLE = "DIAGNOSE_CHROMIUM"
"""The environment variable that names a browser of another place or name."""

_NAMES = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)  # fmt: skip
_FLAGS = (
    "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--no-pdf-header-footer",
)  # fmt: skip
_LONGEST = 180  # seconds; a page of 2,000 replicas takes about ten


def render_pdf(html: str) -> bytes:
    """A page of ours as a PDF on A4, folds opened.

    Raises:
        RenderError: if no Chromium is there, or it fails.
    """
    browser = find_browser()
    if browser is None:
        advice = f"install Chromium or Chrome, name one in {VARIABLE}, or print the HTML report from any browser"
        raise RenderError("a PDF needs a Chromium, and none was found", advice=advice)
    with tempfile.TemporaryDirectory(prefix="diagnose-pdf-") as folder:
        page, made = Path(folder) / "page.html", Path(folder) / "page.pdf"
        page.write_text(html, encoding="utf-8", newline="\n")
        command = [browser, *_FLAGS, *_as_root(), f"--user-data-dir={folder}/profile", f"--print-to-pdf={made}"]
        try:
            done = subprocess.run(
                [*command, page.as_uri()], capture_output=True, timeout=_LONGEST, check=False, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RenderError(f"the browser did not print the page ({error})", where=browser, advice=_ADVICE) from error
        if not made.is_file():
            last = done.stderr.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1][:200]
            raise RenderError(f"the browser printed no page ({last})", where=browser, advice=_ADVICE)
        return made.read_bytes()


_ADVICE = "print the HTML report from any browser instead"


def find_browser() -> str | None:
    """The program that prints: the one that the environment names, else the first that is installed."""
    named = os.environ.get(VARIABLE)
    return shutil.which(named) if named else next(filter(None, map(shutil.which, _NAMES)), None)


def _as_root() -> list[str]:
    """Chromium refuses its sandbox to root, as in a container; the page runs no script but its own."""
    return ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
