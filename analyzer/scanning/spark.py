"""The same scan on Spark: objects are listed here, read and merged by executors, and recorded here.

Names go to the cluster as values, since Hadoop's globbing cannot read the colons in a sink's object names. Executors
need this package (in their image, or by `--py-files`) and the right to read the objects.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from analyzer.errors import RemoteError, UsageError
from analyzer.scanning.engines import Engine, Read, Trace
from analyzer.scanning.parts import Done, Part, merged
from analyzer.scanning.settings import Settings

Task = TypeVar("Task")
Result = TypeVar("Result")
_SLICE = 4 << 10  # tasks at most; more only cost the driver


class Spark:
    """Runs on the master that the settings name, on that of the environment (`spark-submit`), or on `local[*]`."""

    is_remote = True

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._context: Any = None

    def __enter__(self) -> Engine:
        try:
            from py4j.protocol import Py4JError
            from pyspark import SparkConf, SparkContext
            from pyspark.errors import PySparkException
        except ImportError as error:
            raise UsageError(
                "--engine spark needs a package that is not installed",
                advice="pip install 'training-job-analyzer[spark]'",
            ) from error
        conf = SparkConf().setAppName("diagnose scan").set("spark.ui.showConsoleProgress", "false")
        if self._settings.master is not None:
            conf = conf.setMaster(self._settings.master)
        elif not conf.contains("spark.master"):
            conf = conf.setMaster("local[*]")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        try:
            self._context = SparkContext.getOrCreate(conf)
        except (PySparkException, Py4JError, OSError) as error:
            raise RemoteError(f"no Spark session could be begun ({error})", advice="check --master and Java") from error
        self._context.setLogLevel("ERROR")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Trace) -> None:
        if self._context is not None:
            self._context.stop()

    def read(self, work: Callable[[Task], Read], units: Iterable[Task]) -> Iterator[Read]:
        """Reads units; the parts of one object that are of one job come merged, under one of its units."""
        tasks = list(units)
        if not tasks:
            return
        pairs = self._context.parallelize(tasks, min(len(tasks), _SLICE)).flatMap(lambda unit: _pairs(*work(unit)))
        parts: dict[str, list[Part]] = {}
        done: list[Done] = []
        for (name, _), value in pairs.reduceByKey(merged).toLocalIterator():
            if isinstance(value, Done):
                done.append(value)
            else:
                parts.setdefault(name, []).append(value)
        for item in sorted(done, key=lambda item: (item.unit.name, item.unit.start)):
            yield item, parts.pop(item.unit.name, [])

    def run(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """The results of tasks that carry all that they need."""
        items = list(tasks)
        if items:
            yield from self._context.parallelize(items, min(len(items), _SLICE)).map(work).toLocalIterator()


def _pairs(done: Done, parts: list[Part]) -> list[tuple[tuple[str, str], Done | Part]]:
    pairs: list[tuple[tuple[str, str], Done | Part]] = [((done.unit.name, f"\0{done.unit.start}"), done)]
    return pairs + [((done.unit.name, part.key), part) for part in parts]
