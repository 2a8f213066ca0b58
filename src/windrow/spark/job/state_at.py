"""Any horizon of a query with levels, from the state that a stream's last finished batch has left in its checkpoint."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.errors import StateError
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.windows.horizon import Horizon, StateAt
from windrow.runtime.shard import Shard, opened
from windrow.runtime.time.state_at import state_at
from windrow.spark.sinks.results import typed_results
from windrow.spark.stages.slide_shard import is_split
from windrow.storage.blocks import MemoryBlocks
from windrow.storage.columns import encode_batch


def stored_state_at(spark: SparkSession, checkpoint: str, plan: StagePlan, horizon: Horizon) -> StateAt[DataFrame]:
    """The shards' own runtime, opened here on copies of their blocks, so that nothing that runs is touched.

    Only blocks of the query's own space leave Spark's state store. All shards have done the same batches.
    """
    query = horizon.query
    streams = (stream for stage in plan.stages for stream in stage.streams)
    stream = next(stream for stream in streams if query in stream.queries)
    space = next(space for space in stream.time_spaces if query in stream.queries_of(space))
    own = replace(stream, spaces=(space,), queries=stream.queries_of(space), scans=())
    alone = replace(plan, streams=(own,), changing=(), keys=(), feeds=())
    stages = (_stored_blocks(spark, checkpoint, space.name, number) for number in range(len(plan.stages)))
    stored = next(blocks for blocks in stages if _holds(blocks, own.stream, space.name))
    shards = [Shard(alone, blocks, blocks.read("snapshot", 0)) for blocks in stored]
    state = state_at([shard.streams[stream.stream] for shard in shards], horizon)
    packed = pa.table(
        {
            "query": [query.name] * len(state.rows),
            "rows": pa.array([encode_batch(rows) for rows in state.rows], pa.binary()),
        }
    )
    return StateAt(state.start_us, state.end_us, typed_results(spark.createDataFrame(packed), query))


def _holds(stored: list[MemoryBlocks], stream: str, space: str) -> bool:
    """Whether these are the shards of the stage that folds `space`; the operators of Spark are not told apart by it."""
    return space in opened(stored[0].read("snapshot", 0))["streams"].get(stream, {}).get("spaces", {})


def _stored_blocks(spark: SparkSession, checkpoint: str, space: str, operator: int) -> list[MemoryBlocks]:
    """The blocks of `space`, and what opens them, of each shard of a stage."""
    try:
        reading = spark.read.format("statestore").option("stateVarName", "blocks").option("operatorId", operator)
        state = reading.load(checkpoint)
    except PySparkException as error:
        if error.getCondition() != "STDS_COMMITTED_BATCH_UNAVAILABLE":
            raise
        raise StateError("no batch has been finished yet, so there is no state to look at") from None
    name = F.col("user_map_key.block")
    wanted = state.where(name.isin("snapshot/0", "shards/0") | name.startswith(f"{space}."))
    found = wanted.select("key.shard", "user_map_key.block", "user_map_value.bytes").toArrow()
    shards: dict[int, MemoryBlocks] = {}
    for shard, block, content in zip(*(column.to_pylist() for column in found.columns)):
        held, _, number = block.rpartition("/")
        shards.setdefault(shard, MemoryBlocks()).write(held, int(number), content)
    if any(is_split(blocks.read("shards", 0)) for blocks in shards.values()):
        raise StateError("no batch has been finished since the checkpoint was resharded: wait for the first")
    return [shards[shard] for shard in sorted(shards)]
