"""State in the checkpoint of a stopped job that the queries of its last run do not know: what it is, and its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.errors import SettingsError
from windrow.places.place import AnyPlace, place_of
from windrow.runtime.shard import opened
from windrow.runtime.unknown_state import UnknownState, unknown_in
from windrow.spark.job.checkpoint import QueryEdits
from windrow.spark.job.hold import Hold, check_free
from windrow.spark.job.words import CONTROL


@dataclass(frozen=True, slots=True)
class Leftover:
    """State of the stream in `folder` that nobody asks for, over all shards; `since_us` is where the clock was then."""

    folder: str
    name: str
    held: str
    since_us: int | None
    bytes: int

    @property
    def stream(self) -> str:
        """What the stream is called, if that is not too long for the name of a folder."""
        return run_of_folder(self.folder)


def run_of_folder(folder: str) -> str:
    """The name of what runs in a folder of a checkpoint, if that is not too long for the name of a folder."""
    return unquote(folder.rpartition("~")[0] or folder)


def check_stopped(checkpoint: AnyPlace) -> None:
    """Refuse what is no checkpoint, and that of a job that runs."""
    if not (place_of(checkpoint) / "windrow.json").is_file():
        raise SettingsError(f"there is no checkpoint {checkpoint}: name the folder that a job was run with")
    check_free(checkpoint)


def leftovers(spark: SparkSession, checkpoint: AnyPlace) -> list[Leftover]:
    """All state that no query of the last run knows, as of the last finished batch, by stream."""
    check_stopped(checkpoint)
    forgotten = QueryEdits.read(checkpoint).forgotten
    found: list[Leftover] = []
    for folder in sorted(place_of(checkpoint).names()):
        place = place_of(checkpoint) / folder
        if (place / CONTROL).is_folder():
            known = _unknown(spark, (place / "spark").for_spark)
            found += [
                Leftover(folder, state.name, state.held, state.since_us, size)
                for state, size in known
                if state.name not in forgotten.get(folder, ())
            ]
    return found


def forget_stopped(checkpoint: AnyPlace, found: Iterable[Leftover]) -> None:
    """Write down that they are to be deleted: the job does it in its first batch, when it is started again."""
    hold = Hold(checkpoint)
    hold.take()
    try:
        changes = QueryEdits.read(checkpoint)
        for one in found:
            changes.forget(one.folder, [one.name], ())
        changes.write(checkpoint)
    finally:
        hold.release()


def _unknown(spark: SparkSession, place: str) -> list[tuple[UnknownState, int]]:
    """Unknown state of all shards in all stages, each once, and its bytes."""
    found: dict[str, tuple[UnknownState, int]] = {}
    for operator in state_operators(spark, place):
        blocks = state_blocks(spark, place, operator)
        snapshots = blocks.where("block = 'snapshot/0'").select("shard", "bytes").collect()
        known = {row["shard"]: unknown_in(opened(bytes(row["bytes"]))) for row in snapshots}
        if any(known.values()):
            sizes = blocks.select("shard", "block", F.length("bytes").alias("size")).collect()
            for shard, states in known.items():
                own = [(row["block"], row["size"]) for row in sizes if row["shard"] == shard]
                for state in states:
                    _, before = found.get(state.name, (state, 0))
                    found[state.name] = (state, before + _size(state, own))
    return [found[name] for name in sorted(found)]


def state_operators(spark: SparkSession, place: str) -> list[int]:
    """The stateful operators of a stream that hold blocks, one for each stage."""
    try:
        rows = spark.read.format("state-metadata").load(place).select("operatorId").distinct().collect()
    except PySparkException:
        return []  # no batch has been finished
    return sorted(row["operatorId"] for row in rows)


def state_blocks(spark: SparkSession, place: str, operator: int) -> DataFrame:
    """What all shards of a stage have in state, as of the last finished batch."""
    reading = spark.read.format("statestore").option("stateVarName", "blocks").option("operatorId", operator)
    return reading.load(place).select(
        F.col("key.shard").alias("shard"),
        F.col("user_map_key.block").alias("block"),
        F.col("user_map_value.bytes").alias("bytes"),
    )


def _size(state: UnknownState, blocks: Sequence[tuple[str, int]]) -> int:
    return sum(size for block, size in blocks if block.startswith(state.blocks))
