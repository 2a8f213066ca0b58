"""The pipeline of one stream on Spark: source, slice, shuffle, slide."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.plan.nodes.change_plan import ChangesPlan
from windrow.plan.nodes.pipeline import StreamPlan
from windrow.runtime.payload import FLUSH, HEARTBEAT, RESET, TALLIES
from windrow.spark.job.measures import METRICS, SLIDE_MEASURES
from windrow.spark.sources.heartbeat import heartbeat_of, heartbeats
from windrow.spark.sources.source import Source
from windrow.spark.sources.ways import way_of
from windrow.spark.stages.premerge import premerge_payloads
from windrow.spark.stages.regroup import regroup_payloads
from windrow.spark.stages.shards import shard_keys
from windrow.spark.stages.slice import NO_PROBE, asked_of, slice_stream
from windrow.spark.stages.slice_changes import asked_of_changes, slice_changes
from windrow.spark.stages.slide import COUNTS, SHARED, slide_payloads

Plan = StreamPlan | ChangesPlan
Sources = Mapping[str, Source]
BY_NAME = "files are read by the tasks that fold their rows; Spark lists the names"


def packed_results(
    sources: Sources,
    plan: Plan,
    shards: int,
    control: DataFrame | None = None,
    run: str | None = None,
    metrics: str = METRICS,
) -> DataFrame:
    """All results of `plan` over its sources, packed, with the counts of each batch as observed `metrics`.

    `control` is a stream of words to all shards: `flush`, and `reset` with an instant. Where the clock goes on without
    events, a heartbeat is the last source: a checkpoint keeps the number and the order of them.
    """
    keys = shard_keys(shards)
    payloads = _sliced(sources, plan, keys, metrics)
    if control is not None:
        payloads = payloads.unionByName(_to_all(_words(control), F.col("name"), F.col("number"), keys))
    if isinstance(plan, StreamPlan):
        if plan.timing.has_heartbeat:
            beats = heartbeats(payloads.sparkSession, heartbeat_of(plan))
            payloads = payloads.unionByName(_to_all(beats, F.lit(HEARTBEAT), F.col("now"), keys))
        payloads = premerge_payloads(payloads, plan, keys)
    run = run or uuid.uuid4().hex
    for number, stage in enumerate([] if isinstance(plan, StreamPlan) else plan.stages[:-1]):
        payloads = regroup_payloads(payloads, stage, shards, run, number, metrics)
    packed = slide_payloads(payloads, plan, shards, run)
    totals = (_total(name).alias(name) for name in (*COUNTS, *SLIDE_MEASURES))
    return packed.observe(metrics, *totals, _windows().alias("windows"))


def _sliced(sources: Sources, plan: Plan, keys: list[int], metrics: str = METRICS) -> DataFrame:
    if isinstance(plan, StreamPlan):
        return slice_stream(sources[plan.stream], plan, keys, metrics)
    stage = plan.stages[0]
    parts = [slice_changes(sources[name], stage, name, keys, metrics) for name, _ in plan.streams]
    return reduce(DataFrame.unionByName, parts)


def ways_of(sources: Sources, plan: Plan) -> dict[str, str]:
    """How the rows of each stream of `plan` come to its slicers, where there is a choice."""
    if isinstance(plan, StreamPlan):
        asked = {plan.stream: asked_of(plan)}
    else:
        asked = {name: asked_of_changes(plan.stages[0], name) for name, _ in plan.streams}
    told: dict[str, str] = {}
    for name, wanted in asked.items():
        if sources[name].files is not None:
            reason = way_of(sources[name], wanted)
            told[name] = f"rows come through Spark: {reason}" if isinstance(reason, str) else BY_NAME
    return told


def _words(lines: DataFrame) -> DataFrame:
    """The words that were sent: `name`, and as `number` what goes with it, if anything does."""
    number = f"coalesce(try_cast(get(split(value, ' '), 1) AS BIGINT), {NO_PROBE})"
    words = lines.select(F.expr("get(split(value, ' '), 0)").alias("name"), F.expr(number).alias("number"))
    return words.where(F.col("name").isin(FLUSH, RESET))


def _total(name: str):
    """Counts add up over shards; all shards have the same clock."""
    return F.max(F.when(F.col("query").isNull(), F.col(name))) if name == "clock" else F.sum(name)


def _windows() -> Column:
    """How many windows were answered, each once, in however many shards its groups are."""
    return F.sum("alone") + F.size(F.array_distinct(F.flatten(F.collect_list(SHARED))))


def _to_all(words: DataFrame, name: Column, probe: Column, keys: list[int]) -> DataFrame:
    """A payload to every shard for each row of `words`."""
    return words.select(
        F.explode(F.array(*map(F.lit, keys))).alias("shard"),
        F.lit(-1).alias("task"),
        F.lit(0).alias("part"),
        probe.cast("bigint").alias("probe"),
        name.alias("name"),
        F.lit(b"").alias("body"),
        *(F.lit(0).cast("bigint").alias(name) for name in TALLIES),
    )
