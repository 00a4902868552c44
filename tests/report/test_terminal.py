"""The terminal's form is short, fits its width, and no log text steers the screen."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hostile import PAYLOADS, hostile_report
from rich.cells import cell_len
from samples import ALL, at, host_oom, many_replicas, nccl_cascade, report, stockout, unknown

from analyzer.model import Attempt, ReplicaRuns, Run, Timeline
from analyzer.report.terminal import render_text

_HARMFUL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


@pytest.mark.parametrize("name", [*ALL, "many_replicas"])
@pytest.mark.parametrize("lang", ["en", "de"])
def test_one_job_takes_at_most_45_lines(name: str, lang: str) -> None:
    """The story fits a screen."""
    make = {**ALL, "many_replicas": many_replicas}[name]
    assert render_text(report(make()), 100, False, lang=lang).count("\n") <= 45


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("name", [*ALL, "many_replicas"])
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    """The width counts in cells."""
    make = {**ALL, "many_replicas": many_replicas}[name]
    text = render_text(report(make()), width, False, explain=True)
    assert max(cell_len(line) for line in text.split("\n")) <= width


def test_the_head_says_what_where_and_why() -> None:
    """Outcome, category, summary and the proving line come first."""
    lines = render_text(report(host_oom()), 120, False).split("\n")
    assert lines[0] == "✕ Failed · out of memory (out_of_memory.host)"
    assert lines[2].startswith("workerpool1-0 failed: the machine's memory ran out")
    assert "The replica workerpool1-0 ran out-of-memory" in lines[4]


def test_the_proof_of_a_traceback_is_its_exception() -> None:
    """The exception's line stands in front, the traceback follows, clipped."""
    text = render_text(report(nccl_cascade()), 120, False)
    assert "Proof       ▌ RuntimeError: mat1 and mat2 shapes cannot be multiplied" in text


def test_restarts_stand_against_their_limits() -> None:
    """Kinds of restart and used limits are told."""
    text = " ".join(render_text(report(host_oom()), 200, False).split())
    assert "4 (1 in place, 1 on another machine, 1 after the end was sealed, 1 of the whole job)" in text
    assert "workerpool1-0 1/5 · workerpool1-1 1/5 · job retries 1/3" in text


def test_attempts_without_any_run_are_drawn() -> None:
    """A job that never started still has its attempts."""
    assert re.search(r"attempts +└1─+┘ +└2─+┘ +└3─+┘", render_text(report(stockout()), 100, False))


def test_a_restart_in_place_is_drawn_where_the_next_run_begins() -> None:
    """The next run begins where the one before it ended, and does not hide how that one did."""
    clocks = ["09:00:00", "09:20:00", "09:40:00", "10:00:00"]
    runs = [Run(start=at(a), end=at(b), reason="retryable", exit_code=75) for a, b in pairwise(clocks)]
    job = unknown()
    job.timeline = Timeline(attempts=[Attempt(number=1, replicas=[ReplicaRuns(name="worker-replica-0", runs=runs)])])
    lane = next(line for line in render_text(report(job), 100, False).split("\n") if "worker-replica-0 ━" in line)
    assert lane.count("R") == 3


def test_many_replicas_are_counted_not_listed() -> None:
    """Eight lanes are drawn, the cause's first; the rest is one line."""
    text = render_text(report(many_replicas()), 100, False)
    assert "… and 1,992 more replicas: ↯ 1,992" in text
    assert text.index("llama-ft-worker-5 ") < text.index("llama-ft-worker-0 ")


def test_a_job_without_times_tells_its_runs_in_words() -> None:
    """No axis can be drawn, the facts remain."""
    assert "main: ended with an error, exit code 1" in render_text(report(unknown()), 100, False)


def test_explain_adds_points_and_alternatives() -> None:
    """`--explain` shows how the verdict was reached."""
    text = render_text(report(host_oom()), 120, False, explain=True)
    assert "+80  an exact rule for the service's own verdict" in text
    assert "-48  it came 38 s after a peer was killed" in text
    assert "+80" not in render_text(report(host_oom()), 120, False)


def test_several_jobs_are_a_table_with_the_failed_ones_first() -> None:
    """One row a job, the sum above."""
    text = render_text(report(*(make() for make in ALL.values())), 120, False)
    assert text.startswith("6 jobs, 4 failed\n")
    assert text.index("✕  console") < text.index("✓  resnet-spot-0311") < text.index("▸  8890012")


def test_colour_is_only_there_when_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """`NO_COLOR` and a file instead of a terminal give plain text."""
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in render_text(report(host_oom()))
    monkeypatch.delenv("NO_COLOR")
    assert "\x1b" not in render_text(report(host_oom()))
    assert "\x1b[1;31m" in render_text(report(host_oom()), 100, True)


def test_the_default_width_is_the_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    """`COLUMNS` is respected, up to a width that reads well."""
    monkeypatch.setenv("COLUMNS", "72")
    assert max(map(cell_len, render_text(report(host_oom())).split("\n"))) <= 72


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("name", ALL)
def test_no_log_text_reaches_the_screen_as_a_command(name: str, payload: str) -> None:
    """Escapes, controls and direction marks become visible signs."""
    hostile = hostile_report(ALL[name](), PAYLOADS[payload])
    assert not _HARMFUL.search(render_text(hostile, 100, False, explain=True))


def test_colours_of_a_log_do_not_colour_the_report() -> None:
    """Only the report's own styles are escapes."""
    hostile = render_text(hostile_report(host_oom(), PAYLOADS["ansi"]), 100, True)
    harmless = render_text(hostile_report(host_oom(), "words"), 100, True)
    assert set(re.findall(r"\x1b.[0-9;]*.", hostile)) == set(re.findall(r"\x1b.[0-9;]*.", harmless))


def test_a_line_of_a_megabyte_is_cut() -> None:
    """The report stays short, whatever a line holds."""
    text = render_text(hostile_report(host_oom(), "x" * 1_000_000), 100, False)
    assert len(text) < 20_000
