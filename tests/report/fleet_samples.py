"""Fleets for the tests of the fleet report: simulated rows with the shapes of real ones."""

from __future__ import annotations

import random
from hashlib import sha256

from hostile import with_text
from msgspec.structs import replace

from analyzer.model import Fleet, Instant, JobRow, Note, Tool

_FAILURES = (  # category, cause, exception, user frame, exit code, share
    ("user_exception", "import_error", "ModuleNotFoundError", "trainer/task.py:main", 1, 9),
    ("user_exception", "shape_mismatch", "RuntimeError", "trainer/model.py:forward", 1, 7),
    ("user_exception", "checkpoint_mismatch", "RuntimeError", "trainer/task.py:restore", 1, 4),
    ("out_of_memory", "gpu", "torch.OutOfMemoryError", "trainer/model.py:attention", 1, 8),
    ("out_of_memory", "host", None, None, 137, 8),
    ("stockout", "region", None, None, None, 6),
    ("preemption", "spot", None, None, 143, 5),
    ("internal", "service", None, None, None, 2),
    ("network", "nccl", "torch.distributed.DistBackendError", "trainer/task.py:step", 1, 4),
    ("permission", "storage_objects_get", "google.api_core.exceptions.Forbidden", "trainer/data.py:open", 1, 3),
    ("storage", "bucket_not_found", "NotFound", "trainer/data.py:open", 1, 2),
    ("timeout", "deadline", None, None, None, 2),
    ("hardware", "xid", None, None, 1, 1),
    ("unknown", "exit_code_only", None, None, 1, 3),
)
_REGIONS = ("us-central1", "us-east4", "europe-west4", "asia-northeast1", "us-west1")
_MACHINES = (
    ("n1-standard-8", "1 × NVIDIA_TESLA_T4", 1), ("a2-highgpu-4g", "4 × NVIDIA_TESLA_A100", 4),
    ("a3-highgpu-8g", "8 × NVIDIA_H100_80GB", 8), ("n2-highmem-16", None, 0), ("g2-standard-24", "2 × NVIDIA_L4", 2),
)  # fmt: skip
_TEAMS = ("ranking", "speech", "vision", "forecast")


def simulated_fleet(number: int, days: float = 60, *, known_share: float = 0.8) -> Fleet:
    """A fleet of so many jobs over so many days; the same number gives the same fleet."""
    chance = random.Random(number)
    start = Instant.parse("2026-03-01T00:00:00Z")
    assert start is not None
    rows = [_row(chance, index, start.plus(days * 86_400 * index / number)) for index in range(number)]
    prints = sorted({row.fingerprint for row in rows if row.fingerprint})
    known = [name for name in prints if chance.random() < known_share]
    tool = Tool(version="0.1.0", rulebook_version="2026.03")
    return Fleet(rows=rows, tool=tool, known=known, files=["jobs.parquet", "jobs.jsonl"])


def hostile_fleet(text: str) -> Fleet:
    """A fleet of 40 jobs in which every open text is this one."""
    fleet = simulated_fleet(40)
    keep = ("outcome", "category", "platform", "fingerprint")
    rows = [replace(with_text(row, text), **{name: getattr(row, name) for name in keep}) for row in fleet.rows]
    note = Note("x", text, text, 1)
    return Fleet(rows=rows, tool=with_text(fleet.tool, text), notes=[note], files=[text], known=[text])


def _row(chance: random.Random, index: int, created: Instant) -> JobRow:
    machine, accelerator, chips = chance.choice(_MACHINES)
    team, replicas = chance.choice(_TEAMS), chance.choice((1, 1, 2, 4, 8, 16))
    hours = chance.expovariate(1 / 7)
    failed = chance.random() < 0.34
    row = JobRow(
        id=str(10**18 + index * 7919), platform=chance.choice(("vertex", "vertex", "ai_platform", "gke")),
        project=f"{team}-{chance.choice(('prod', 'dev'))}", region=chance.choice(_REGIONS),
        display_name=f"{team}-{chance.choice(('bert', 'gnn', 'asr', 'vit', 'tft'))}-{index:05d}", machine_type=machine,
        accelerator=accelerator, image=f"europe-docker.pkg.dev/{team}/train:v{chance.randint(1, 4)}",
        labels={"team": team, "experiment": f"e{chance.randint(1, 30)}"}, created=created,
        started=created.plus(240), ended=created.plus(240 + hours * 3600), attempts=1, replicas=replicas,
        replica_hours=hours * replicas, gpu_hours=hours * replicas * chips, outcome="succeeded", category="success",
        cause="completed", summary="The job succeeded.", report=f"jobs/{index:05d}.html",
    )  # fmt: skip
    if chance.random() < 0.15:
        row.restarts_total, row.preemptions = chance.randint(2, 5), chance.randint(0, 1)
        row.cause, row.summary = "after_restarts", f"The job succeeded after {row.restarts_total} restarts."
    return _failed(row, chance, hours) if failed else row


def _failed(row: JobRow, chance: random.Random, hours: float) -> JobRow:
    category, cause, exception, frame, code, _ = chance.choices(_FAILURES, [failure[5] for failure in _FAILURES])[0]
    line = chance.choice((41, 41, 41, 97, 203))
    row.outcome, row.category, row.cause, row.exception, row.exit_code = "failed", category, cause, exception, code
    row.user_frame = f"{frame}:{line}" if frame else None
    row.replica = f"workerpool0-{chance.randint(0, row.replicas - 1)}"
    row.fingerprint = sha256(f"{category}.{cause} {exception} {row.user_frame}".encode()).hexdigest()[:16]
    row.lost_seconds = min(hours, chance.expovariate(1.2)) * 3600
    ended = "" if code is None else f" (exit code {code})"
    row.summary = f"{row.replica} failed: {cause.replace('_', ' ')} in {row.user_frame or 'the service'}{ended}."
    return row
