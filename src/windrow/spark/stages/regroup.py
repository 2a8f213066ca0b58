"""A stage that is not the last: what it finds out goes to the shards of the next, in the same batch."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.plan.nodes.stage import StagePlan
from windrow.spark.job.measures import SLIDE_MEASURES, measured, measured_ddl
from windrow.spark.stages.editions import Editions
from windrow.spark.stages.slice import PAYLOAD_DDL
from windrow.spark.stages.slide import SlideProcessor


def regroup_payloads(
    payloads: DataFrame, stage: StagePlan, shards: int, run: str, number: int, metrics: str, tables: Editions = ()
) -> DataFrame:
    """What `stage`, the one with this number, makes of `payloads`, and joins with `tables`: payloads for the next."""
    sent = payloads.groupBy("shard").transformWithStateInPandas(
        SlideProcessor(stage, shards, f"{run}, stage {number}", tables),
        outputStructType=measured_ddl(PAYLOAD_DDL, SLIDE_MEASURES),
        outputMode="Append",
        timeMode="None",
    )
    return measured(sent, f"stage {number}", SLIDE_MEASURES, metrics)
