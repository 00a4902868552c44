"""A job whose log leaks a text wherever a log can: in messages, tracebacks, arguments and paths."""

from __future__ import annotations

import json


def leaky_job(number: int, text: str) -> list[str]:
    """The lines of an export: a Vertex AI job that failed, with the text all over."""
    job = str(7_000_000_000_000_000_000 + number)
    labels = {"job_id": job, "project_id": "acme-ml"}

    def entry(second: int, task: str, severity: str, message: str) -> str:
        return json.dumps({
            "insertId": f"i{number}-{second}", "timestamp": f"2026-03-01T10:00:{second:02d}Z", "severity": severity,
            "logName": "projects/acme-ml/logs/workerpool0-0", "textPayload": message,
            "resource": {"type": "ml_job", "labels": {**labels, "task_name": task}},
        })  # fmt: skip

    traceback = (
        "Traceback (most recent call last):\n"
        f'  File "/app/train.py", line 7, in main\n    connect({text!r})\n'
        f'  File "/app/net.py", line 3, in connect\n    raise ConnectionError({text!r})\n'
        f"ConnectionError: cannot connect: {text}\n"
    )
    return [
        entry(1, "service", "INFO", "Job is preparing."),
        entry(2, "service", "INFO", "Job is running."),
        entry(3, "workerpool0-0", "INFO", f"Running command: python3 -m trainer.task {text}"),
        entry(4, "workerpool0-0", "INFO", text),
        entry(5, "workerpool0-0", "INFO", f"step 10 loss 0.5 {text}"),
        entry(6, "workerpool0-0", "INFO", f"Saving model checkpoint to gs://bucket/checkpoint-10 {text}"),
        entry(7, "workerpool0-1", "WARNING", f"Connection reset by peer {text}"),
        entry(8, "workerpool0-0", "ERROR", traceback),
        entry(9, "workerpool0-0", "ERROR", text),
        entry(10, "service", "ERROR", f"The replica workerpool0-0 exited with a non-zero status of 1. {traceback}"),
        entry(11, "service", "ERROR", "Job failed."),
    ]
