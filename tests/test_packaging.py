"""What a user installs is whole: built from the sdist, installed away from the checkout, it diagnoses a job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "fixtures" / "demo" / "vertex-restart-then-failed.json"


def _build(kind: str, source: Path, target: Path, **environment: str) -> Path:
    command = [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", str(target), str(source)]
    variables = {**os.environ, "SOURCE_DATE_EPOCH": "1760000000", **environment}
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=300, env=variables)
    return next(target.glob("*.whl" if kind == "wheel" else "*.tar.gz"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution of this checkout."""
    return _build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from nothing but the source distribution."""
    return _build("wheel", _unpacked(sdist, tmp_path_factory.mktemp("unpacked")), tmp_path_factory.mktemp("wheel"))


def _unpacked(sdist: Path, folder: Path) -> Path:
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return next(folder.iterdir())


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed `diagnose` of a fresh environment, which borrows only the dependencies of this one."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home, with_pip=False)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / Path(sys.executable).name
    ask = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(ask, check=True, capture_output=True, text=True, timeout=60).stdout.strip())
    # A plain path in a .pth file: the packages there are found, but not the editable install of the checkout.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    install = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--ignore-installed"]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True, text=True, timeout=300)
    return scripts / "diagnose"


def _run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    away = program.parents[1]
    environment = {"PATH": str(program.parent), "HOME": str(away), "DIAGNOSE_CACHE": str(away / "cache")}
    command = [str(program), *arguments]
    return subprocess.run(command, cwd=away, env=environment, capture_output=True, text=True, timeout=120)


def test_sdist_holds_what_a_build_and_its_tests_need(sdist: Path) -> None:
    """Rules, report templates, fixtures, tests and the papers are in the source distribution."""
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    folders = {name.split("/", 1)[0] for name in names}
    assert folders >= {"analyzer", "rules", "reports", "fixtures", "tests"}
    assert names >= {"pyproject.toml", "hatch_build.py", "Makefile", "README.md", "LICENSE"}
    assert "fixtures/demo/vertex-restart-then-failed.json" in names


def test_wheel_holds_every_rule_and_template(wheel: Path) -> None:
    """The folders beside the package are inside it, file by file, and nothing of the tests is."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for folder in ("rules", "reports"):
        sources = [path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        assert {f"analyzer/_data/{path.relative_to(ROOT).as_posix()}" for path in sources} <= names
    assert {"analyzer/_data/rulebook.msgpack", "analyzer/_data/tables.msgpack"} <= names
    assert "analyzer/py.typed" in names
    assert not [name for name in names if name.startswith(("tests/", "fixtures/"))]


def test_wheel_is_reproducible(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    """Built again in another folder, of files with other times and rights, it is the same byte for byte."""
    source = _unpacked(sdist, tmp_path / "elsewhere" / "of_a_longer_name")
    for number, path in enumerate(sorted(source.rglob("*.py"))):
        os.utime(path, (1_500_000_000 + number, 1_500_000_000 + number))
        path.chmod(0o600)
    again = _build("wheel", source, tmp_path / "again", PYTHONHASHSEED="7", TZ="Asia/Tokyo", LC_ALL="C")
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


def test_installed_program_is_not_the_checkout(program: Path) -> None:
    """It answers with its version, and its modules and data come from the environment that it is installed in."""
    done = _run(program, "--version")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("diagnose ")
    code = "import analyzer, analyzer.resources as r; print(analyzer.__file__); print(r.data_folder('rules'))"
    asked = _run(program.with_name("python"), "-c", code)
    places = [Path(line) for line in asked.stdout.split()]
    assert len(places) == 2, asked.stderr
    assert all(place.is_relative_to(program.parents[1].resolve()) for place in map(Path.resolve, places))


def test_installed_program_diagnoses_a_job(program: Path) -> None:
    """The bundled export gives the answer that it gives in the checkout, and the rulebook need not be compiled."""
    done = _run(program, "--logs", str(DEMO), "--format", "json")
    assert done.returncode == 0, done.stderr
    (diagnosis,) = json.loads(done.stdout)["diagnoses"]
    assert (diagnosis["outcome"], diagnosis["category"]) == ("failed", "user_exception")
    assert not (program.parents[1] / "cache").exists()


@pytest.mark.parametrize("arguments", [("rules", "list"), ("exit-code", "137"), ("memory", "n1-standard-4")])
def test_installed_program_finds_its_data(program: Path, arguments: tuple[str, ...]) -> None:
    """Commands that read rules and tables work away from the checkout."""
    done = _run(program, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_installed_program_writes_a_page(program: Path) -> None:
    """The report's templates and styles are found too."""
    page = program.parents[1] / "page.html"
    done = _run(program, "--logs", str(DEMO), "--format", "html", "--output", str(page))
    assert done.returncode == 0, done.stderr
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
