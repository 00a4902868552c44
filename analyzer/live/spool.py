"""The file that a download goes to: one JSON object a line, readable by its owner only."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from analyzer.errors import RenderError, way_to_write
from analyzer.sources import Source


class Spool:
    """Lines that were fetched. `lines` counts them."""

    def __init__(self, file: BinaryIO, path: Path, name: str) -> None:
        self._file, self._path, self._name = file, path, name
        self.lines = 0

    def write(self, lines: Iterable[bytes]) -> None:
        """Adds lines, each given without its end. Raises RenderError if the disk will not take them."""
        try:
            for line in lines:
                self._file.write(line + b"\n")
                self.lines += 1
        except OSError as error:
            raise RenderError(
                f"cannot be written ({error.strerror})", where=self._name, advice=way_to_write(error, "--save")
            ) from error

    def source(self) -> Source:
        """What was fetched so far, as any other input."""
        self._file.flush()
        return Source(self._name, lambda: cast(BinaryIO, self._path.open("rb")))


@contextmanager
def spooled(save: Path | None, name: str) -> Iterator[Spool]:
    """A file for a download: the one that the caller wants to keep (whole or not at all), else one that is deleted.

    Raises:
        RenderError: if the file cannot be written.
    """
    folder = save.parent if save is not None else None
    try:
        handle, temporary = tempfile.mkstemp(prefix=".diagnose-", suffix=".jsonl", dir=folder)  # mode 0600
    except OSError as error:
        raise RenderError(
            f"cannot be written ({error.strerror})",
            where=str(save or tempfile.gettempdir()),
            advice=way_to_write(error, "--save"),
        ) from error
    path = Path(temporary)
    try:
        with os.fdopen(handle, "wb") as file:
            spool = Spool(cast(BinaryIO, file), path, str(save) if save is not None else name)
            yield spool
    finally:
        if save is not None and path.stat().st_size:  # also what an interruption or a refusal left
            os.replace(path, save)
        path.unlink(missing_ok=True)
