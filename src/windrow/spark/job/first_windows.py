"""From which window queries answer on a checkpoint, by the state that its last finished batch has left."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from windrow.errors import StateError
from windrow.places.place import Place
from windrow.plan.instants import BEFORE_ALL, shown_instant
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.shard import opened
from windrow.runtime.time.first_window import first_window
from windrow.spark.job.clean_state import state_blocks, state_operators
from windrow.spark.job.file_names import folder_of
from windrow.storage.blocks import Snapshot


def first_windows(
    spark: SparkSession, checkpoint: Place, plans: Iterable[StagePlan], names: Collection[str]
) -> dict[str, str]:
    """Of queries over windows of time, the first one that each answers, as a text; others are left out."""
    found: dict[str, str] = {}
    for plan in plans:
        if not any(query.name in names for query in plan.queries):
            continue
        for kept in _snapshots(spark, (folder_of(checkpoint, plan.run) / "spark").for_spark):
            found |= _firsts(plan, kept, names)
    return found


def _firsts(plan: StagePlan, kept: Snapshot, names: Collection[str]) -> dict[str, str]:
    found = {}
    for stream in (stream for stage in plan.stages for stream in stage.streams):
        state = kept.get("streams", {}).get(stream.stream)
        if state is None or state.get("newest") is None:
            continue
        for space in stream.time_spaces:
            for query in stream.queries_of(space):
                if query.name in names and isinstance(query.window, TimeWindow):
                    part = space.parts_of(query.window)[0]
                    number = first_window(query, part, space, state)
                    found[query.name] = _shown(part.closes, number)
    return found


def _shown(window: TimeWindow, number: int) -> str:
    end = BEFORE_ALL if number <= BEFORE_ALL // 2 else window.end(number)
    start = None if window.range_us is None or end == BEFORE_ALL else window.start(number)
    if start is None:
        return f"the window that ends at {shown_instant(end)}" if number > BEFORE_ALL // 2 else "its next window"
    return f"the window from {shown_instant(start)} to {shown_instant(end)}"


def _snapshots(spark: SparkSession, place: str) -> list[Snapshot]:
    """What one shard of each stage has kept: all have come as far. State that cannot be read is told of by the job."""
    found: list[Snapshot] = []
    with suppress(PySparkException, StateError):
        for operator in state_operators(spark, place):
            rows = state_blocks(spark, place, operator).where("block = 'snapshot/0'").select("bytes").limit(1).collect()
            found += [opened(bytes(row["bytes"])) for row in rows]
    return found
