"""The least that must be done for a sliding aggregate over Parquet files: what Windrow's own work is held against.

Names of files, a fold by Arrow in the tasks that read them, one shuffle, and a stateful step that keeps nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from windrow.spark.sources.parquet_files import local_path

from .ticks import Ticks

_NAMES = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"


def fold_floor(spark: SparkSession, ticks: Ticks) -> DataFrame:
    """Sums of each second and symbol, through a stateful step that does nothing with them."""
    reader = spark.readStream.format("binaryFile").schema(_NAMES).option("maxFilesPerTrigger", ticks.files_per_batch)
    names = reader.load(str(ticks.folder)).select("path")
    folded = names.mapInArrow(_fold, "shard INT, rows BIGINT, body BINARY")
    return folded.groupBy("shard").transformWithStateInPandas(
        _Nothing(), outputStructType="rows BIGINT", outputMode="append", timeMode="none"
    )


def _fold(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for path in batch.column("path").to_pylist():
            rows = pq.ParquetFile(local_path(path), read_dictionary=["symbol"]).read(use_threads=False)
            seconds = pc.divide(pc.cast(rows["ts"], pa.int64()), 1_000_000)
            money = pc.multiply(rows["price"], pc.cast(rows["volume"], pa.float64()))
            table = pa.table({"second": seconds, "symbol": rows["symbol"], "money": money, "volume": rows["volume"]})
            sums = (
                table.unify_dictionaries()
                .group_by(["second", "symbol"], use_threads=False)
                .aggregate([("money", "sum"), ("volume", "sum")])
            )
            body = sums.combine_chunks().to_batches()[0].serialize().to_pybytes()
            half = pa.array([0, 1], pa.int32())
            yield pa.record_batch({"shard": half, "rows": pa.array([len(rows), 0]), "body": [body, b""]})


class _Nothing(StatefulProcessor):
    """Counts what comes, and keeps nothing."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        pass

    def handleInputRows(self, key: tuple, rows: Iterator[pd.DataFrame], timerValues: object) -> Iterator[pd.DataFrame]:
        yield pd.DataFrame({"rows": [int(sum(part["rows"].sum() for part in rows))]})

    def close(self) -> None:
        pass
