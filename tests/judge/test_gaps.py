"""What the input lacks is said, with the command that fetches it; a log that is merely quiet lacks nothing."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator

import pytest

from analyzer.entries import Options, sift
from analyzer.facts.log_losses import ENTRY_LIMIT, losses
from analyzer.model import Diagnosis, Entry, Gap, Instant, JobKey, Origin
from analyzer.pipeline import diagnose_entries, diagnose_paths, report_on
from analyzer.rulebook.cache import load_rulebook
from analyzer.rulebook.telling import telling

VERTEX = JobKey("vertex", "acme-ml", "77")
POD = JobKey("gke", "", "fit-0")
BEGIN = Instant.parse("2026-03-11T08:00:03Z") or Instant(0)
MINUTE = 60
HOUR = 3600


def line(second: float, text: str, *, job: JobKey = VERTEX, replica: str | None = "workerpool0-0", **more: object) -> Entry:
    """A line of a replica so many seconds after the begin."""
    origin = Origin.SERVICE if replica is None else Origin.REPLICA
    values = {"insert_id": f"i{second:09.1f}", "origin": origin, "time": BEGIN.plus(second)} | more
    return Entry(text=text, job=job, replica=replica, **values)  # type: ignore[arg-type]


def started() -> list[Entry]:
    """What the service says before a job runs."""
    return [line(-60, "Job is preparing.", replica=None), line(-30, "Job is running.", replica=None)]


def steps(first: int, second: int, count: int, pace: int = MINUTE, stride: int = 10) -> Iterator[Entry]:
    """Lines of training from a step and second on."""
    for n in range(count):
        yield line(second + n * pace, f"step {first + n * stride} loss 0.5")


def words(second: int, count: int, pace: int = MINUTE) -> Iterator[Entry]:
    """Lines without a counter."""
    names = ("alpha", "beta", "gamma", "delta", "epsilon")
    for n in range(count):
        yield line(second + n * pace, f"loaded the shard {names[n % 5]} from the cache")


def diagnosed(entries: Iterable[Entry], lang: str = "en") -> Diagnosis:
    """The diagnosis of the only job."""
    (diagnosis,) = diagnose_entries(entries, load_rulebook(), Options(lang=lang)).diagnoses
    return diagnosis


def gaps(entries: Iterable[Entry], kind: str) -> list[Gap]:
    """The gaps of a kind."""
    return [gap for gap in diagnosed(entries).gaps if gap.kind == kind]


# -- holes


def test_a_silence_over_which_the_counter_went_on_is_a_hole() -> None:
    """An hour without a line, after which training is 60 lines further."""
    (hole,) = gaps([*started(), *steps(0, 0, 90), *steps(1500, 150 * MINUTE, 60)], "hole")
    assert "from 890 to 1500" in hole.text
    assert hole.command is not None
    assert 'timestamp>="2026-03-11T09:29:03Z" AND timestamp<="2026-03-11T10:30:03Z"' in hole.command


def test_a_silence_after_which_the_counter_goes_on_is_a_quiet_phase() -> None:
    """An evaluation of two hours between two steps lacks no line."""
    assert gaps([*started(), *steps(0, 0, 90), *steps(900, 210 * MINUTE, 90)], "hole") == []


def test_a_counter_that_fell_back_tells_of_a_restart_not_of_a_hole() -> None:
    """Two hours in the queue, then training from an older checkpoint."""
    assert gaps([*started(), *steps(0, 0, 90), *steps(500, 210 * MINUTE, 90)], "hole") == []


def test_a_steady_log_without_counter_that_is_silent_once_has_a_hole() -> None:
    """Three hours of lines, ninety minutes of nothing, three hours of lines."""
    (hole,) = gaps([*started(), *words(0, 180), *words(270 * MINUTE, 180)], "hole")
    assert "1 h 31 min" in hole.text


@pytest.mark.parametrize(
    "entries",
    [
        [*words(0, 180), *words(270 * MINUTE, 20)],
        [*words(0, 20), *words(110 * MINUTE, 180)],
        [*words(0, 120), *words(210 * MINUTE, 120), *words(420 * MINUTE, 120)],
        [*words(0, 12, 40 * MINUTE), *words(20 * HOUR, 12, 40 * MINUTE)],
        [*words(0, 180), *words(230 * MINUTE, 180)],
    ],
    ids=["hang that ends soon", "long compilation", "evaluation every two hours", "sparse log", "short silence"],
)
def test_normal_quiet_is_no_hole(entries: list[Entry]) -> None:
    """Phases in which programs say nothing."""
    assert gaps([*started(), *entries], "hole") == []


def test_a_job_that_was_tried_again_has_no_hole_before_that() -> None:
    """The service set the job up anew at the end of the silence."""
    again = [line(268 * MINUTE, "Waiting for training program to start.", replica=None)]
    assert gaps([*started(), *words(0, 180), *again, *words(270 * MINUTE, 180)], "hole") == []


def test_holes_are_seen_in_what_is_kept_of_a_long_log() -> None:
    """Leaving out chatter moves no edge of a hole."""
    entries = [*started(), *steps(0, 0, 4000, 2, 1), *steps(9000, 5 * HOUR, 4000, 2, 1)]
    kept = sift(entries, telling(load_rulebook()))
    assert sum(len(partial.entries) for partial in kept.values()) < 1000
    (thin,) = report_on(kept, load_rulebook(), Options(), []).diagnoses
    assert thin.gaps == diagnosed(entries).gaps
    assert [gap.kind for gap in thin.gaps] == ["hole"]


# -- entries that are not whole


def split_entry(index: int, total: int, uid: str = "u1") -> str:
    """A part of an entry as an export has it."""
    entry = {
        "insertId": f"a-{index}", "timestamp": "2026-03-11T08:00:03Z", "logName": "projects/acme-ml/logs/workerpool0-0",
        "resource": {"type": "ml_job", "labels": {"job_id": "77", "project_id": "acme-ml", "task_name": "workerpool0-0"}},
        "textPayload": f"part {index}; ", "split": {"uid": uid, "index": index, "totalSplits": total},
    }  # fmt: skip
    return json.dumps(entry) + "\n"


def gaps_of_files(tmp_path, *contents: str) -> dict[str, Gap]:
    """The gaps of the only job of some files, by kind."""
    for number, content in enumerate(contents):
        (tmp_path / f"{number}.json").write_text(content)
    (diagnosis,) = diagnose_paths([str(tmp_path)], load_rulebook(), Options()).diagnoses
    return {gap.kind: gap for gap in diagnosis.gaps}


def test_missing_parts_of_a_split_entry_are_a_gap(tmp_path) -> None:
    """Two of three parts are there: the command asks for the uid."""
    gap = gaps_of_files(tmp_path, split_entry(0, 3) + split_entry(2, 3))["torn_entry"]
    assert "2 of the 3 parts" in gap.text
    assert gap.command is not None
    assert 'split.uid="u1"' in gap.command


def test_parts_that_lie_in_two_files_lack_nothing(tmp_path) -> None:
    """All parts are in the input."""
    assert "torn_entry" not in gaps_of_files(tmp_path, split_entry(0, 2), split_entry(1, 2))


def test_an_entry_of_the_largest_size_may_be_cut_off() -> None:
    """One of 256 KB, but none that was put together out of parts."""
    assert len(gaps([*started(), line(0, "x" * (ENTRY_LIMIT + 1))], "lost_full")) == 1
    assert gaps([*started(), line(0, "x" * (2 * ENTRY_LIMIT))], "lost_full") == []


LOST = [
    ("lost_truncated", "Traceback (most recent call last): File ... [truncated]"),
    ("lost_truncated", "{'weights': [0.1, 0.2, ...(4096 bytes truncated)"),
    ("lost_dropped", "systemd-journald[512]: Suppressed 4120 messages from docker.service"),
    ("lost_dropped", "rsyslogd: imjournal: 236 messages lost due to rate-limiting"),
    ("lost_dropped", "Log entry with size 278.8K exceeds maximum size of 256.0K"),
    ("lost_unread", "unable to retrieve container logs for containerd://9295e63f00"),
    ("lost_unread", 'Error from server: Get "https://10.0.0.4:10250/containerLogs/ml/x/train": No agent available'),
    ("lost_elsewhere", "Error response from daemon: configured logging driver does not support reading"),
    ("lost_merged", "(RayTrainWorker pid=75123) epoch 3 done [repeated 7x across cluster]"),
]


@pytest.mark.parametrize(("kind", "text"), LOST)
def test_lines_that_tell_of_lost_lines_are_gaps(kind: str, text: str) -> None:
    """What loggers, runtimes and consoles write where something is left out."""
    assert [gap.kind for gap in diagnosed([*started(), line(0, text)]).gaps if gap.kind.startswith("lost")] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "Token indices were truncated", "OSError: image file is truncated (12 bytes not processed)", "loading ...",
        "max_length is ignored when padding=True and truncation is off", "Suppressed warnings from the optimizer",
        "entry exceeds maximum size of the vocabulary",
    ],
)  # fmt: skip
def test_words_that_only_look_like_a_loss_are_none(text: str) -> None:
    """Training programs truncate much."""
    assert [gap for gap in diagnosed([*started(), line(0, text)]).gaps if gap.kind.startswith("lost")] == []


def test_every_kind_of_loss_is_tested() -> None:
    """The table and these tests name the same kinds."""
    assert {f"lost_{loss.kind}" for loss in losses()} == {kind for kind, _ in LOST}


# -- the end, and earlier lives


def described(kind: str, job: JobKey = VERTEX, replica: str | None = None, **fields: object) -> Entry:
    """A statement of a description."""
    return Entry(text=f"{kind} {fields}", origin=Origin.STATUS, job=job, replica=replica, fields={"kind": kind, **fields})


def test_a_log_that_ends_before_its_job_is_cut() -> None:
    """The description says that the job ended two hours after the last line, and no line tells of it."""
    end = described("job", state="JOB_STATE_FAILED", finished=str(BEGIN.plus(3 * HOUR)))
    (gap,) = gaps([*started(), *steps(0, 0, 60), end], "cut_end")
    assert "2 h 1 min later" in gap.text
    assert gap.command is not None
    assert 'timestamp>="2026-03-11T08:59:03Z"' in gap.command


def test_a_log_with_the_services_last_word_is_whole() -> None:
    """A job that hung for hours before the service ended it."""
    end = described("job", state="JOB_STATE_FAILED", finished=str(BEGIN.plus(3 * HOUR)))
    last = line(HOUR, "Job failed.", replica=None)
    assert gaps([*started(), *steps(0, 0, 60), last, end], "cut_end") == []


def restarted(reason: str = "Error", began: str | None = str(BEGIN)) -> Entry:
    """The last state of a container that was started again."""
    return described(
        "container", POD, "fit-0", container="main", state="terminated", last_state=True, restart_count=1, exit_code=1,
        reason=reason, started=began, finished=str(BEGIN.plus(HOUR)), namespace="ml",
    )  # fmt: skip


def pod_line(second: int) -> Entry:
    """A line of the pod's container."""
    return line(second, "step 1 loss 0.5", job=POD, replica="fit-0", fields={"container": "main"})


def test_a_container_that_came_back_needs_its_earlier_log() -> None:
    """The input holds only what the second life said."""
    (gap,) = gaps([restarted(), pod_line(HOUR + 60)], "previous_log")
    assert gap.command is not None
    assert "kubectl logs fit-0 --container=main --namespace=ml --previous" in gap.command


@pytest.mark.parametrize(
    "entries",
    [
        [restarted(), pod_line(60), pod_line(HOUR + 60)],
        [restarted(), line(0, "step 1", job=POD, replica=None, origin=Origin.TEXT, time=None)],
        [restarted("StartError"), pod_line(HOUR + 60)],
        [restarted(began=None), pod_line(HOUR + 60)],
    ],
    ids=["earlier line", "lines without time", "program never ran", "container never began"],
)
def test_an_earlier_log_that_is_there_or_never_was_is_no_gap(entries: list[Entry]) -> None:
    """Nothing is asked for that cannot be had."""
    assert gaps(entries, "previous_log") == []


def test_what_never_ran_has_no_log_but_events() -> None:
    """A pod that waits: its events would say why."""
    waiting = described("pod", POD, "fit-0", phase="Pending", namespace="ml")
    (gap,) = gaps([waiting], "no_log")
    assert gap.command == "kubectl get events --namespace=ml --field-selector=involvedObject.name=fit-0"


# -- the begin, and who is silent


def test_a_log_without_begin_was_cut_at_a_day() -> None:
    """The command looks as far back as entries are kept."""
    (gap,) = gaps([*steps(0, 0, 3), line(HOUR, "Job failed.", replica=None)], "cut_start")
    assert gap.command is not None
    assert 'timestamp>="2026-02-09T00:00:00Z"' in gap.command


def test_a_pipeline_has_no_begin_of_its_own_and_another_query() -> None:
    """Of Vertex AI's jobs those with a name are pipelines."""
    named = JobKey("vertex", "acme-ml", "retrain-1")
    assert gaps([line(0, "step 1", job=named)], "cut_start") == []
    (gap,) = gaps([described("job", named, state="PIPELINE_STATE_FAILED")], "no_log")
    assert gap.command is not None
    assert 'resource.labels.pipeline_job_id="retrain-1"' in gap.command


def test_a_log_of_replicas_only_lacks_the_service() -> None:
    """A filter left the service's own lines out."""
    assert [gap.kind for gap in diagnosed(steps(0, 0, 3)).gaps] == ["no_service_log"]


def loud(severity: str, more: Iterable[Entry] = ()) -> list[str]:
    """The kinds of gaps of a failed job of which only lines of this severity and above are there, and some more."""
    said = [line(n, f"could not read shard {n}", severity=severity) for n in range(5)]
    told = "The replica workerpool0-0 exited with a non-zero status of 1."
    return [gap.kind for gap in diagnosed([*said, line(HOUR, told, replica=None, severity="ERROR"), *more]).gaps]


@pytest.mark.parametrize("severity", ["WARNING", "ERROR"])
def test_a_log_without_lines_of_info_was_filtered(severity: str) -> None:
    """The service says at INFO how a job starts and ends; where no such line is there, a filter left them out."""
    assert loud(severity) == ["filtered"]


def test_severities_alone_are_no_filter() -> None:
    """One usual line shows that there was none, and containers may write everything without a severity."""
    assert "filtered" not in loud("ERROR", [line(7, "step 1", severity="INFO")])
    assert "filtered" not in loud("DEFAULT")
    assert "filtered" not in loud("ERROR", [line(-30, "Job is running.", replica=None, severity="INFO")])


def test_silent_replicas_are_named_and_the_job_itself_is_none() -> None:
    """Of two replicas that the description names one says nothing."""
    names = described("job", replica_names=["workerpool0-0", "workerpool1-0", "77"])
    (gap,) = gaps([*started(), *steps(0, 0, 3), names], "silent_replicas")
    assert gap.text == "no line of workerpool1-0 is in the input"


def test_gaps_speak_german() -> None:
    """Each kind in the other language, with the same command."""
    split = line(1, "half", fields={"split_uid": "u", "split_parts": 1, "split_total": 2})
    lost = [line(n, text) for n, (_, text) in enumerate(LOST, 2)]
    end = described("job", finished=str(BEGIN.plus(9 * HOUR)), replica_names=["workerpool1-0"])
    entries = [*steps(0, 60, 60), *steps(3000, 5 * HOUR, 60), split, *lost, end]
    english, german = diagnosed(entries).gaps, diagnosed(entries, "de").gaps
    assert len({gap.kind for gap in english}) >= 9
    assert [(gap.kind, gap.command) for gap in english] == [(gap.kind, gap.command) for gap in german]
    assert not {gap.text for gap in english} & {gap.text for gap in german}


def test_commands_hold_nothing_that_a_shell_reads() -> None:
    """Names out of a log cannot run anything."""
    job = JobKey("gke", "", "a';touch x;'$(id)`")
    bad = described(
        "container", job, "p';id;'", container="c$(id)", state="terminated", last_state=True, restart_count=1,
        exit_code=1, started=str(BEGIN), finished=str(BEGIN.plus(HOUR)), namespace="n`id`",
    )  # fmt: skip
    commands = [gap.command for gap in diagnosed([bad]).gaps if gap.command]
    assert commands
    for command in commands:
        assert not set("`$();'\"") & set("".join(shlex.split(command)))
