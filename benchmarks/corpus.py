"""Writes a corpus of Cloud Logging exports: many training jobs of both platforms, some of which fail, in NDJSON.

The same seed gives the same bytes. Every job has its life cycle, chatter and steps of a few frameworks; about two of
five end by one of a few causes, whose name the truth file keeps. Some lines are hostile: escapes, quotes, `\\u`
spellings, carriage returns, huge lines, NUL bytes.

    python benchmarks/corpus.py corpus.ndjson --megabytes 1000 --jobs 2000
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
from collections.abc import Iterator
from pathlib import Path

START = 1_772_500_000
Line = tuple[float, str, str, str]  # time, replica, severity, text

FAILURES: dict[str, list[str]] = {
    "out_of_memory.gpu": [
        "Traceback (most recent call last):",
        '  File "/app/train.py", line 214, in <module>',
        "    main(parse_args())",
        '  File "/app/train.py", line 171, in main',
        "    loss = model(batch).mean()",
        '  File "/opt/conda/lib/python3.10/site-packages/torch/nn/modules/module.py", line 1518, in _call_impl',
        "    return forward_call(*args, **kwargs)",
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
        "15.77 GiB of which 1.12 GiB is free.",
    ],
    "user_exception.file_not_found": [
        "Traceback (most recent call last):",
        '  File "/app/train.py", line 88, in <module>',
        "    data = open(args.index)",
        "FileNotFoundError: [Errno 2] No such file or directory: '/data/index.json'",
    ],
    "user_exception.value_error": [
        "Traceback (most recent call last):\n"
        '  File "/app/train.py", line 12, in <module>\n    fit("caf\u00e9 \\"x\\"")\n'
        "ValueError: shapes (3,4) and (5,6) not aligned",
    ],
    "user_exception.import_error": [
        "Traceback (most recent call last):",
        '  File "/app/train.py", line 3, in <module>',
        "    import flash_attn",
        "ModuleNotFoundError: No module named 'flash_attn'",
    ],
}
_CHATTER = (
    "{stamp} INFO trainer.data: loaded shard {n} of 1024 in {f:.2f}s",
    "I{short} {n} input_pipeline.py:{m}] prefetch queue depth {m}, wait {f:.3f} ms",
    "cache hit ratio {f:.3f} after {n} lookups",
    "{stamp} - httpx - INFO - HTTP Request: GET https://metrics.internal/push/{n} \"HTTP/1.1 200 OK\"",
    "gradient norm {f:.4f}, learning rate {f:.6f}",
)
_LOUD = (
    "W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT",
    "WARNING:urllib3.connectionpool:Retrying (Retry(total=2)) after connection broken by 'ConnectionResetError'",
    "UserWarning: This DataLoader will create 8 worker processes in total.",
)
_STEPS = (
    "step {n} loss {f:.4f} lr 1.0e-04 tokens/s {m}",
    "Epoch {e}:  {p}%|████      | {n}/90000 [01:22<10:03, {f:.2f}it/s, loss={f:.3f}]",
    "[{stamp}] [INFO] [logging.py:96:log_dist] [Rank 0] step={n}, skipped=0, lr=[6e-05], mom=[(0.9, 0.95)]",
    "{n}/90000 - {m}s - loss: {f:.4f} - val_loss: {f:.4f}",
)
_HOSTILE = (
    'quoted "Traceback (most recent call last)" in a \\n string \u2028 end',
    "progress 10%\rprogress 50%\rprogress 100%",
    "x" * 9000,
    '{"nested": "json", "message": "Error: not one"}',
    "\x1b[31mred\x1b[0m and \u0000 nul",
)


class Job:
    """One job of the corpus: who takes part, what they say, how it ends."""

    def __init__(self, number: int, chance: random.Random, lines: int, least: int = 40) -> None:
        self.number, self.chance = number, chance
        self.vertex = chance.random() < 0.6
        self.id = str(4_000_000_000_000_000_000 + number * 977) if self.vertex else f"train-{number:05d}"
        self.replicas = [self._name(n) for n in range(chance.choice((1, 2, 4, 8)))]
        self.cause = chance.choice(sorted(FAILURES)) if chance.random() < 0.4 else None
        self.begin = START + chance.random() * 86_400
        self.lines = max(least, int(lines * chance.choice((0.3, 0.6, 1.0, 1.0, 2.1))))

    def _name(self, number: int) -> str:
        pool = "workerpool0-0" if number == 0 else f"workerpool1-{number - 1}"
        return pool if self.vertex else f"{self.id}-{number}"

    def story(self) -> Iterator[Line]:
        """Its lines in the order of time."""
        chance, time = self.chance, self.begin
        if self.vertex:
            for text in ("Waiting for job to be provisioned.", "Waiting for training program to start."):
                yield time, "service", "INFO", text
                time += 40
        style, step = chance.choice(_STEPS), 0
        for replica in self.replicas:
            yield time, replica, "INFO", f"Running module trainer.task on {len(self.replicas)} replicas."
            time += chance.random()
        for _ in range(self.lines // len(self.replicas)):
            step += 10
            for replica in self.replicas:
                time += chance.random() * 0.8
                yield time, replica, *self._line(style, step, time)
            if chance.random() < 0.002:
                yield time, self.replicas[0], "INFO", f"Saving checkpoint to gs://models/{self.id}/ckpt-{step}"
        yield from self._end(time)

    def _line(self, style: str, step: int, time: float) -> tuple[str, str]:
        roll, chance = self.chance.random(), self.chance
        if roll < 0.008:
            return "WARNING", chance.choice(_LOUD)
        if roll < 0.009:
            return "ERROR", chance.choice(_HOSTILE)
        values = {
            "n": step, "m": chance.randrange(900), "f": chance.random() * 4, "e": step // 900, "p": step % 100,
            "stamp": stamp(time)[:19].replace("T", " ") + ",512", "short": "0311 08:21:33.123456",
        }  # fmt: skip
        return "INFO", (style if roll < 0.45 else chance.choice(_CHATTER)).format(**values)

    def _end(self, time: float) -> Iterator[Line]:
        failing = self.replicas[-1]
        for text in FAILURES[self.cause] if self.cause else ():
            time += 0.001
            yield time, failing, "ERROR", text
        if self.cause is None:
            yield time + 1, self.replicas[0], "INFO", "Training finished."
        if self.vertex:
            word = "Job completed successfully."
            if self.cause:
                word = f"The replica {failing} exited with a non-zero status of 1."
            yield time + 5, "service", "ERROR" if self.cause else "INFO", word

    def entry(self, line: Line, number: int) -> dict[str, object]:
        """A line as the LogEntry that the export holds."""
        time, replica, severity, text = line
        when = stamp(time)
        if self.vertex:
            owner = {"project_id": "acme-train", "job_id": self.id, "task_name": replica}
            resource = {"type": "ml_job", "labels": owner}
            name, labels = f"projects/acme-train/logs/{replica}", {
                "ml.googleapis.com/endpoint": "", "compute.googleapis.com/zone": "us-central1-a",
                "compute.googleapis.com/resource_name": f"gke-cml-{self.number:x}-{replica}",
                "compute.googleapis.com/resource_id": str(7_000_000_000 + self.number),
                "ml.googleapis.com/trial_type": "",
            }  # fmt: skip
            payload: dict[str, object] = {"jsonPayload": {
                "message": text, "levelname": severity, "attrs": {"tag": "workerpool"}, "created": time, "lineno": 96,
                "pathname": "/app/train.py",
            }}  # fmt: skip
        else:
            resource = {"type": "k8s_container", "labels": {
                "project_id": "acme-train", "cluster_name": "train-a", "location": "us-central1",
                "namespace_name": "ml", "pod_name": replica, "container_name": "main",
            }}  # fmt: skip
            name, labels = "projects/acme-train/logs/stdout", {
                "k8s-pod/job-name": self.id, "k8s-pod/batch_kubernetes_io/job-name": self.id,
                "compute.googleapis.com/resource_name": f"gke-train-a-gpu-{self.number % 97:02d}-x1",
                "k8s-pod/controller-uid": f"5f1e{self.number:08x}-aa11-4b2c-9d3e-0123456789ab",
            }  # fmt: skip
            payload = {"textPayload": text}
        return {"insertId": f"{self.number:05x}{number:08x}", **payload, "resource": resource, "timestamp": when,
                "severity": severity, "labels": labels, "logName": name, "receiveTimestamp": when}  # fmt: skip


def stamp(time: float) -> str:
    """Seconds since 1970 as Cloud Logging writes a time."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(time, tz=UTC).strftime("%Y-%m-%dT%H:%M:%S.%f") + "000Z"


def _numbered(job: Job) -> Iterator[tuple[Line, int, Job]]:
    return ((line, number, job) for number, line in enumerate(job.story()))


def corpus(jobs: int, lines: int, seed: int, least: int = 40) -> Iterator[tuple[bytes, Job]]:
    """All lines of all jobs in the order of time, with the job that each is of; no job has fewer than `least`."""
    chance = random.Random(seed)
    made = [Job(number, random.Random(chance.random()), lines, least) for number in range(jobs)]
    for line, number, job in heapq.merge(*map(_numbered, made), key=lambda item: item[0][0]):
        entry = job.entry(line, number)
        ascii_only = job.number % 3 == 0
        yield json.dumps(entry, ensure_ascii=ascii_only, separators=(",", ":")).encode() + b"\n", job


def main() -> None:
    """Writes the corpus and beside it what really happened (`.truth.json`)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    lines = given.megabytes * 1_000_000 // 930 // given.jobs
    truth: dict[str, str | None] = {}
    with given.output.open("wb") as file:
        for line, job in corpus(given.jobs, lines, given.seed):
            truth[job.id] = job.cause
            file.write(line)
    given.output.with_suffix(".truth.json").write_text(json.dumps(truth, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
