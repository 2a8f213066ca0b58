"""Plans whose rows stay in Python run without code that Spark writes: the queries of others as ever."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from windrow.spark.job import plain_plans
from windrow.spark.job.plain_plans import without_code

OTHERS = {"spark.sql.codegen.hugeMethodLimit": "9000", "spark.sql.codegen.maxFields": "7"}
"""Settings that the Spark of the tests was not started with: it has those in question already."""


def now(spark: SparkSession) -> list[str | None]:
    return [spark.conf.get(name, None) for name in OTHERS]


def test_settings_are_as_before_when_the_query_has_started(spark: SparkSession, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(plain_plans, "SETTINGS", OTHERS)
    with without_code(spark, wanted=False):
        assert now(spark) == [None, None]
    with pytest.raises(ValueError, match="did not start"), without_code(spark, wanted=True):
        assert now(spark) == ["9000", "7"]
        raise ValueError("did not start")
    assert now(spark) == [None, None]


def test_what_a_user_has_set_stays(spark: SparkSession, monkeypatch: pytest.MonkeyPatch):
    chosen = dict.fromkeys(plain_plans.SETTINGS, "not this")
    monkeypatch.setattr(plain_plans, "SETTINGS", chosen | OTHERS)
    before = [spark.conf.get(name) for name in chosen]
    spark.conf.set("spark.sql.codegen.maxFields", "50")
    with without_code(spark, wanted=True):
        assert now(spark) == ["9000", "50"]
        assert [spark.conf.get(name) for name in chosen] == before
    assert now(spark) == [None, "50"]
    spark.conf.unset("spark.sql.codegen.maxFields")
