"""Archives by their first bytes, never by their names; what opens them is imported only for one."""

from __future__ import annotations

ZIP_MAGIC = b"PK\x03\x04"
_TAR_MAGIC = (b"ustar\x00", b"ustar ")
_TAR_MAGIC_AT = 257
HEAD = _TAR_MAGIC_AT + 6
"""So many first bytes tell."""


def is_tar(head: bytes) -> bool:
    """Whether the first bytes (at least `HEAD`) are those of a tar archive."""
    return head[_TAR_MAGIC_AT:HEAD] in _TAR_MAGIC
