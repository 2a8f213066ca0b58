"""More shuffles, for summaries that all belong to one shard: several workers merge them before, in a tree."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.payload import Payload
from windrow.runtime.premerge import Premerge, levels_of, merges_early
from windrow.spark.stages.slice import NO_PROBE, PAYLOAD, PAYLOAD_DDL, packed


def premerge_payloads(payloads: DataFrame, plan: StagePlan, keys: list[int]) -> DataFrame:
    """The payloads, those that merge early merged by the task that they come from; `keys` are those of the shards.

    Where there are more shards than one should merge from, those that have merged send to fewer, and so on.
    """
    early = [space.name for stream in plan.streams for space in stream.time_spaces if merges_early(space)]
    if len(keys) < 2 or not early:
        return payloads

    def merge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held = [batch for batch in batches if batch.num_rows]
        if held:
            rows = pa.Table.from_batches(held)
            yield packed(Premerge(plan).merged(_payloads(rows)))

    ways, way = F.array(*map(F.lit, keys)), F.col("task")
    first = F.pmod(way, F.lit(len(keys)))
    for width in levels_of(len(keys)):
        way = F.pmod(way, F.lit(width))  # as `way_of`: a merged summary has the number of its first task
        spread = F.when(F.col("name").isin(early), way).otherwise(first)  # what is not merged stays with all
        payloads = payloads.repartition(len(keys), F.element_at(ways, spread + 1)).mapInArrow(merge, PAYLOAD_DDL)
    return payloads


def _payloads(rows: pa.Table) -> list[Payload]:
    columns = [rows[name].to_pylist() for name in PAYLOAD.names]
    return [
        Payload(shard, task, part, None if probe == NO_PROBE else probe, *rest)
        for shard, task, part, probe, *rest in zip(*columns)
    ]
