"""What a source is: a name that a person recognises, and bytes that can be read once from the start."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

import msgspec


class Source(msgspec.Struct, frozen=True):
    """One input: a file, a member of an archive, or standard input.

    `name` is the path as the caller gave it (a member follows its archive after `!`); `opener` gives its bytes from
    the start, buffered and decompressed.
    """

    name: str
    opener: Callable[[], BinaryIO]

    def open(self) -> BinaryIO:
        """The decompressed bytes from the start; the caller closes them."""
        return self.opener()
