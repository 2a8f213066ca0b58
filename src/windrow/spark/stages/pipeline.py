"""What runs on Spark for some stages: sources, slice, shuffle, slide."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from functools import reduce
from types import MappingProxyType

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.plan.nodes.stage import StagePlan, without_tables
from windrow.runtime.payload import FLUSH, HEARTBEAT, RESET, TALLIES
from windrow.spark.job.measures import METRICS, SLIDE_MEASURES, by_shard, summed
from windrow.spark.sources.asked import JOINED_FIRST, asked_of, way_told
from windrow.spark.sources.heartbeat import heartbeat_of, heartbeats
from windrow.spark.sources.history import Turn, nothing, read_now
from windrow.spark.sources.source import Source
from windrow.spark.sources.ways import way_of
from windrow.spark.stages.editions import Edition, Editions, as_read
from windrow.spark.stages.look_up import look_up
from windrow.spark.stages.premerge import premerge_payloads
from windrow.spark.stages.regroup import regroup_payloads
from windrow.spark.stages.shards import shard_keys
from windrow.spark.stages.share_note import ShareNote
from windrow.spark.stages.ship_tables import ShippedTables
from windrow.spark.stages.slice import NO_PROBE, slice_stream
from windrow.spark.stages.slide import COUNTS, SHARED, Finishes, slide_payloads

Sources = Mapping[str, Source]


def packed_results(
    sources: Sources,
    plan: StagePlan,
    shards: int,
    control: DataFrame | None = None,
    run: str | None = None,
    metrics: str = METRICS,
    tables: Sequence[Edition] | None = None,
    finishing: Finishes | None = None,
    turn: Turn | None = None,
    shares: ShareNote | None = None,
) -> DataFrame:
    """All results of `plan` over its sources, packed, with the counts of each batch as observed `metrics`.

    `tables` are the editions of what rows are joined with, where a checkpoint has others than the plan. `finishing` is
    who finishes rows in the tasks that slide, where these have all that is needed for it: see `finishes_here`.

    `control` is a stream of words to all shards: `flush`, and `reset` with an instant. Where the clock goes on without
    events, a heartbeat is the last source: a checkpoint keeps the number and the order of them. Where streams have a
    history, `turn` says whether that is read or the streams themselves. `shares` are those of rows that are taken.
    """
    keys = shard_keys(shards)
    editions = as_read(plan.joined) if tables is None else tables
    shipped = _shipped(sources, plan.stages[0], editions)
    plan = without_tables(plan)  # they are sent apart, once
    first = plan.stages[0]
    payloads = _sliced(sources, first, keys, metrics, shipped, turn, shares)
    if control is not None:
        payloads = payloads.unionByName(_to_all(_words(control), F.col("name"), F.col("number"), keys))
    if any(stream.timing.has_heartbeat for stream in first.streams):
        if turn is not None and turn.history:  # the wall clock says nothing of what happened long ago
            payloads = payloads.unionByName(_no_payloads(payloads.sparkSession, turn, keys))
        else:
            beats = heartbeats(payloads.sparkSession, heartbeat_of(plan))
            payloads = payloads.unionByName(_to_all(beats, F.lit(HEARTBEAT), F.col("now"), keys))
    payloads = premerge_payloads(payloads, first, keys)
    run = run or uuid.uuid4().hex
    for number, stage in enumerate(plan.stages[:-1]):
        payloads = regroup_payloads(payloads, stage, shards, run, number, metrics, _carried(stage, editions))
    packed = slide_payloads(payloads, plan, shards, run, _carried(plan, editions), finishing)
    if finishing is not None:
        return packed  # which tells the counts by itself
    for stream in first.read:
        if any(query.look_up for query in stream.queries):
            packed = look_up(packed, shipped[stream.stream])
    totals = (_total(name).alias(name) for name in (*COUNTS, *summed(SLIDE_MEASURES)))
    return packed.observe(metrics, *totals, _windows().alias("windows"), by_shard())


def finishes_here(plan: StagePlan) -> bool:
    """Whether answers are whole in the task that slides: tables are looked up behind it."""
    return not any(query.look_up for stream in plan.stages[0].read for query in stream.queries)


def _shipped(sources: Sources, plan: StagePlan, editions: Sequence[Edition]) -> dict[str, ShippedTables]:
    """By stream, the tables that its rows or answers are joined with."""
    shipped = {}
    for stream in (stream for stream in plan.read if stream.tables):
        own = [edition for edition in editions if edition.table in stream.tables]
        shipped[stream.stream] = ShippedTables(sources[stream.stream].frame.sparkSession, stream, own)
    return shipped


def _carried(stage: StagePlan, editions: Sequence[Edition]) -> Editions:
    """The tables that a stage joins answers with, where these are the events of its streams or of those it sends to."""
    joined = {table for feed in stage.feeds for table in feed.stream.tables}
    return tuple(edition for edition in editions if edition.table in joined)


def _sliced(
    sources: Sources,
    plan: StagePlan,
    keys: list[int],
    metrics: str = METRICS,
    shipped: Mapping[str, ShippedTables] = MappingProxyType({}),
    turn: Turn | None = None,
    shares: ShareNote | None = None,
) -> DataFrame:
    parts = []
    for number, stream in enumerate(plan.read):
        whole = sources[stream.stream]
        for source, bounds in read_now(whole, turn):
            if source is None:
                assert turn is not None
                parts.append(_no_payloads(whole.frame.sparkSession, turn, keys))
            else:
                about = (metrics, number, shipped.get(stream.stream), bounds)
                parts.append(slice_stream(source, stream, keys, *about, None if stream.shed is None else shares))
    return reduce(DataFrame.unionByName, parts)


def ways_of(sources: Sources, plan: StagePlan) -> dict[str, str]:
    """How the rows of each stream of `plan` come to its slicers, where there is a choice."""
    told: dict[str, str] = {}
    for stream in plan.stages[0].read:
        source = sources[stream.stream]
        if source.files is not None:
            reason = JOINED_FIRST if stream.joins_first else way_of(source, asked_of(stream))
            told[stream.stream] = way_told(reason)
    return told


def _no_payloads(spark: SparkSession, turn: Turn, keys: list[int]) -> DataFrame:
    """No payload at all, in the place of a source whose turn it is not."""
    return _to_all(_words(nothing(spark, turn)), F.col("name"), F.col("number"), keys)


def _words(lines: DataFrame) -> DataFrame:
    """The words that were sent: `name`, and as `number` what goes with it, if anything does."""
    number = f"coalesce(try_cast(get(split(value, ' '), 1) AS BIGINT), {NO_PROBE})"
    words = lines.select(F.expr("get(split(value, ' '), 0)").alias("name"), F.expr(number).alias("number"))
    return words.where(F.col("name").isin(FLUSH, RESET))


def _total(name: str) -> Column:
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
        F.lit("").alias("stream"),
    )
