"""Launchers and frameworks that quote the exception of the process that they speak for."""

from __future__ import annotations

import pytest

from analyzer.entries import sift
from analyzer.entries.story import Options
from analyzer.model import Diagnosis, Entry, JobKey, Origin
from analyzer.pipeline import report_on
from analyzer.rulebook.cache import load_rulebook

OUTER = 'Traceback (most recent call last):\n  File "/app/train.py", line 9, in <module>\n    main()\n'
RAY = "ray.exceptions.{0}: {1}ray::fit() (pid=7, ip=10.0.0.2)\n  File \"/app/fit.py\", line 4, in fit\nValueError: no rows"
JAVA = (
    "py4j.protocol.Py4JJavaError: An error occurred while calling o12.fit.\n: org.apache.spark.SparkException: Job aborted "
    "due to stage failure: Task 3 failed 4 times\n\tat org.A.run(A.scala:1)\nCaused by: java.lang.IllegalStateException: no rows\n"
    "\tat com.acme.F.apply(F.scala:10)"
)


def diagnosis_of(*texts: str) -> Diagnosis:
    """The diagnosis of plain output."""
    job = JobKey("local", "", "run")
    entries = [Entry(text=t, job=job, origin=Origin.TEXT, source="log", sequence=n) for n, t in enumerate(texts)]
    (diagnosis,) = report_on(sift(entries), load_rulebook(), Options(), []).diagnoses
    return diagnosis


@pytest.mark.parametrize(
    ("quoted", "proof"),
    [
        (RAY.format("RayTaskError(ValueError)", ""), "ValueError: no rows"),
        (RAY.format("ActorDiedError", "The actor died because of an error raised in its creation task, "), "ValueError: no rows"),
        (JAVA, "Caused by: java.lang.IllegalStateException: no rows"),
    ],
    ids=["Ray's task", "Ray's actor", "Spark's executor"],
)
def test_what_a_wrapper_quotes_is_the_cause(quoted: str, proof: str) -> None:
    """Also where the process that failed has no log of its own."""
    root = diagnosis_of("step 1 loss 2.0", OUTER + quoted).root_cause
    assert root is not None
    assert root.rule == "user_exception.uncaught"
    assert root.evidence[0].text == proof


def test_what_a_wrapper_does_not_quote_is_not_known() -> None:
    """Then the line that names its exception is shown first."""
    diagnosis = diagnosis_of("step 1 loss 2.0", OUTER + "ray.exceptions.RayActorError: The actor died unexpectedly.")
    assert diagnosis.category == "unknown"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].text.startswith("ray.exceptions.RayActorError: ")


def test_a_download_that_failed_long_ago_is_the_cause_of_what_was_missed_later() -> None:
    """Training went on after the first of the two lines, but not after the second."""
    failed = "[nltk_data] Error loading punkt: <urlopen error [Errno 101]\n[nltk_data]     Network is unreachable>"
    missed = OUTER + "LookupError: \n" + "*" * 70 + "\n  Resource punkt not found.\n"
    steps = [f"step {n} loss 2.0" for n in range(9)]
    assert diagnosis_of(failed, *steps, missed).category == "network"
    assert diagnosis_of(*steps, missed).category == "user_exception"
