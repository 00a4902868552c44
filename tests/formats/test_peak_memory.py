"""A process that diagnoses a small hostile file stays small, and says what it left out; measured from outside."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_packed_bounds import MIB, block, numbered, written

pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed: packed tables go unchecked")
fastavro = pytest.importorskip("fastavro", reason="the extra avro is not installed: packed tables go unchecked")

BOUND = 500
"""Megabytes that a process may have taken."""
CHILD = """
import sys
from analyzer.entries import Options
from analyzer.pipeline import diagnose_paths
from analyzer.rulebook.cache import load_rulebook
notes = diagnose_paths(sys.argv[1:], load_rulebook(), Options()).notes
with open("/proc/self/status") as status:
    peak = next(line for line in status if line.startswith("VmHWM"))
print(int(peak.split()[1]) // 1000, *{note.kind for note in notes})
"""


def _shared(text: str, rows: int) -> Any:
    """One text for all rows of a column."""
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * rows, pyarrow.int32()), pyarrow.array([text]))


def _repeated(rows: int, values: Any) -> Any:
    """A column of lists that has nearly all of these values in its first row."""
    ends = [0, *range(len(values) - rows + 1, len(values) + 1)]
    return pyarrow.ListArray.from_arrays(pyarrow.array(ends, pyarrow.int32()), values)


def one_incompressible_text_for_all_rows() -> bytes:
    text = "".join(random.Random(1).choices("abcdefghijklmnop", k=MIB // 2))
    return written({"insertId": numbered(20_000), "textPayload": _shared(text, 20_000)})


def long_texts_in_several_dictionaries() -> bytes:
    columns = {name: _shared(name * (5 * MIB), 2000) for name in ("textPayload", "severity", "logName", "trace")}
    return written({"insertId": numbered(2000), **columns}, write_statistics=False)


def long_pages_of_several_columns() -> bytes:
    columns = {name: [name * (5 * MIB), "x"] for name in ("textPayload", "severity", "logName", "trace")}
    return written({"insertId": numbered(2), **columns}, use_dictionary=False, write_statistics=False)


def a_row_of_lists_of_many_fields() -> bytes:
    fields = pyarrow.StructArray.from_arrays(
        [pyarrow.nulls(4_000_000, pyarrow.string())] * 30, list("abcdefghijklmnopqrstuvwxyzABCD")
    )
    return written({"insertId": numbered(2), "jsonPayload": _repeated(2, fields)}, write_statistics=False)


def a_row_of_eight_million_pairs() -> bytes:
    numbers = pyarrow.array([7]).take(pyarrow.array([0] * 8_000_000))
    pairs = pyarrow.StructArray.from_arrays([numbers, numbers], ["key", "value"])
    return written({"insertId": numbered(2), "labels": _repeated(2, pairs)}, write_statistics=False)


def texts_that_share_their_begin() -> bytes:
    texts = ["x" * 900_000] * 200 + ["x"] * 800
    options = {"use_dictionary": False, "column_encoding": {"textPayload": "DELTA_BYTE_ARRAY"}}
    return written({"insertId": numbered(1000), "textPayload": texts}, write_statistics=False, **options)


def dense_blocks() -> bytes:
    row = b"\x02a" + _varint(900_000) + b"CUDA out of memory".ljust(900_000, b"x")
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(row * 60) + packer.flush()
    one = _varint(60) + _varint(len(packed)) + packed + bytes(range(16))
    return block(60, len(packed), packed) + one * 2


def _varint(number: int) -> bytes:
    number, parts = number << 1, []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def _line(number: int, size: int) -> bytes:
    labels = {"job_id": "55", "task_name": "workerpool0-0"}
    entry = {
        "insertId": f"{number:05d}",
        "resource": {"type": "ml_job", "labels": labels},
        "logName": "projects/p/logs/l",
    }
    return json.dumps({**entry, "textPayload": "RuntimeError: CUDA out of memory " + "x" * size}).encode() + b"\n"


def lines_as_long_as_lines_may_be() -> bytes:
    return gzip.compress(b"".join(_line(number, 15 * MIB) for number in range(10)))


def a_description_of_millions_of_parts() -> bytes:
    return gzip.compress(b'{"kind":"Pod","spec":[' + b"1," * 25_000_000 + b"1]}\n")


def a_message_of_millions_of_parts() -> bytes:
    payload = b'"jsonPayload":{"message":[' + b"{}," * 5_000_000 + b"{}]}"
    return gzip.compress(b'{"insertId":"a","logName":"projects/p/logs/l",' + payload + b"}\n")


def a_yaml_list_of_millions_of_parts() -> bytes:
    return gzip.compress(
        b"insertId: a\nlogName: projects/p/logs/l\njsonPayload:\n  steps: [" + b"1," * 8_000_000 + b"1]\n"
    )


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak of a process")
@pytest.mark.parametrize(
    ("make", "kinds"),
    [
        (one_incompressible_text_for_all_rows, {"bomb", "too_large"}),
        (long_texts_in_several_dictionaries, {"bomb"}),
        (long_pages_of_several_columns, {"bomb"}),
        (a_row_of_lists_of_many_fields, {"bomb"}),
        (a_row_of_eight_million_pairs, {"bomb"}),
        (texts_that_share_their_begin, {"bomb"}),
        (dense_blocks, {"too_large"}),
        (lines_as_long_as_lines_may_be, {"too_large"}),
        (a_description_of_millions_of_parts, {"damaged"}),
        (a_message_of_millions_of_parts, {"too_large"}),
        (a_yaml_list_of_millions_of_parts, {"damaged"}),
    ],
)
def test_a_process_stays_small(make: Callable[[], bytes], kinds: set[str], tmp_path: Path) -> None:
    """Of a few megabytes or less that stand for gigabytes it holds a part, and a note says so."""
    path = tmp_path / "bomb"
    path.write_bytes(make())
    call = [sys.executable, "-c", CHILD, str(path)]
    peak, *found = subprocess.run(call, capture_output=True, text=True, check=True).stdout.split()
    assert int(peak) < BOUND
    assert kinds <= set(found)
