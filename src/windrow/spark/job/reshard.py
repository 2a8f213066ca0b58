"""A checkpoint with more shards, made from that of a stopped job.

Spark spreads state by its keys, and one of our shards is one key, so that Spark cannot cut it. And which of a shard's
groups go where only its plan tells, which a checkpoint does not have. So every new shard begins with all that its old
one had, and lets go of what is not its own in the first batch of the job that goes on (`Shard.keep`). Keys are spread
by their hash modulo the number of shards: where this is multiplied, every new shard has one old one, and no two meet.
"""

from __future__ import annotations

from dataclasses import asdict, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.errors import SettingsError, StateError
from windrow.places.lease import LEASES
from windrow.places.place import AnyPlace, Place, place_of
from windrow.places.reach import check_reached
from windrow.plan.nodes.run_names import streams_in
from windrow.runtime.shard import opened
from windrow.runtime.split import refuse_unsplit, unsplit_in
from windrow.spark.job.batches import last_committed
from windrow.spark.job.checkpoint import QueryEdits, kept_of, not_writable, write_whole
from windrow.spark.job.clean_state import check_stopped, run_of_folder, state_blocks, state_operators
from windrow.spark.job.hold import Hold
from windrow.spark.job.job_requests import FORMERLY, REQUESTS
from windrow.spark.job.spark_logs import copy_all, copy_logs, move_state
from windrow.spark.job.status_note import STATUS
from windrow.spark.job.words import CONTROL, make_control
from windrow.spark.stages.seed import SEED_DDL, sow
from windrow.spark.stages.shards import shard_keys
from windrow.spark.stages.slide_shard import shards_text

_SEED, _SPARK = "seed", "spark"
_NOT_COPIED = ("lock.json", LEASES, STATUS, REQUESTS, FORMERLY, "windrow.json")
"""What belongs to a job that runs, and what tells that the copy is whole, which is written last."""

_CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
_PARTITIONS = "spark.sql.shuffle.partitions"


def check_reshard(checkpoint: AnyPlace, shards: int, to: AnyPlace) -> None:
    """Refuse what can be refused before Spark is started."""
    check_stopped(checkpoint)
    before = kept_of(checkpoint).shards
    if shards <= before or shards % before:
        raise SettingsError(
            f"the checkpoint {checkpoint} has {before} shards: they can be split, and not put together"
            f"\nhint: take a multiple, such as {2 * before} or {4 * before}"
        )
    target = place_of(to)
    try:
        if target.exists() and target.names():
            raise SettingsError(f"{to} is not empty: name a folder for the new checkpoint that is not there yet")
        target.make_folder()
        check_reached(target, "the new checkpoint")
    except OSError as error:
        raise not_writable(to, error) from error


def reshard(spark: SparkSession, checkpoint: AnyPlace, shards: int, to: AnyPlace) -> list[str]:
    """Make the checkpoint `to` with so many shards; returns the streams that it has state of.

    The old one stays as it was. What cannot be split is refused by name before anything is written.
    """
    check_reshard(checkpoint, shards, to)
    old, new = place_of(checkpoint), place_of(to)
    hold = Hold(old)
    hold.take()
    try:
        folders = [folder for folder in old.entries() if (folder / CONTROL).is_folder()]
        for folder in folders:
            _check_splits(spark, old, folder)
        kept = kept_of(old)
        for place in old.entries():
            if place.name not in _NOT_COPIED and place.name not in {folder.name for folder in folders}:
                copy_all(place, new / place.name)
        for folder in folders:
            _split_stream(spark, folder, new / folder.name, kept.shards, shards)
        write_whole(new / "windrow.json", asdict(replace(kept, shards=shards)))
        return [run_of_folder(folder.name) for folder in folders]
    finally:
        hold.release()


def _check_splits(spark: SparkSession, checkpoint: Place, folder: Place) -> None:
    """Refuse state that cannot be split; what is going to be deleted anyhow does not count."""
    forgotten = QueryEdits.read(checkpoint).forgotten.get(folder.name, ())
    sources = {*streams_in(run_of_folder(folder.name))}
    spark_folder = (folder / _SPARK).for_spark
    told: dict[str, None] = {}
    for operator in state_operators(spark, spark_folder):
        blocks = state_blocks(spark, spark_folder, operator)
        for row in blocks.where("block = 'snapshot/0'").select("bytes").collect():
            kept = opened(bytes(row["bytes"]))
            read = kept["streams"].keys()
            fed = read - sources if read & sources else ()  # a later stage reads none, and was sent what it has
            told |= dict.fromkeys(unsplit_in(kept, fed, forgotten))
    refuse_unsplit(list(told))


def _split_stream(spark: SparkSession, old: Place, new: Place, before: int, shards: int) -> None:
    """Everything of one stream, or of several that are read together."""
    for place in old.entries():
        if place.name not in (_SPARK, CONTROL):
            copy_all(place, new / place.name)
    make_control(new / CONTROL)
    batch = last_committed(old)
    operators = state_operators(spark, (old / _SPARK).for_spark) if batch >= 0 else []
    if not operators:  # nothing has been finished that could be split: it begins again
        return
    rows = [_seed_rows(spark, (old / _SPARK).for_spark, operator, before, shards) for operator in operators]
    for number, part in enumerate(rows):
        part.write.parquet((new / _SEED / str(number)).for_spark)
    _sow(spark, new, operators, shards)
    (new / _SEED).delete_folder()
    move_state(new / _SPARK, batch)
    copy_logs(old / _SPARK, new / _SPARK, batch, {_PARTITIONS: str(shards)})
    for operator in operators:  # so that a store that cannot be opened is found now
        state_blocks(spark, (new / _SPARK).for_spark, operator).where("block = 'shards/0'").collect()


def _seed_rows(spark: SparkSession, place: str, operator: int, before: int, shards: int) -> DataFrame:
    """What each new shard begins with: all blocks of its old one, and the note that it is yet to let go of some."""
    was, keys = shard_keys(before), shard_keys(shards)
    children = [(was[number % before], key) for number, key in enumerate(keys)]
    own = spark.createDataFrame(children, "parent INT, shard INT")
    blocks = state_blocks(spark, place, operator).withColumnRenamed("shard", "parent")
    note = F.lit(shards_text(shards, before).encode())
    content = F.when(F.col("block") == "shards/0", note).otherwise(F.col("bytes"))
    reading = spark.read.format("statestore").option("stateVarName", "version").option("operatorId", operator)
    versions = reading.load(place).select(F.col("key.shard").alias("parent"), F.col("value.version").alias("version"))
    number, no_version = F.lit(operator).alias("operator"), F.lit(None).cast("bigint").alias("version")
    copied = blocks.join(own, "parent").select(number, "shard", no_version, "block", content.alias("bytes"))
    nothing = (F.lit(None).cast("string").alias("block"), F.lit(None).cast("binary").alias("bytes"))
    return copied.unionByName(versions.join(own, "parent").select(number, "shard", "version", *nothing))


def _sow(spark: SparkSession, folder: Place, operators: list[int], shards: int) -> None:
    """Let Spark write the state, as batch 0 of a query that reads it, whole and in one file a partition."""
    before = {name: spark.conf.get(name) for name in (_CHANGELOG, _PARTITIONS)}
    spark.conf.set(_CHANGELOG, "false")
    spark.conf.set(_PARTITIONS, str(shards))
    try:
        source = spark.readStream.schema(SEED_DDL).option("recursiveFileLookup", "true")
        sown = sow(source.parquet((folder / _SEED).for_spark), operators)
        writing = sown.writeStream.format("noop").option("checkpointLocation", (folder / _SPARK).for_spark)
        query = writing.trigger(availableNow=True).start()
        query.awaitTermination()
    finally:
        for name, value in before.items():
            if value is not None:
                spark.conf.set(name, value)
    if last_committed(folder) != 0:
        raise StateError(f"Spark has not written the state into {folder} in one batch: nothing is made of it")
