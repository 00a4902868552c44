"""Prints what `diagnose watch` holds in memory while a job on a loopback Logging service prints and fails for ever.

    python benchmarks/watching.py --minutes 10 --lines 200

Needs the packages of the tests, whose server it is (`tests/live`). It counts what the watching process holds (resident
memory, where Linux's /proc tells it) every half minute, then ends the job and waits for the diagnosis.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests" / "live"))

from api_server import ApiServer
from compare import PROGRAM
from live_jobs import JOB, PROJECT, custom_job, entry, vertex_path
from logging_server import LoggingServer

from analyzer.model import SECOND, Instant

_EVERY = 30.0
_LIVES = 5000
"""So many lines a replica prints between two starts."""

_LAST = entry(0, "Job failed.", "service")
del _LAST["timestamp"]


def chatter() -> Iterator[dict[str, Any]]:
    """What four replicas of a job print for ever, now: steps, and at times a traceback of its own kind and a start."""
    number = 0
    while True:
        task, text = f"workerpool1-{number % 4}", f"step {number} loss {1 / (number + 1):.6f}"
        if number % _LIVES < 4:
            text = "Running module trainer.task."
        elif number % _LIVES > _LIVES - 4:
            text = f"Traceback (most recent call last):\n  File 'a.py', line 1\nKeyError: 'k{number}'"
        line = entry(number, text, task, severity="ERROR" if "KeyError" in text else "INFO")
        line["timestamp"] = str(Instant(int(time.time() * SECOND)))
        yield line
        number += 1


def resident(process: int) -> float:
    """Megabytes of memory that a process holds."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def main() -> None:
    """Runs the watch and prints a row each half minute."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--lines", type=int, default=200, help="lines a second")
    given = parser.parse_args()
    service, api, lines = LoggingServer(), ApiServer(), chatter()
    api.jobs[vertex_path()] = custom_job("JOB_STATE_RUNNING")
    service.add(*(next(lines) for _ in range(1000)))
    environment = {
        **os.environ, "DIAGNOSE_LOGGING_ENDPOINT": service.address, "DIAGNOSE_API_ENDPOINT": api.address,
    }  # fmt: skip
    command = [*PROGRAM, "watch", JOB, "-p", PROJECT, "--region", "us-central1", "--grace", "1", "--format", "json"]
    print("| minutes | entries | resident MB |\n|---|---|---|", flush=True)
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        told = _feed(process, service, lines, given)
        api.jobs[vertex_path()] = custom_job()
        service.add({**next(lines), **_LAST})
        assert process.stderr is not None
        told += process.stderr.read().count(b"\n")
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = used.ru_utime + used.ru_stime
    print(f"status {process.returncode}, {told} lines told, {seconds:.1f} processor s in all, ", end="")
    print(f"peak {used.ru_maxrss / 1024:.0f} MB with the diagnosis at the end")
    service.close()
    api.close()


def _feed(process: subprocess.Popen[bytes], service: LoggingServer, lines: Iterator[Any], given: Any) -> int:
    """Logs lines until the time is over; gives how many lines the watch told meanwhile."""
    assert process.stderr is not None
    os.set_blocking(process.stderr.fileno(), False)
    begin, shown, told = time.monotonic(), 0.0, 0
    while (now := time.monotonic() - begin) < given.minutes * 60:
        service.add(*(next(lines) for _ in range(given.lines // 10)))
        told += (process.stderr.read() or b"").count(b"\n")
        if now >= shown:
            print(f"| {now / 60:.1f} | {len(service.entries):,} | {resident(process.pid):.0f} |", flush=True)
            shown += _EVERY
        time.sleep(max(0.0, 0.1 - (time.monotonic() - begin - now)))
    os.set_blocking(process.stderr.fileno(), True)
    return told


if __name__ == "__main__":
    main()
