"""What can befall a scan: signals, killed processes, two at once, damaged records. Each is told, and mended by a second run."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from exports import digest, run, write_exports

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of Unix")


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Exports that take a pool of processes a moment."""
    return write_exports(tmp_path_factory.mktemp("in"), jobs=16, lines=300, hours=4)


@pytest.fixture(scope="module")
def whole(exports: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of one undisturbed scan."""
    output = tmp_path_factory.mktemp("whole") / "out"
    run([exports], output)
    return output


def started(exports: Path, output: Path, workers: int = 2) -> subprocess.Popen[str]:
    """A scan as a user runs it, in a process group of its own."""
    command = [
        sys.executable,
        "-m",
        "analyzer",
        "scan",
        str(exports),
        "--output",
        str(output),
        "--workers",
        str(workers),
        "--quiet",
    ]
    return subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, start_new_session=True
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """How it ended, and what it said; one that never ends is killed with all that it started."""
    try:
        told = process.communicate(timeout=120)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return process.returncode, told


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """The processes that it has started and that run, once there are some."""
    for _ in range(200):
        listed = subprocess.run(["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
        rows = [line.split(None, 2) for line in listed.splitlines()]
        found = [int(row[0]) for row in rows if row[1] == str(process.pid) and "spawn_main" in row[2]]
        if found or process.poll() is not None:
            return found
        time.sleep(0.05)
    return []


def gone(pids: list[int]) -> bool:
    """Whether none of some processes runs any more, within a few seconds."""
    for _ in range(100):
        states = subprocess.run(
            ["ps", "-o", "stat=", "-p", ",".join(map(str, pids))], capture_output=True, text=True, check=False
        )
        if all(state.startswith("Z") for state in states.stdout.split()):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda n: n.name)
def test_a_scan_that_is_told_to_end_leaves_no_process_and_goes_on(
    exports: Path, whole: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """One sentence where the signal allows one, no worker left over, and the second run comes to the same end."""
    process = started(exports, tmp_path / "out")
    workers = workers_of(process)
    assert workers
    process.send_signal(number)
    status, told = ended(process)
    assert status in (128 + number, -number)
    assert number is signal.SIGKILL or "goes on where it stopped" in told
    assert gone(workers)
    assert ended(started(exports, tmp_path / "out"))[0] == 0
    assert digest(tmp_path / "out") == digest(whole)


def test_a_killed_worker_is_told_and_a_second_run_completes_the_scan(
    exports: Path, whole: Path, tmp_path: Path
) -> None:
    """As the kernel does where memory runs out."""
    process = started(exports, tmp_path / "out")
    os.kill(workers_of(process)[0], signal.SIGKILL)
    status, told = ended(process)
    assert (status, "a worker process was killed" in told) == (5, True)
    assert ended(started(exports, tmp_path / "out"))[0] == 0
    assert digest(tmp_path / "out") == digest(whole)


def test_two_scans_into_one_output_come_to_the_same_end(exports: Path, whole: Path, tmp_path: Path) -> None:
    """Neither fails, and nothing is counted twice."""
    both = [started(exports, tmp_path / "out", workers) for workers in (1, 2)]
    assert [ended(process)[0] for process in both] == [0, 0]
    assert digest(tmp_path / "out") == digest(whole)


def _overwritten(file: Path) -> None:
    file.write_bytes(b"no database " * 4000)


def _torn(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def _changed(statement: str) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        with sqlite3.connect(file) as database:
            database.execute(statement)
            if "parts" in statement:  # so that the jobs are diagnosed again
                database.execute("UPDATE jobs SET inputs='older'")
        database.close()

    return change


@pytest.mark.parametrize(
    "damage",
    [_overwritten, _torn, _changed("UPDATE parts SET entries=x'00'"), _changed("UPDATE parts SET ties=x'7b7b'"),
     _changed("UPDATE jobs SET row=x'7b'")],
    ids=["overwritten", "torn", "entries", "ties", "rows"],
)  # fmt: skip
def test_damaged_records_are_told_with_what_to_do(
    exports: Path, whole: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    """No traceback; without the damaged file the same command completes the scan."""
    output = tmp_path / "out"
    shutil.copytree(whole, output)
    damage(output / "scan.sqlite")
    status, told = ended(started(exports, output))
    assert (status, "records are damaged" in told, "remove it" in told) == (5, True, True)
    (output / "scan.sqlite").unlink()
    assert ended(started(exports, output))[0] == 0
    assert digest(output) == digest(whole)


def test_a_file_that_goes_away_costs_itself_only(exports: Path, tmp_path: Path) -> None:
    """It is named in a note; the others are read."""
    folder = tmp_path / "in"
    shutil.copytree(exports, folder)
    process = started(folder, tmp_path / "out")
    workers_of(process)
    sorted(folder.iterdir())[-1].unlink()
    assert ended(process)[0] == 0
    assert (tmp_path / "out" / "index.html").exists()
