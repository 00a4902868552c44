"""Where logs come from: files, folders, globs, archives and standard input, as decompressed bytes."""

from analyzer.sources.base import Source
from analyzer.sources.paths import open_sources

__all__ = ["Source", "open_sources"]
