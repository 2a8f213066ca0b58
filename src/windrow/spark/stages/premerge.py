"""One more shuffle, for summaries that all belong to one shard: several workers merge them before."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.payload import Payload
from windrow.runtime.premerge import Premerge, merges_early
from windrow.spark.stages.slice import NO_PROBE, PAYLOAD, PAYLOAD_DDL, packed


def premerge_payloads(payloads: DataFrame, plan: StagePlan, keys: list[int]) -> DataFrame:
    """The payloads, those that merge early merged by the task that they come from; `keys` are those of the shards."""
    spaces = [space for stream in plan.streams for space in stream.time_spaces]
    if len(keys) < 2 or not any(map(merges_early, spaces)):
        return payloads
    ways = F.array(*map(F.lit, keys))
    way = F.element_at(ways, F.pmod(F.col("task"), F.lit(len(keys))) + 1)

    def merge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held = [batch for batch in batches if batch.num_rows]
        if held:
            rows = pa.Table.from_batches(held)
            yield packed(Premerge(plan).merged(_payloads(rows)))

    return payloads.repartition(len(keys), way).mapInArrow(merge, PAYLOAD_DDL)


def _payloads(rows: pa.Table) -> list[Payload]:
    columns = [rows[name].to_pylist() for name in PAYLOAD.names]
    return [
        Payload(shard, task, part, None if probe == NO_PROBE else probe, *rest)
        for shard, task, part, probe, *rest in zip(*columns)
    ]
