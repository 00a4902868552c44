"""The Spark engine on a real standalone cluster of two workers on this machine, one of which is killed in the middle."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from exports import digest, run, write_exports

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def java() -> str | None:
    """A Java that Spark 4 runs on (17 or newer)."""
    home = os.environ.get("JAVA_HOME")
    for command in filter(None, (home and f"{home}/bin/java", "java")):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            told = subprocess.run([command, "-version"], capture_output=True, text=True, check=False, timeout=60).stderr
            version = told.partition('"')[2].partition(".")[0].partition('"')[0]
            if version.isdigit() and int(version) >= 17:
                return command
    return None


def left_out() -> str | None:
    """Why the test cannot run here."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed (pip install 'training-job-analyzer[spark]')"
    return None if java() else "no Java 17 or newer was found"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A master and two workers on loopback."""
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m",
                   "JDK_JAVA_OPTIONS": QUICK, "PYSPARK_PYTHON": sys.executable}  # fmt: skip
    ports = [_free_port() for _ in range(6)]
    address = f"spark://127.0.0.1:{ports[0]}"

    def start(*words: str) -> subprocess.Popen[bytes]:
        command = [str(home / "bin" / "spark-class"), *words]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet, start_new_session=True)

    host = ("--host", "127.0.0.1")
    processes = [start("org.apache.spark.deploy.master.Master", *host, "--port", str(ports[0]), "--webui-port", str(ports[1]))]
    _wait_for(ports[0])
    for n in (2, 4):
        processes.append(
            start("org.apache.spark.deploy.worker.Worker", address, *host, "--port", str(ports[n]), "--webui-port",
                  str(ports[n + 1]), "--cores", "1", "--memory", "1g", "--work-dir", str(tmp_path / f"work{n}"))
        )  # fmt: skip
        _wait_for(ports[n])
    yield address, processes
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _free_port() -> int:
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        return int(chosen.getsockname()[1])


def _wait_for(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.2)
    raise TimeoutError(f"nothing listens on port {port}")


def test_a_cluster_that_loses_a_worker_finds_the_same(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Two workers, one killed while it reads: the result is that of this process alone."""
    reason = left_out()
    if reason is not None:
        pytest.skip(f"THE SPARK TEST IS LEFT OUT: {reason}")
    address, processes = request.getfixturevalue("cluster")
    exports = write_exports(tmp_path / "in", jobs=24, lines=400, hours=24)
    run([exports], tmp_path / "local")
    command = [sys.executable, "-m", "analyzer", "scan", str(exports), "--output", str(tmp_path / "spark"), "--engine", "spark",
               "--master", address, "--quiet"]  # fmt: skip
    settings = "--conf spark.driver.host=127.0.0.1 --conf spark.driver.bindAddress=127.0.0.1 --conf spark.executor.memory=600m"
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "JDK_JAVA_OPTIONS": QUICK, "PYSPARK_PYTHON": sys.executable,
                   "PYSPARK_SUBMIT_ARGS": f"{settings} --conf spark.ui.enabled=false pyspark-shell"}  # fmt: skip
    with (tmp_path / "driver.log").open("wb") as log:
        driver = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        _when_executors_run(tmp_path / "work4")
        os.killpg(processes[2].pid, signal.SIGKILL)
        assert driver.wait(timeout=240) == 0, (tmp_path / "driver.log").read_text()[-3000:]
    assert digest(tmp_path / "spark") == digest(tmp_path / "local")


def _when_executors_run(work: Path) -> None:
    """Waits until a worker's executor has a Python at work."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if any("Running task" in log.read_text(errors="replace") for log in work.glob("*/*/stderr")):
            return
        time.sleep(0.2)
    raise TimeoutError("no executor began to work")
