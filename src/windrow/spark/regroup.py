"""A stage of queries over changes that is not the last: its changes go to the shards of the next, in the same batch."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.plan.change_plan import ChangesPlan
from windrow.spark.slice import PAYLOAD_DDL
from windrow.spark.slide import SlideProcessor


def regroup_payloads(payloads: DataFrame, stage: ChangesPlan, shards: int, run: str) -> DataFrame:
    """What `stage` makes of `payloads`: payloads for the next."""
    return payloads.groupBy("shard").transformWithStateInPandas(
        SlideProcessor(stage, shards, run), outputStructType=PAYLOAD_DDL, outputMode="Append", timeMode="None"
    )
