"""How much of long texts is kept: logs have few of them, but a small file may stand for any number."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from analyzer.model import Entry, Note

LONGEST = 1 << 20
"""So much of one text is kept (characters). Cloud Logging takes 256 KiB an entry, and several for one that was split:
https://cloud.google.com/logging/quotas."""
LONG = 1 << 13
"""The same once `MOST` is reached. Nearly all texts are shorter, and evidence is (contract of `Diagnosis`)."""
MOST = 32 << 20
"""So much is kept of the texts that are longer than `LONG`, all together (characters)."""


class Room:
    """What is left for long texts of all that is kept at one time."""

    def __init__(self) -> None:
        self._left = MOST
        self._cut: dict[str, tuple[int, int]] = {}

    def renew(self) -> None:
        """All is free again: what was kept is held no longer."""
        self._left = MOST

    def fitted(self, entry: Entry) -> Entry:
        """The entry, its text without its middle where it is longer than there is room for."""
        size = len(entry.text)
        if size <= LONG:
            return entry
        most = LONGEST if self._left >= min(size, LONGEST) else LONG
        self._left -= min(size, most)
        if size <= most:
            return entry
        first, count = self._cut.get(entry.source, (entry.line, 0))
        self._cut[entry.source] = (first, count + 1)
        half = most // 2
        return replace(entry, text=f"{entry.text[:half]}\n{entry.text[-half:]}")

    def notes(self) -> Iterator[Note]:
        """What is to be said of the texts that were cut since the last call, a note for each source."""
        for source, (line, count) in self._cut.items():
            yield Note("too_large", "texts beyond any log entry were kept without their middle", source, line, count)
        self._cut.clear()
