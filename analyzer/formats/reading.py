"""What one reading of a source carries along: its name, and what a person should know about it, counted."""

from __future__ import annotations

from analyzer.model import Note


class Reading:
    """Counts what was skipped or repaired in one source; `flush` turns the counts into Notes.

    A source with a million bad lines makes one Note with the first line and the count.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._counts: dict[tuple[str, str], tuple[int | None, int]] = {}

    def note(self, kind: str, text: str, line: int | None = None) -> None:
        """Counts one thing of this kind; `text` says it without its own details, so that like things count together."""
        first, count = self._counts.get((kind, text), (line, 0))
        self._counts[kind, text] = (first, count + 1)

    def flush(self, notes: list[Note]) -> None:
        """Appends the Notes and forgets the counts."""
        for (kind, text), (line, count) in self._counts.items():
            notes.append(Note(kind, text, self.name, line, count))
        self._counts.clear()
