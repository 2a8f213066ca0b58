"""How Spark writes its own files into a checkpoint on local disk: without a process for each of them.

Hadoop's interface for atomic renames, which Spark prefers, starts the program `readlink` eight times for each file that
it moves into place on a local disk, and a small batch writes five files: half of its time went into that. Its older
interface moves files there by the same call of the operating system, and starts none.
"""

from __future__ import annotations

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from windrow.places.place import Place
from windrow.spark.connect import is_connect
from windrow.spark.settings import chosen_setting

SETTING = "spark.sql.streaming.checkpointFileManagerClass"
_QUICK = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"


def write_quickly(spark: SparkSession, folder: Place) -> None:
    """Set how Spark writes into `folder`, before a query is started on it.

    Elsewhere than on local disk it is left as Spark has it, and so it is where somebody chose, where this Spark has no
    such class, and with Spark Connect, where nobody can ask for it.
    """
    if is_connect(spark) or chosen_setting(spark, SETTING) is not None:
        return
    if folder.is_local and _is_there(spark):
        spark.conf.set(SETTING, _QUICK)
    else:
        spark.conf.unset(SETTING)


def _is_there(spark: SparkSession) -> bool:
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    try:
        jvm.java.lang.Class.forName(_QUICK)
    except Py4JJavaError:
        return False
    return True
