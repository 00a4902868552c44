"""Rows of a packed table as the readers of LogEntries want them: without what is null, and text as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analyzer.formats.logentry import Converter
from analyzer.formats.reading import Reading
from analyzer.formats.record import record_of
from analyzer.model import Entry

ROW_LIMIT = 1 << 20
"""A row that takes more than this (bytes) is no LogEntry, which has 256 KiB at most; it is left out and noted. So much
of a table becomes values at one time, or somewhat more of a table of thousands of columns."""


class Rows:
    """Turns the rows of one table into entries, and says what could not be read of it.

    `number` is a row's place in the table, from 1; it stands for the line of its entries.
    """

    def __init__(self, reading: Reading, form: str) -> None:
        self._reading, self._form = reading, form
        self._converter = Converter(reading)

    def entries(self, row: Mapping[str, Any], number: int) -> Iterator[Entry]:
        """The entries of one row; a row that is no log entry costs itself and a note."""
        record = record_of({name: _present(value) for name, value in row.items()})
        if record is None:
            self._reading.note("bad_line", "rows that are no log entry were left out", number)
        else:
            yield from self._converter.entries(record, number)

    def rest(self) -> Iterator[Entry]:
        """What waited for the end of the table."""
        yield from self._converter.rest()

    def lack(self, extra: str) -> None:
        """Notes that nothing here reads the form."""
        self._reading.note(
            "extra", f"{self._form} was left out, it needs an extra: pip install 'training-job-analyzer[{extra}]'"
        )

    def have_other_columns(self) -> None:
        """Notes a table that holds something else than log entries."""
        self._reading.note("columns", "a table without columns of log entries was left out")

    def are_unreadable(self, error: object) -> None:
        """Notes that nothing of the file can be read."""
        self._reading.note("damaged", f"this {self._form} file cannot be read ({_short(error)})")

    def are_damaged(self, error: object, number: int) -> None:
        """Notes that rows cannot be read."""
        self._reading.note(
            "damaged", f"parts of this {self._form} file that cannot be read were left out ({_short(error)})", number
        )

    def are_cut(self, number: int) -> None:
        """Notes that the file ends within a row."""
        self._reading.note(
            "truncated", f"this {self._form} file ends in the middle; what could be read was read", number
        )

    def are_a_bomb(self, number: int) -> None:
        """Notes rows that were left out since a short file makes too much of them."""
        self._reading.note("bomb", f"rows of this {self._form} file expand beyond any log and were left out", number)

    def are_large(self, number: int) -> None:
        """Notes a row that was left out for its size."""
        self._reading.note("too_large", f"rows of more than {ROW_LIMIT >> 20} MiB were left out", number)


def _short(error: object) -> str:
    """The first words of an error, which may quote the file."""
    return (str(error) or type(error).__name__).split("\n", 1)[0][:160]


def _present(value: Any) -> Any:
    """A cell without the fields that are null: a table gives every row all fields that any row has."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, list):
        if value and isinstance(value[0], tuple):  # a map, as pyarrow gives it
            return _present({_present(key): inner for key, inner in value})
        return [_present(inner) for inner in value]
    if isinstance(value, dict):
        return {key: found for key, inner in value.items() if (found := _present(inner)) is not None} or None
    return value
