"""A scan that is killed, or runs out of disk, loses nothing that it recorded and shows nothing that is not whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from exports import digest, run, write_exports

LITTLE_ROOM = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Runs Python with the words that follow, in which no file may grow beyond 60 kB."""


def command(exports: Path, output: Path, workers: int) -> list[str]:
    """A scan as a user runs it."""
    return [sys.executable, "-m", "analyzer", "scan", str(exports), "--output", str(output), "--workers", str(workers), "--quiet"]


@pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")
def test_killed_at_any_moment_it_goes_on_to_the_same_end(tmp_path: Path) -> None:
    """kill -9 at random moments, then the same command: the same result as one undisturbed scan, and whole files only."""
    exports = write_exports(tmp_path / "in", jobs=16, hours=6)
    run([exports], tmp_path / "whole")
    chance = random.Random(11)
    output = tmp_path / "out"
    for _ in range(10):
        process = subprocess.Popen(command(exports, output, 1), stdout=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.4, 2.2))
        process.send_signal(signal.SIGKILL)
        process.wait()
        if (output / "index.html").exists():
            assert (output / "index.html").read_text().rstrip().endswith("</html>")
    subprocess.run(command(exports, output, 1), check=True, stdout=subprocess.DEVNULL)
    assert digest(output) == digest(tmp_path / "whole")


@pytest.mark.skipif(os.name == "nt", reason="no limit on the size of files")
def test_a_full_disk_is_told_and_the_scan_goes_on_later(tmp_path: Path) -> None:
    """Where no more can be written there is one clear sentence; with room again the same command completes it."""
    exports = write_exports(tmp_path / "in", jobs=6)

    # A process of its own takes the limit: code between fork and exec may wait for ever for a lock of another thread.
    limited = [sys.executable, "-c", LITTLE_ROOM, *command(exports, tmp_path / "out", 1)[1:]]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert done.returncode == 5
    assert "make room" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out" / "index.html").exists()
    subprocess.run(command(exports, tmp_path / "out", 1), check=True, stdout=subprocess.DEVNULL)
    run([exports], tmp_path / "whole")
    assert digest(tmp_path / "out") == digest(tmp_path / "whole")
