"""A scan: every job once, whoever reads it, in however many runs."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import pytest
from exports import digest, run, write_exports

from analyzer.errors import NothingToDiagnose, RenderError, UsageError
from analyzer.model import Instant
from analyzer.scanning import Settings, merge_scans, objects, outputs


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Exports of a dozen jobs."""
    return write_exports(tmp_path_factory.mktemp("exports"))


@pytest.fixture(scope="module")
def whole(exports: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of one undisturbed scan of them."""
    output = tmp_path_factory.mktemp("whole") / "report"
    run([exports], output)
    return output


def rows(output: Path) -> list[dict[str, object]]:
    """The rows that a scan wrote."""
    return [json.loads(line) for line in (output / "jobs.jsonl").read_text().splitlines()]


def test_every_job_has_a_row_and_every_failed_one_a_page(whole: Path) -> None:
    """Rows for all jobs, failed ones first, each with a page that exists."""
    found = rows(whole)
    outcomes = [row["outcome"] for row in found]
    assert len(found) == 12
    assert outcomes == sorted(outcomes, key=lambda outcome: outcome != "failed")
    pages = {str(row["report"]) for row in found if row["outcome"] == "failed"}
    assert pages
    assert pages == {f"jobs/{page.name}" for page in (whole / "jobs").iterdir()}
    assert (whole / "index.html").read_text().startswith("<!doctype html>")


def test_the_table_holds_the_rows(whole: Path) -> None:
    """jobs.parquet says what jobs.jsonl says, times to the nanosecond and whole numbers whole, in however many groups."""
    import pandas
    from pyarrow import parquet

    frame = pandas.read_parquet(whole / "jobs.parquet")
    assert (str(frame["exit_code"].dtype), str(frame["started"].dtype)) == ("Int64", "datetime64[ns, UTC]")
    found = rows(whole)
    read = parquet.read_table(whole / "jobs.parquet").drop_columns(["created", "started", "ended", "first_seen"]).to_pylist()
    assert [{**row, "labels": json.loads(row["labels"])} for row in read] == [{name: row[name] for name in read[0]} for row in found]
    times = [[int(Instant.parse(row[name]) or 0) for row in found] for name in ("started", "ended")]
    assert times == [[0 if time is pandas.NaT else time.value for time in frame[name]] for name in ("started", "ended")]


def test_groups_of_rows_change_nothing(exports: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of many groups of rows holds what one of one group holds, and one without jobs has its columns."""
    from pyarrow import parquet

    monkeypatch.setattr(outputs, "_ROW_GROUP", 5)
    run([exports], tmp_path / "out")
    assert parquet.read_table(tmp_path / "out" / "jobs.parquet") == parquet.read_table(whole / "jobs.parquet")
    run([exports], tmp_path / "out", project="another")
    assert parquet.read_schema(tmp_path / "out" / "jobs.parquet") == parquet.read_schema(whole / "jobs.parquet")


def test_processes_and_ranges_of_bytes_change_nothing(exports: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes over small ranges of each file find what one finds in whole files; lines keep their numbers."""
    monkeypatch.setattr(objects, "UNIT", 300_000)
    run([exports], tmp_path / "pool", workers=2)
    assert digest(tmp_path / "pool") == digest(whole)


def test_shards_merge_to_the_whole(exports: Path, whole: Path, tmp_path: Path) -> None:
    """Shares of the objects, read apart and merged, are the whole scan."""
    for number in range(3):
        run([exports], tmp_path / str(number), shard=(number, 3))
    merge_scans([tmp_path / str(n) for n in (2, 0, 1)], Settings(output=tmp_path / "merged"))
    assert digest(tmp_path / "merged") == digest(whole)


def test_what_has_not_changed_is_not_read_again(exports: Path, tmp_path: Path) -> None:
    """A second scan reads nothing; a late addendum is read alone and changes only its jobs' rows."""
    folder = shutil.copytree(exports, tmp_path / "in")
    names = sorted(path.name for path in folder.iterdir())
    late = folder / names[-1]
    kept = late.read_bytes()
    late.unlink()
    assert len(run([folder], tmp_path / "out").objects_read) == 2
    again = run([folder], tmp_path / "out")
    assert (again.objects_read, again.new) == ([], 0)
    addendum = folder / names[-1].replace("_S0", "_A0:1")
    addendum.write_bytes(kept)
    third = run([folder], tmp_path / "out")
    assert third.objects_read == [str(addendum)]
    assert {line.row.id for line in third.lines} == {line.row.id for line in run([exports], tmp_path / "other").lines}


def test_a_changed_object_replaces_what_it_gave(exports: Path, whole: Path, tmp_path: Path) -> None:
    """A file that grew is read anew, and counts once."""
    folder = shutil.copytree(exports, tmp_path / "in")
    first = min(folder.iterdir())
    content = first.read_bytes()
    first.write_bytes(content[: content.rfind(b"\n", 0, len(content) // 2) + 1])
    run([folder], tmp_path / "out")
    first.write_bytes(content)
    result = run([folder], tmp_path / "out")
    assert result.objects_read == [str(first)]
    assert [r["summary"] for r in rows(tmp_path / "out")] == [r["summary"] for r in rows(whole)]


def test_results_are_private(whole: Path) -> None:
    """Nobody else may read what a scan writes: logs hold secrets."""
    for path in (whole, *whole.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_conditions_choose_rows(exports: Path, tmp_path: Path) -> None:
    """--where, --only-failed, --project and --limit choose what is written."""
    failed = run([exports], tmp_path / "out", only_failed=True).lines
    assert failed
    assert {line.row.outcome for line in failed} == {"failed"}
    assert run([exports], tmp_path / "out", where=("exit_code=1", "platform=vertex"), limit=1).jobs.shape[0] == 1
    assert run([exports], tmp_path / "out", project="another").lines == []
    with pytest.raises(UsageError, match="no field"):
        run([exports], tmp_path / "out", where=("colour=red",))


def test_the_same_failure_is_told_with_its_solution(exports: Path, tmp_path: Path) -> None:
    """A failure that was seen before says how often and what solved it."""
    from analyzer.scanning.database import Database

    first = next(line for line in run([exports], tmp_path / "out").lines if line.seen == 0 and line.row.fingerprint)
    database = Database(tmp_path / "out", create=False)
    database.note(first.row.id, "halved the batch size", "2026-03-04")
    database.close()
    lines = run([exports], tmp_path / "out").lines
    alike = [line for line in lines if line.row.fingerprint == first.row.fingerprint]
    assert sorted(line.seen for line in alike) == list(range(len(alike)))
    assert {line.solution for line in alike} == {"halved the batch size"}


def test_the_time_that_is_wanted(exports: Path, tmp_path: Path) -> None:
    """--until leaves later entries out, and a folder keeps to the times it was begun with."""
    from analyzer.entries import Span
    from analyzer.model.instant import Instant

    span = Span(until=Instant.parse("2026-03-03T06:00:00Z"))
    result = run([exports], tmp_path / "out", span=span)
    assert 0 < result.entries < run([exports], tmp_path / "all").entries
    assert all(line.row.ended is None or line.row.ended < span.until for line in result.lines)
    with pytest.raises(UsageError, match="since"):
        run([exports], tmp_path / "out")


def test_nothing_there(tmp_path: Path) -> None:
    """A path without files is an error that names it."""
    with pytest.raises(NothingToDiagnose):
        run([tmp_path / "none"], tmp_path / "out")


def test_an_output_that_cannot_be_written(exports: Path, tmp_path: Path) -> None:
    """A file in the way is told, and nothing is left half written."""
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(RenderError, match="out"):
        run([exports], tmp_path / "out")
    assert (tmp_path / "out").read_text() == "in the way"
