"""Events that no window took, as rows."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from windrow.spark.stages.slide import REJECTED_ROWS

REJECTED_SCHEMA = pa.schema(
    {"stream": pa.string(), "cause": pa.string(), "time": pa.timestamp("us", tz="UTC"), "row": pa.string()}
)
_DDL = "stream STRING, cause STRING, time TIMESTAMP, row STRING"


def rejected_rows(packed: DataFrame, stream: str) -> DataFrame:
    """The rejected events of a stream in a batch: why, when they say they happened, and the event as JSON."""

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for name, rows in zip(batch.column(0).to_pylist(), batch.column(1)):
                if name == REJECTED_ROWS:
                    with pa.ipc.open_stream(rows.as_buffer()) as reader:
                        for part in reader:
                            part = part.filter(pc.equal(part.column("stream"), stream))
                            time = part.column("time").cast(pa.timestamp("us", tz="UTC"))
                            columns = [part.column("stream"), part.column("cause"), time, part.column("row")]
                            yield pa.record_batch(columns, names=["stream", "cause", "time", "row"])

    return packed.select("query", "rows").mapInArrow(unpack, _DDL)
