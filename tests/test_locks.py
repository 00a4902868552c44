"""The locked versions of the checks: whole, with hashes, from no named index, and as pyproject.toml allows them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WANTED = {
    "checks.txt": [
        *PROJECT["project"]["dependencies"],
        *(text for group in ("test", "lint", "browser", "docs") for text in PROJECT["dependency-groups"][group]),
    ],
    "cluster.txt": [
        *PROJECT["project"]["dependencies"],
        *(text for extra in ("parquet", "spark") for text in PROJECT["project"]["optional-dependencies"][extra]),
    ],
}
ADVICE = "run `make lock` and commit what it changes"


def _text(name: str) -> str:
    return (ROOT / ".ci" / "lock" / name).read_text(encoding="utf-8")


def _locked(name: str) -> list[tuple[Requirement, str]]:
    """Each locked requirement with the text of its hashes."""
    logical = re.sub(r"\\\n\s*", "", re.sub(r"^\s*#.*\n", "", _text(name), flags=re.MULTILINE))
    rows = (line.partition("--hash=") for line in logical.splitlines() if line.strip())
    return [(Requirement(head.strip()), hashes) for head, _, hashes in rows]


@pytest.mark.parametrize("name", WANTED)
def test_what_the_project_asks_for_is_locked(name: str) -> None:
    """Each direct requirement has a locked version that it allows."""
    versions: dict[str, list[str]] = {}
    for locked, _ in _locked(name):
        versions.setdefault(canonicalize_name(locked.name), []).append(str(locked.specifier).removeprefix("=="))
    for text in WANTED[name]:
        wanted = Requirement(text)
        found = versions.get(canonicalize_name(wanted.name), [])
        assert found, f"{text} is not locked: {ADVICE}"
        assert all(wanted.specifier.contains(version) for version in found), f"{text}, but locked is {found}: {ADVICE}"


@pytest.mark.parametrize("name", WANTED)
def test_each_package_has_hashes_and_none_names_an_index(name: str) -> None:
    """So that whoever serves a package, it is the one that was locked."""
    locked = _locked(name)
    assert len(locked) > 20
    assert [str(one) for one, hashes in locked if not re.match(r"sha256:[0-9a-f]{64}", hashes)] == []
    assert [str(one) for one, _ in locked if not str(one.specifier).startswith("==") or one.url] == []
    assert not re.search(r"://|--(?:index|extra|find)", _text(name))
