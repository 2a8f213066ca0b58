"""The settings that Windrow needs are set, and a session that was built with others is refused."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import SettingsError
from windrow.spark.on_cluster import EXECUTORS, cluster_options
from windrow.spark.quick_jvm import OPTIONS, PATIENT
from windrow.spark.settings import apply_settings

STORE = "spark.sql.streaming.stateStore.providerClass"
HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def built_with(python: str = sys.executable, **chosen: str) -> tuple[SimpleNamespace, dict[str, str]]:
    """A stand-in for a Spark session that was built with `chosen` settings, and what is set on it afterwards."""
    built = {name.replace("__", "."): value for name, value in chosen.items()}
    context = SimpleNamespace(getConf=lambda: built, master="local[2]", pythonExec=python)
    done: dict[str, str] = {}
    return SimpleNamespace(sparkContext=context, conf=SimpleNamespace(set=done.__setitem__)), done


def test_what_is_set_is_listed(spark: SparkSession):
    session = windrow.Session(spark, shards=3)
    assert session.settings[STORE] == ROCKSDB
    assert session.settings["spark.sql.shuffle.partitions"] == "3"
    assert session.settings["spark.sql.ansi.enabled"] == "false"
    assert {name: spark.conf.get(name) for name in session.settings} == session.settings


def test_there_are_as_many_shards_as_cores_unless_somebody_says_otherwise(spark: SparkSession):
    assert windrow.Session(spark).shards == spark.sparkContext.defaultParallelism


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        (STORE, HDFS, "only the RocksDB store has the state variables"),
        ("spark.sql.ansi.enabled", "true", "else one bad row would stop the job"),
    ],
)
def test_a_setting_in_conflict_is_refused_with_the_reason_and_nothing_is_set(name: str, value: str, why: str):
    session, done = built_with(**{name.replace(".", "__"): value})
    with pytest.raises(SettingsError) as told:
        apply_settings(session, 2)
    assert f"{name} is set to {value}" in str(told.value) and why in str(told.value)
    assert not done


@pytest.mark.parametrize("chosen", [{}, {STORE: ROCKSDB, "spark.sql.ansi.enabled": "FALSE"}])
def test_settings_that_agree_are_welcome(chosen: dict[str, str]):
    session, done = built_with(**{name.replace(".", "__"): value for name, value in chosen.items()})
    assert apply_settings(session, 2) == done
    assert done["spark.sql.shuffle.partitions"] == "2"


def test_workers_that_would_run_another_python_are_refused():
    session, done = built_with(python="/usr/bin/env")
    with pytest.raises(SettingsError, match="set the environment variable PYSPARK_PYTHON"):
        apply_settings(session, 2)
    assert not done


def test_on_a_cluster_shards_move_soon_and_a_driver_has_the_options_that_somebody_chose():
    given = cluster_options({})
    assert (given["spark.locality.wait"], given["spark.scheduler.revive.interval"]) == ("200ms", "200ms")
    assert given[EXECUTORS] == PATIENT and given[OPTIONS].startswith(PATIENT)
    assert OPTIONS not in cluster_options({OPTIONS: "-Xss8m"})
