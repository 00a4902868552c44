"""A hostile table costs bounded memory and time, and a note, whatever it says of its sizes."""

from __future__ import annotations

import io
import tracemalloc
import zlib
from typing import Any

import pytest
from forms import entries_of
from packed import SINK, avro, parquet

from analyzer.formats import read_source
from analyzer.formats.tables import leaves
from analyzer.formats.tables import parquet as reader
from analyzer.formats.tables.avro_schema import safe_schema
from analyzer.formats.tables.rows import ROW_LIMIT
from analyzer.model import Note
from analyzer.sources import Source

pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed: packed tables go unchecked")
fastavro = pytest.importorskip("fastavro", reason="the extra avro is not installed: packed tables go unchecked")
MIB = 1 << 20
MARK = bytes(range(16))


def read(content: bytes) -> tuple[int, list[str]]:
    """How many entries a table gives, and the kinds of notes."""
    notes: list[Note] = []
    return len(entries_of(content, notes=notes)), [note.kind for note in notes]


def written(columns: dict[str, Any], **options: Any) -> bytes:
    from pyarrow import parquet as files

    file = io.BytesIO()
    files.write_table(pyarrow.table(columns), file, **{"compression": "zstd", **options})
    return file.getvalue()


def numbered(count: int) -> list[str]:
    return [f"{number:07d}" for number in range(count)]


def test_a_page_that_expands_beyond_any_log_is_never_unpacked() -> None:
    """A few kilobytes that stand for seventy megabytes are left out before anything is allocated."""
    texts = pyarrow.array(["x" * (70 * MIB)])
    content = written({"insertId": ["a"], "textPayload": texts}, use_dictionary=False, write_statistics=False)
    assert len(content) < MIB // 8
    usual, fresh = pyarrow.default_memory_pool(), pyarrow.system_memory_pool()
    pyarrow.set_memory_pool(fresh)
    try:
        assert read(content) == (0, ["bomb"])
        assert fresh.max_memory() < MIB
    finally:
        pyarrow.set_memory_pool(usual)


def test_what_pages_say_counts_and_not_what_the_footer_says() -> None:
    """Sizes in the footer may be a lie; a limit below the true size of one page refuses the group that it is in."""
    content = parquet(SINK)
    assert read(content)[0] == len(SINK)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaves, "PAGE_LIMIT", 100)
        assert read(content) == (0, ["bomb"])


@pytest.mark.parametrize(("size", "most", "kinds"), [(MIB // 2, 80, ["bomb"]), (30 * MIB, 0, ["too_large", "bomb"])])
def test_one_text_shared_by_many_rows_is_stopped(
    size: int, most: int, kinds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dictionary makes a terabyte of a kilobyte; reading stops when the rows are beyond any log of the file's size."""
    monkeypatch.setattr(reader, "RATIO_GRACE", 32 * MIB)
    places = pyarrow.array([0] * 100_000, pyarrow.int32())
    text = pyarrow.DictionaryArray.from_arrays(places, pyarrow.array(["x" * size]))
    content = written({"insertId": [str(n % 10) for n in range(100_000)], "textPayload": text}, write_statistics=False)
    count, found = read(content)
    assert count <= most
    assert found == kinds


def test_a_row_beyond_any_entry_costs_itself() -> None:
    """One row with millions of repeated values is passed over, those around it are read."""
    lists = pyarrow.array([["a"], ["z"] * 300_000, ["b"]])
    table = {"insertId": numbered(3), "textPayload": ["a", "b", "c"], "jsonPayload": lists}
    assert read(written(table)) == (2, ["too_large"])
    rows = [{"insertId": n, "textPayload": "x" * (ROW_LIMIT + 9 if n == "1" else 9)} for n in "012"]
    assert read(avro(rows, "deflate", sync_interval=1)) == (2, ["too_large"])


def test_memory_does_not_grow_with_the_table() -> None:
    """Two thousand rows of eight kilobytes take little more than a batch or a block of them."""
    rows = [{"insertId": number, "textPayload": number * 1200} for number in numbered(2000)]
    for content in (parquet(rows, compression="gzip"), avro(rows, "deflate")):
        tracemalloc.start()
        try:
            count = _counted(content)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert count == 2000
        assert most < 6 * MIB


def _counted(content: bytes) -> int:
    return sum(1 for _ in read_source(Source("big", lambda: io.BytesIO(content)), []))


def test_a_stream_is_copied_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """What flows by and never ends is given up."""
    monkeypatch.setattr(reader, "SPOOL_LIMIT", 1000)
    content, notes = parquet(SINK), []

    class Flowing(io.BytesIO):
        def seekable(self) -> bool:
            return False

    assert list(read_source(Source("pipe", lambda: Flowing(content)), notes)) == []
    assert [note.kind for note in notes] == ["too_large"]


def block(rows: int, size: int, data: bytes, codec: str = "deflate") -> bytes:
    """An Avro file of one block that says what it likes."""
    return _head(codec) + _long(rows) + _long(size) + data + MARK


def _head(codec: str) -> bytes:
    file = io.BytesIO()
    fields = [{"name": name, "type": "string"} for name in ("insertId", "textPayload")]
    fastavro.writer(file, {"type": "record", "name": "Root", "fields": fields}, [], codec=codec, sync_marker=MARK)
    return file.getvalue()


def _long(number: int) -> bytes:
    number <<= 1
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def test_a_block_that_expands_beyond_any_log_is_left_out() -> None:
    """By DEFLATE unpacking stops at the bound; Snappy says its size at its begin."""
    packer = zlib.compressobj(9, wbits=-15)
    packed = b"".join(packer.compress(bytes(16 * MIB)) for _ in range(5)) + packer.flush()
    good = zlib.compress(b"\x02a\x02b")[2:-4]
    content = block(5, len(packed), packed) + _long(1) + _long(len(good)) + good + MARK
    assert read(content) == (1, ["bomb"])
    assert read(block(5, 20, b"\xff\xff\xff\xff\x0f" + b"x" * 15, "snappy")) == (0, ["bomb"])


@pytest.mark.parametrize(("rows", "size"), [(1 << 50, 4), (1, 1 << 50), (1 << 20, 4)])
def test_sizes_that_are_a_lie_allocate_nothing(rows: int, size: int) -> None:
    """A block of petabytes, and more rows than bytes."""
    assert read(block(rows, size, b"\x02a\x02b", "null"))[0] <= 1


def record(*types: Any) -> dict[str, Any]:
    return {
        "type": "record",
        "name": "Root",
        "fields": [{"name": f"f{n}", "type": kind} for n, kind in enumerate(types)],
    }


@pytest.mark.parametrize(
    "schema",
    [
        record({"type": "array", "items": "null"}),
        record(["null", "Root"]),
        record({"type": "record", "name": "Empty", "fields": []}),
        record({"type": "fixed", "name": "None", "size": 0}),
        record(*["string"] * 30_000),
        record(*[{**record(*([f"N{n - 1}"] * 2 if n else ["int"])), "name": f"N{n}"} for n in range(40)]),
        "string",
    ],
)
def test_schemas_whose_values_take_no_bytes_are_refused(schema: Any) -> None:
    """A few bytes of such a schema could stand for any number of values."""
    with pytest.raises(ValueError, match="schema"):
        safe_schema(schema)


def test_a_schema_that_is_nested_beyond_any_table_is_refused() -> None:
    """No decoder has to go that deep."""
    schema: Any = "string"
    for _ in range(200):
        schema = {"type": "array", "items": schema}
    with pytest.raises(ValueError, match="deeply"):
        safe_schema(record(schema))
