"""How Spark writes into a checkpoint: quickly on local disk, as it likes elsewhere, and as its user says."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from windrow.places.place import place_of
from windrow.spark.job.checkpoint_files import SETTING, write_quickly


def test_files_of_a_local_checkpoint_are_written_without_a_process_for_each(spark, tmp_path: Path) -> None:
    write_quickly(spark, place_of(str(tmp_path)))
    log = spark._jvm.org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
    path = spark._jvm.org.apache.hadoop.fs.Path(str(tmp_path / "x"))
    files = log.create(path, spark._jsparkSession.sessionState().newHadoopConf())
    kind = files.getClass().getSimpleName()
    spark.conf.unset(SETTING)
    assert kind == "FileSystemBasedCheckpointFileManager"


def test_elsewhere_it_is_left_to_spark(spark, tmp_path: Path) -> None:
    write_quickly(spark, place_of(str(tmp_path)))
    write_quickly(spark, SimpleNamespace(is_local=False))
    assert spark.conf.get(SETTING, None) is None
