"""The code keeps its shape: small modules and functions, typed and described, absolute imports, honest names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "analyzer").rglob("*.py"))
MODULE_LINES = 400
FUNCTION_LINES = 50
BROAD_EXCEPTS = 4
EMPTY_NAMES = re.compile(r"(^|_)(utils?|helpers?|managers?|common|misc|stuff)(_|$)")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def _functions(path: Path) -> Iterator[Function]:
    return (node for node in ast.walk(_tree(path)) if isinstance(node, Function))


def _place(path: Path, node: ast.stmt | ast.excepthandler) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno}"


def _public(body: list[ast.stmt]) -> Iterator[Function | ast.ClassDef]:
    for node in body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from _public(node.body)


def test_modules_are_short() -> None:
    """A module that needs more than 400 lines has two subjects."""
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {str(path): lines for path, lines in lengths.items() if lines > MODULE_LINES} == {}


def test_functions_are_short() -> None:
    """A function that needs more than 50 lines does two things."""
    long = [
        f"{_place(path, node)} {node.name}: {lines}"
        for path in MODULES
        for node in _functions(path)
        if (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES
    ]
    assert long == []


def test_every_function_is_typed() -> None:
    """Each parameter and each result has its type."""
    untyped = []
    for path in MODULES:
        for node in _functions(path):
            arguments = node.args
            named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            named += [extra for extra in (arguments.vararg, arguments.kwarg) if extra]
            bare = [one.arg for one in named if one.annotation is None and one.arg not in ("self", "cls")]
            if bare or (node.returns is None and node.name != "__init__"):
                untyped.append(f"{_place(path, node)} {node.name}({', '.join(bare)})")
    assert untyped == []


def test_public_names_are_described() -> None:
    """Modules, and the classes and functions that others may use, say what they are."""
    silent = [str(path) for path in MODULES if _tree(path).body and not ast.get_docstring(_tree(path))]
    silent += [
        f"{_place(path, node)} {node.name}"
        for path in MODULES
        for node in _public(_tree(path).body)
        if not ast.get_docstring(node)
    ]
    assert silent == []


def test_exceptions_are_caught_by_name() -> None:
    """No bare except, and a catch-all only where the process meets the outside."""
    bare, broad = [], []
    for path in MODULES:
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ExceptHandler) and node.type is None:
                bare.append(_place(path, node))
            elif isinstance(node, ast.ExceptHandler) and node.type is not None:
                caught = {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)}
                broad += [_place(path, node)] if caught & {"Exception", "BaseException"} else []
    assert bare == []
    assert len(broad) <= BROAD_EXCEPTS, broad


def test_imports_are_absolute() -> None:
    """The package's name is in every import of it, so that a file can be read alone."""
    relative = [
        _place(path, node)
        for path in MODULES
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.ImportFrom) and node.level > 0
    ]
    assert relative == []


def test_names_say_something() -> None:
    """Nothing is called util, helper, manager or common: names tell the subject."""
    names = [part for path in MODULES for part in path.relative_to(ROOT).with_suffix("").parts]
    names += [
        node.name for path in MODULES for node in ast.walk(_tree(path)) if isinstance(node, Function | ast.ClassDef)
    ]
    snake = (re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower() for name in names)
    assert sorted({name for name in snake if EMPTY_NAMES.search(name)}) == []


def test_nothing_is_left_for_later() -> None:
    """What stands in the code is finished."""
    left = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in MODULES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(r"\b(TODO|FIXME|XXX)\b", line)
    ]
    assert left == []
