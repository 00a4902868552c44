"""A clock for tests: it goes only while it is waited for."""

from __future__ import annotations

from live_jobs import NOW

from analyzer.model import SECOND


class StillClock:
    """A clock that stands still but for waits, which it keeps."""

    def __init__(self) -> None:
        self.time = 0.0
        self.waits: list[float] = []

    def now(self) -> float:
        return NOW / SECOND + self.time

    def elapsed(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds
