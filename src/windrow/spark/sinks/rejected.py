"""Events that no window took, as rows."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from windrow.plan.catalog import REJECTED_ROWS
from windrow.spark.sinks.packed import unpacked
from windrow.spark.sinks.results import spark_schema

REJECTED_SCHEMA = pa.schema(
    {"stream": pa.string(), "cause": pa.string(), "time": pa.timestamp("us", tz="UTC"), "row": pa.string()}
)


def rejected_rows(packed: DataFrame, stream: str) -> DataFrame:
    """The rejected events of a stream in a batch: why, when they say they happened, and the event as JSON."""

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for name, rows in unpacked(batches):
            if name == REJECTED_ROWS:
                yield from rejected_of(pa.Table.from_batches([rows]), stream).to_batches()

    return packed.select("query", "rows").mapInArrow(unpack, spark_schema(REJECTED_SCHEMA))


def rejected_of(rows: pa.Table, stream: str) -> pa.Table:
    """Those of one stream, as readers see them."""
    return rows.filter(pc.equal(rows["stream"], stream)).select(REJECTED_SCHEMA.names).cast(REJECTED_SCHEMA)
