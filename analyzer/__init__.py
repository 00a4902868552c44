"""Says why an ML training job failed, proves it with the line that matters, and rebuilds its restart timeline.

`diagnose`, `scan` and `load` are imported when first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analyzer.api import diagnose, load, report_on, scan
    from analyzer.model import Diagnosis, Report

__version__ = "0.1.0"
__all__ = ["Diagnosis", "Report", "__version__", "diagnose", "load", "report_on", "scan"]


def __getattr__(name: str) -> Any:
    if name in ("diagnose", "load", "report_on", "scan"):
        from analyzer import api

        return getattr(api, name)
    if name in ("Diagnosis", "Report"):
        from analyzer import model

        return getattr(model, name)
    raise AttributeError(f"module 'analyzer' has no attribute {name!r}")
