"""How fast to ask: a limit of requests in a minute, and how long to wait before asking again."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

REQUESTS = 60
"""List requests that a project may make in a minute (https://cloud.google.com/logging/quotas); it cannot be raised."""
MINUTE = 60.0

Waiting = Callable[[float, str], None]
"""Told before each wait: how many seconds, and why."""


class Clock(Protocol):
    """The time that rates and waits are measured by."""

    def now(self) -> float:
        """Seconds since 1970, as calendars have it."""
        ...

    def elapsed(self) -> float:
        """Seconds that only go forward."""
        ...

    def sleep(self, seconds: float) -> None:
        """Waits."""
        ...


class SystemClock:
    """The clock of this machine."""

    def now(self) -> float:
        """Seconds since 1970, as calendars have it."""
        return time.time()

    def elapsed(self) -> float:
        """Seconds that only go forward."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Waits."""
        time.sleep(seconds)


class Limiter:
    """Lets at most `limit` requests pass in any minute, and waits where there would be more."""

    def __init__(self, clock: Clock, waiting: Waiting, limit: int = REQUESTS) -> None:
        self._clock, self._waiting, self._limit = clock, waiting, limit
        self._passed: deque[float] = deque()

    def pass_one(self) -> None:
        """Returns once the next request may be made."""
        while len(self._passed) >= self._limit:
            left = self._passed[0] + MINUTE - self._clock.elapsed()
            if left <= 0:
                self._passed.popleft()
                continue
            self._waiting(left, f"the log may be asked {self._limit} times a minute")
            self._clock.sleep(left)
        self._passed.append(self._clock.elapsed())


class Backoff:
    """Waits that grow with every failure in a row, each cut by chance so that many callers do not ask at once."""

    def __init__(self, first: float, most: float, tries: int, chance: random.Random) -> None:
        self._first, self._most, self._tries, self._chance = first, most, tries, chance
        self._failures = 0

    def next_wait(self) -> float | None:
        """Seconds to wait before the next try; None when it has been tried often enough."""
        if self._failures >= self._tries:
            return None
        whole: float = min(self._most, self._first * 2.0**self._failures)
        self._failures += 1
        return whole * self._chance.uniform(0.5, 1.0)

    def reset(self) -> None:
        """Forgets the failures: a request went through."""
        self._failures = 0
