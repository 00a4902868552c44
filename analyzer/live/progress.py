"""What a person sees while a job is being fetched: how far it is, and what is being waited for. On standard error."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn


class Progress(Protocol):
    """Is told how the fetching goes."""

    def read(self, entries: int, requests: int, reached: str) -> None:
        """So many entries by so many requests, and the time of the entry that was read last."""
        ...

    def waiting(self, seconds: float, why: str) -> None:
        """The next request has to wait."""
        ...

    def shown(self) -> AbstractContextManager[object]:
        """While this is open the display is on the screen."""
        ...


class Silent:
    """Shows nothing."""

    def read(self, entries: int, requests: int, reached: str) -> None:
        """Nothing to show."""

    def waiting(self, seconds: float, why: str) -> None:
        """Nothing to show."""

    def shown(self) -> AbstractContextManager[object]:
        """Nothing to open."""
        return nullcontext()


class Shown:
    """A line that is kept up to date on a terminal; elsewhere a line for every longer wait, and no other."""

    def __init__(self, console: Console, title: str) -> None:
        self._console, self._title = console, printable(title)
        self._bar = Bar(
            SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn(), console=console,
            transient=True, disable=not console.is_terminal,
        )  # fmt: skip
        self._task = self._bar.add_task(self._title)
        self._reached = self._title

    def read(self, entries: int, requests: int, reached: str) -> None:
        """So many entries by so many requests, and the time of the entry that was read last."""
        asked = f"{requests} request{'' if requests == 1 else 's'}"
        self._reached = f"{self._title}: {entries:,} entries, {asked}, at {reached[:19].replace('T', ' ')}"
        self._bar.update(self._task, description=self._reached)

    def waiting(self, seconds: float, why: str) -> None:
        """The next request has to wait."""
        words = printable(f"waiting {max(seconds, 1):.0f} s: {why}")
        if self._console.is_terminal:
            self._bar.update(self._task, description=f"{self._reached} – {words}")
        elif seconds >= 0.5:
            self._console.print(f"diagnose: {words}", markup=False, highlight=False, soft_wrap=True)

    def shown(self) -> AbstractContextManager[object]:
        """While this is open the display is on the screen."""
        return self._bar


def progress_for(quiet: bool, title: str) -> Progress:
    """The display for this process."""
    return Silent() if quiet else Shown(Console(stderr=True), title)


def printable(text: str) -> str:
    """A text of a service without what a terminal would obey."""
    return "".join(char if char.isprintable() else " " for char in text)
