"""Shard keys are hashed as Spark hashes them, so that each shard has a shuffle partition of its own."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from windrow.spark.stages.shards import shard_keys, spark_hash

NUMBERS = [0, 1, 2, 42, 1_000_003, 2**31 - 1, -1, -(2**31)]


def test_a_number_is_hashed_as_spark_hashes_it(spark: SparkSession):
    frame = spark.createDataFrame([(number,) for number in [*NUMBERS, *range(100)]], "n INT")
    assert all(row.h == spark_hash(row.n) for row in frame.select("n", F.hash("n").alias("h")).collect())


@pytest.mark.parametrize("count", [1, 2, 3, 8, 31])
def test_each_shard_lands_in_its_own_partition(spark: SparkSession, count: int):
    keys = shard_keys(count)
    frame = spark.createDataFrame([(key,) for key in keys], "shard INT").repartition(count, "shard")
    placed = {row.shard: row.place for row in frame.select("shard", F.spark_partition_id().alias("place")).collect()}
    assert [placed[key] for key in keys] == list(range(count))
