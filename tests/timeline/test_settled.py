"""Timelines that are told once more, since the judge knows better than the first telling how the job ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from chain import rulebook

from analyzer.entries import Options
from analyzer.model import Diagnosis
from analyzer.pipeline import diagnose_paths

TRACEBACK = 'Traceback (most recent call last):\n  File "/app/a.py", line 3, in <module>\n    main()\nOSError: no such part\n'
STEPS = "".join(f"2024-06-03 09:0{n}:00 step {n * 100}/400 loss 0.{9 - n}\n" for n in range(1, 5))
TRIAL = "INFO\t2018-06-25 13:{minute}:00 +0000\tmaster-replica-0\t{trial}\t{text}\n"


def diagnosis_of(folder: Path, text: str) -> Diagnosis:
    """The diagnosis of a plain text."""
    path = folder / "job.log"
    path.write_text(text, encoding="utf-8")
    (found,) = diagnose_paths([str(path)], rulebook(), Options()).diagnoses
    return found


@pytest.mark.parametrize("end", ["Training completed. Model saved to /out.\n", ""])
def test_what_was_survived_is_no_end_with_an_error(tmp_path: Path, end: str) -> None:
    """A traceback that the program went on after, whether its log then tells of a good end or of none."""
    batches = "".join(f"batch {n} ok\n" for n in range(40))
    found = diagnosis_of(tmp_path, batches[:100] + TRACEBACK + batches + end)
    assert found.outcome in ("succeeded", "unknown")
    (attempt,) = found.timeline.attempts
    assert attempt.end_reason in ("success", None)
    assert {run.reason for lane in attempt.replicas for run in lane.runs} <= {"completed", "unknown"}
    assert not found.timeline.lost_seconds


def test_a_launchers_report_ends_the_only_run(tmp_path: Path) -> None:
    """It states the exit code of a rank; the container's own end stands nowhere, and is marked as deduced."""
    report = (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "=" * 60 + "\ntrain.py FAILED\n"
        + "-" * 60 + "\nFailures:\n  <NO_OTHER_FAILURES>\n" + "-" * 60 + "\nRoot Cause (first observed failure):\n[0]:\n"
        "  time      : 2024-06-03_09:05:00\n  host      : a\n  rank      : 0 (local_rank: 0)\n"
        "  exitcode  : 1 (pid: 7)\n" + "=" * 60 + "\n"
    )  # fmt: skip
    lines = TRACEBACK.replace("OSError: no such part", "KeyError: 'depth'")
    failed = "".join(f"[rank0]: {line}\n" for line in lines.splitlines())
    found = diagnosis_of(tmp_path, STEPS + failed + report)
    (attempt,) = found.timeline.attempts
    ((run,),) = [lane.runs for lane in attempt.replicas]
    assert (found.outcome, attempt.end_reason, run.reason) == ("failed", found.category, "error")
    assert "reason" in run.deduced


def test_trials_of_streamed_logs_are_no_retries(tmp_path: Path) -> None:
    """The fourth column names the trial: they stand side by side, and none is a restart of another."""
    head = "INFO\t2018-06-25 13:01:00 +0000\tservice\t\tJob hpt_7 is queued.\n"
    said = "".join(
        TRIAL.format(minute=f"{trial}{n}", trial=trial, text=text)
        for trial in (1, 2)
        for n, text in enumerate(("Running module trainer.task.", "loss = 7.1, step = 1", "Task completed successfully."))
    )
    timeline = diagnosis_of(tmp_path, head + said).timeline
    (attempt,) = timeline.attempts
    assert [lane.trial for lane in attempt.replicas] == [1, 2]
    assert timeline.restarts_total == 0
