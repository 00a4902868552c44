"""Writes packed tables out of the rows of the JSON forms, as BigQuery writes them.

`python tests/formats/packed.py` writes the fixtures anew. The functions serve the tests too.
"""

from __future__ import annotations

import io
import json
from typing import Any

from forms import FORMS

from analyzer.formats.clock import any_instant

SINK = [json.loads(line) for line in (FORMS / "bigquery_rows/rows.ndjson").read_text(encoding="utf-8").splitlines()]
ANALYTICS = json.loads((FORMS / "log_analytics/rows.json").read_text(encoding="utf-8"))
TIMES = ("timestamp", "receiveTimestamp", "receive_timestamp")
UNITS = {"millis": ("ms", 1_000_000), "micros": ("us", 1000), "nanos": ("ns", 1)}


def _timed(rows: list[dict[str, Any]], unit: str) -> list[dict[str, Any]]:
    """The rows with times as whole numbers of that unit since 1970."""
    scale = UNITS[unit][1]
    return [
        {name: int(any_instant(value) or 0) // scale if name in TIMES else value for name, value in row.items()}
        for row in rows
    ]


def parquet(rows: list[dict[str, Any]], unit: str = "micros", **options: Any) -> bytes:
    """Rows as Parquet: times of that unit, objects as groups, columns of JSON as text."""
    import pyarrow
    from pyarrow import parquet as files

    timed = _timed(rows, unit)
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        column = pyarrow.array([row.get(name) for row in timed])
        if name in TIMES:
            column = column.cast(pyarrow.timestamp(UNITS[unit][0], "UTC"))
        columns[name] = column.cast(pyarrow.string()) if column.type == pyarrow.null() else column
    file = io.BytesIO()
    files.write_table(pyarrow.table(columns), file, store_schema=False, **options)
    return file.getvalue()


def avro(rows: list[dict[str, Any]], codec: str = "null", unit: str = "micros", **options: Any) -> bytes:
    """Rows as Avro: every field may be null, times are numbers of that unit, objects are records."""
    import fastavro

    file = io.BytesIO()
    timed = _timed(rows, unit)
    schema: Any = _record("Root", timed, {"type": "long", "logicalType": f"timestamp-{unit}"})
    fastavro.writer(file, schema, timed, codec=codec, sync_marker=bytes(range(16)), **options)
    return file.getvalue()


def _record(name: str, rows: list[dict[str, Any]], time: Any) -> dict[str, Any]:
    fields = []
    for field in dict.fromkeys(field for row in rows for field in row):
        values = [row[field] for row in rows if row.get(field)]
        kind = time if field in TIMES else _type(f"{name}_{field}", values, time)
        fields.append({"name": field, "type": ["null", kind]})
    return {"type": "record", "name": name, "fields": fields}


def _type(name: str, values: list[Any], time: Any) -> Any:
    if any(isinstance(value, dict) for value in values):
        return _record(name, values, time)
    if any(isinstance(value, list) for value in values):
        return {"type": "array", "items": _type(name, [item for value in values for item in value], time)}
    return "string"


FIXTURES = {
    "parquet_rows/sink.parquet": lambda: parquet(SINK, compression="snappy"),
    "parquet_rows/analytics.parquet": lambda: parquet(ANALYTICS, "nanos", compression="gzip"),
    "avro_rows/sink.avro": lambda: avro(SINK, "snappy"),
    "avro_rows/analytics.avro": lambda: avro(ANALYTICS, "deflate", "nanos"),
}


if __name__ == "__main__":
    for path, content in FIXTURES.items():
        (FORMS / path).parent.mkdir(exist_ok=True)
        (FORMS / path).write_bytes(content())
