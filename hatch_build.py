"""Puts the compiled rules and tables into the wheel, so that the first start of the program need not compile it.

Where the rules cannot be compiled while building (a package missing from the build environment) the wheel is built
without it: the program then compiles them on its first start and keeps the result in the user's cache.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACE = "analyzer/_data"


class RulebookHook(BuildHookInterface[Any]):
    """Compiles `rules/` into files of the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is written; an editable install reads `rules/` itself and needs nothing."""
        self.folder: tempfile.TemporaryDirectory[str] | None = None
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        try:
            from analyzer.compiled import shipped_name
            from analyzer.facts.tables import NAME as TABLES
            from analyzer.facts.tables import compile_tables
            from analyzer.rulebook.cache import NAME as RULEBOOK
            from analyzer.rulebook.cache import compile_rulebook
        except ImportError as error:
            self.app.display_warning(f"the rulebook is left uncompiled: {error}")
            return
        finally:
            sys.path.remove(self.root)
        self.folder = tempfile.TemporaryDirectory()
        for name, make in ((RULEBOOK, compile_rulebook), (TABLES, compile_tables)):
            compiled = Path(self.folder.name) / shipped_name(name)
            compiled.write_bytes(make(Path(self.root) / "rules"))
            build_data["force_include"][str(compiled)] = f"{PLACE}/{shipped_name(name)}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called after the wheel is written."""
        if self.folder is not None:
            self.folder.cleanup()
