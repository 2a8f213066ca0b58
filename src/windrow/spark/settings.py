"""The Spark settings that Windrow needs: set where it may, refused with the reason where somebody chose otherwise."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from windrow.errors import SettingsError
from windrow.spark.early_jvm import load_meanwhile
from windrow.spark.local_files import begin_to_write_so
from windrow.spark.on_cluster import cluster_options
from windrow.spark.quick_jvm import quick_options
from windrow.spark.reach_master import check_master
from windrow.spark.workers.warm import is_launcher, start_warming

STORE_MB = 128
"""What the state stores of all shards on this machine keep in memory together. Without a bound each may fill several
buffers of 64 MB for each state variable, and blocks that are needed again are in the workers' memory already."""

_ROCKSDB_OPTIONS = "spark.sql.streaming.stateStore.rocksdb"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@dataclass(frozen=True, slots=True)
class Setting:
    """A Spark setting, the value it needs, and why."""

    name: str
    value: str
    why: str
    must: bool


def settings(shards: int) -> tuple[Setting, ...]:
    """All that Windrow asks of a Spark session."""
    streaming = "spark.sql.streaming.stateStore"
    return (
        Setting(f"{streaming}.providerClass", _ROCKSDB, "only the RocksDB store has the state variables", True),
        Setting(
            f"{streaming}.rocksdb.changelogCheckpointing.enabled", "true", "a batch then writes what changed", False
        ),
        Setting("spark.sql.ansi.enabled", "false", "else one bad row would stop the job instead of giving NULL", True),
        Setting("spark.sql.shuffle.partitions", str(shards), "one partition a shard", False),
        Setting("spark.sql.execution.arrow.maxRecordsPerBatch", "65536", "events are cut in long columns", False),
        Setting("spark.sql.streaming.noDataMicroBatches.enabled", "false", "no answer waits for an empty batch", False),
        Setting("spark.sql.streaming.pollingDelay", "50ms", "else Spark asks a quiet stream each 10 ms", False),
        Setting(
            "spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS", "readers of results then see an instant", False
        ),
    )


def apply_settings(spark: SparkSession, shards: int) -> dict[str, str]:
    """Set what is needed on `spark`; returns what was set. Nothing is set if anything is in conflict."""
    wanted = settings(shards)
    for setting in wanted:
        chosen = chosen_setting(spark, setting.name)
        if setting.must and chosen is not None and chosen.lower() != setting.value.lower():
            raise SettingsError(
                f"{setting.name} is set to {chosen}, and Windrow needs {setting.value}: {setting.why}."
                f" Leave it out, or give Windrow a Spark session of its own"
            )
    _check_python(spark)
    for setting in wanted:
        spark.conf.set(setting.name, setting.value)
    return {setting.name: setting.value for setting in wanted}


def local_spark(
    master: str = "local[*]", options: dict[str, str] | None = None, load: Callable[[], None] | None = None
) -> SparkSession:
    """A Spark session on this machine, quiet, with workers that run this Python; `load` is called while it comes up."""
    warmed = master.startswith("local") and SparkSession.getActiveSession() is None
    os.environ["PYSPARK_PYTHON"] = start_warming() if warmed else workers_python(master, options or {})
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")  # else each of the JVM's threads keeps what RocksDB has freed
    quiet = {
        "spark.master": master,
        "spark.app.name": "windrow",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.memory": "2g",
        f"{_ROCKSDB_OPTIONS}.boundedMemoryUsage": "true",
        f"{_ROCKSDB_OPTIONS}.maxMemoryUsageMB": str(STORE_MB),
    }
    if not master.startswith("local"):
        quiet |= cluster_options(options or {})
    elif master == "local" or master.startswith("local["):
        quiet["spark.locality.wait"] = "0s"  # there is one place only, and its scheduler never looks again
    if warmed:
        quiet |= quick_options(options or {})
    chosen = quiet | (options or {})
    fresh = SparkSession.getActiveSession() is None
    if fresh:
        check_master(master)
    if fresh and load is not None:
        load_meanwhile(chosen, load)
    spark = SparkSession.builder.config(map={**chosen}).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    if fresh:
        begin_to_write_so(spark)
    return spark


def workers_python(master: str, options: Mapping[str, str]) -> str:
    """The Python that Spark's workers run: the one that was asked for, as one in an archive, or our own.

    >>> workers_python("yarn", {"spark.pyspark.python": "./environment/bin/python"})
    './environment/bin/python'
    """
    asked = options.get("spark.pyspark.python")
    if asked is None and not master.startswith("local"):
        asked = os.environ.get("PYSPARK_PYTHON")
    return asked or sys.executable


def chosen_setting(spark: SparkSession, name: str) -> str | None:
    """What a user has set when the Spark application began; None for Spark's default."""
    try:
        return spark.sparkContext.getConf().get(name)
    except Exception:  # Spark Connect has no context: what is set there cannot be told from a default
        return None


def _check_python(spark: SparkSession) -> None:
    """On one machine, workers must run the Python that has Windrow."""
    try:
        local, worker = str(spark.sparkContext.master).startswith("local"), spark.sparkContext.pythonExec
    except Exception:
        return
    found = shutil.which(worker)
    if local and not is_launcher(worker) and (found is None or _folder(found) != _folder(sys.executable)):
        raise SettingsError(
            f"Spark's workers would run {found or worker}, and Windrow runs in {sys.executable}:"
            " set the environment variable PYSPARK_PYTHON to it before Spark starts"
        )


def _folder(program: str) -> str:
    """Where a program lies; links are not followed, since each virtual environment links to the same Python."""
    return os.path.dirname(os.path.abspath(program))
