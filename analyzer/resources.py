"""Finds `rules/` and `reports/`: inside an installed package, or beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_folder(name: str) -> Path:
    """The folder of bundled data called `name` ("rules" or "reports").

    In a checkout (also an editable install) the folder beside the package wins, since a copy in the package would be
    stale there; a wheel has only the copy.
    """
    checkout = _PACKAGE.parent / name
    return (
        checkout if (_PACKAGE.parent / "pyproject.toml").is_file() and checkout.is_dir() else _PACKAGE / "_data" / name
    )
