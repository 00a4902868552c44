"""Commands of a remedy as they fit the job's platform (`rules/tables/platform_commands.yaml`)."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from analyzer.facts.tables import table


class PlatformCommand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Commands that begin in one way, where they can be given, and what does the same elsewhere."""

    starts: str
    platforms: list[str]
    instead: dict[str, str] = {}


def fitting(command: str, platform: str) -> str | None:
    """A rule's command, or what does the same on the job's platform; None where nothing does."""
    for known in _known():
        if command.startswith(known.starts) and platform not in known.platforms:
            return known.instead.get(platform)
    return command


@lru_cache(maxsize=1)
def _known() -> list[PlatformCommand]:
    return table("platform_commands", list[PlatformCommand])
