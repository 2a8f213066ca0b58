"""The stateful step on Spark's state store: payloads in, answered windows out."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pyspark.sql import DataFrame
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.payload import TALLIES
from windrow.spark.job.measures import SLIDE_MEASURES, measured_ddl
from windrow.spark.stages.editions import Editions
from windrow.spark.stages.loaded import set_loaded_aside
from windrow.spark.stages.once import Once

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

COUNTED = ("late", "late_in_part", "corrected", "duplicates", *TALLIES, "refused", "alone", "dropped")
COUNTS = (*COUNTED, "groups", "clock")
SHARED = "shared"
"""The windows that other shards may have answered too, by name."""
FINISHED_DDL = "query STRING, rows BINARY"
PACKED_DDL = measured_ddl(f"{FINISHED_DDL}, {SHARED} ARRAY<BIGINT>", (*COUNTS, *SLIDE_MEASURES))


_VERSION = StructType([StructField("version", LongType())])
_BLOCK, _BYTES = StructType([StructField("block", StringType())]), StructType([StructField("bytes", BinaryType())])
"""Of state. Types that are texts each task would have the JVM parse."""

TOLD_ROWS = ""
"""Under this name goes what a task tells of rows that it has finished itself; no query is called so."""

BATCH, KEPT = "streaming.sql.batchId", "windrow.kept"
"""Properties of a Spark job: the batch, as Spark says; and under which names rows go on though they were finished."""


class Finishes(Protocol):
    """Who finishes and writes rows in the task that slides: else they cross to the JVM, and to Python once more."""

    @property
    def takes(self) -> frozenset[str]:
        """Under which names rows come that need not go on."""
        ...

    def packed_told(
        self, packed: Mapping[str, Sequence[pa.RecordBatch]], batch: int, spent: Counter[str], counts: Mapping[str, Any]
    ) -> bytes:
        """Finish the rows of a batch, and say what has become of them, and what its shard has counted."""
        ...


def slide_payloads(
    payloads: DataFrame,
    plan: StagePlan,
    shards: int,
    run: str,
    tables: Editions = (),
    finishing: Finishes | None = None,
) -> DataFrame:
    """The packed results of `payloads`: rows of (query, Arrow bytes), and for each shard a row of counts.

    `tables` are those that answers are joined with where they are events of a stream. Who is `finishing` rows tells
    the counts, too.
    """
    processor, columns = SlideProcessor(plan, shards, run, tables, finishing), FINISHED_DDL if finishing else PACKED_DDL
    return payloads.groupBy("shard").transformWithStateInPandas(
        processor, outputStructType=columns, outputMode="Append", timeMode="None"
    )


class SlideProcessor(StatefulProcessor):
    """Runs a shard on Spark's state: a version, and a map of blocks. The names and types are fixed by checkpoints.

    Whenever a query starts, Spark starts a Python that asks only for these names. So that nobody waits for the rest
    to load, what slides is loaded with the first batch.
    """

    def __init__(
        self, plan: StagePlan, shards: int, run: str, tables: Editions = (), finishing: Finishes | None = None
    ) -> None:
        self._kept = Once((plan, finishing))
        self._shards, self._run, self._tables = shards, run, tables
        # no name of state: it only tells a worker whether the shard that it has in memory is of this very plan
        self._digest = hashlib.sha256(repr(plan).encode()).hexdigest()

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._version = handle.getValueState("version", _VERSION)
        self._blocks = handle.getMapState("blocks", _BLOCK, _BYTES)

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        from windrow.spark.stages.slide_shard import StoredShard, slide_batch

        plan, finishing = self._kept.value
        state = (self._version, self._blocks)
        stored = StoredShard(plan, self._shards, self._run, self._digest, key[0], *state, self._tables)
        yield from slide_batch(stored, list(rows), finishing)
        set_loaded_aside()

    def close(self) -> None:
        pass
