"""The heartbeat of a stream on Spark: a source with a row for each beat, so that a batch runs though no event comes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from windrow.errors import SettingsError, StateError
from windrow.places.place import AnyPlace, place_of
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.timing import Timing
from windrow.plan.windows.parts import parts_of
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.time_window import TimeWindow
from windrow.schedule.heartbeat import EXPIRY_US, Beat, Heartbeat
from windrow.spark.job.file_names import file_name

SOURCE = "windrow-heartbeat"
NOW_SQL = "unix_micros(current_timestamp())"
"""When the batch began. Spark writes it into the offset log before a batch runs: one that runs again has it again."""

_BEATS = "beats"


def heartbeat_of(plan: StagePlan) -> Heartbeat:
    """The beats that the windows of all stages need whose clock goes on without events; `plan` is the last of them."""
    asked = {(own.timing, own.clock.beat_us) for own in plan.stages[0].read if own.timing.has_heartbeat}
    windows: dict[TimeWindow | CountWindow, None] = {}
    for query in (query for stage in plan.stages for stream in stage.streams for query in stream.queries):
        window = query.window
        windows.update(dict.fromkeys(parts_of(window) if isinstance(window, TimeWindow) else (window,)))
    slides = [(window.beat_us, window.offset_us) for window in windows]
    ends = [(slide, offset) for slide, offset in slides if slide is not None]
    changing = [query for stage in plan.stages for query in stage.changing if query.within is None]
    ends += [(query.slide_us or query.every_us or EXPIRY_US, query.offset_us) for query in changing]
    beats = [beat for timing, own in asked for beat in Heartbeat.of(timing, ends, own).beats]
    return Heartbeat(tuple(dict.fromkeys(beats)))


def heartbeats(spark: SparkSession, heartbeat: Heartbeat) -> DataFrame:
    """A stream of one row for each batch in which time has gone on by a beat or more: when the batch began."""
    spark.dataSource.register(HeartbeatSource)
    beats = json.dumps([astuple(beat) for beat in heartbeat.beats])
    return spark.readStream.format(SOURCE).option(_BEATS, beats).load().select(F.expr(NOW_SQL).alias("now"))


class HeartbeatSource(DataSource):
    """Says when it beats, and nothing else."""

    @classmethod
    def name(cls) -> str:
        return SOURCE

    def schema(self) -> str:
        return "beat BIGINT"

    def streamReader(self, schema: StructType) -> HeartbeatReader:
        beats = tuple(Beat(*beat) for beat in json.loads(self.options[_BEATS]))
        return HeartbeatReader(Heartbeat(beats))


class HeartbeatReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Its offset is the instant of the newest beat: it never goes back, and means the same whatever queries run."""

    def __init__(self, heartbeat: Heartbeat) -> None:
        self._heartbeat = heartbeat
        self._until: int | None = None

    def initialOffset(self) -> dict[str, int]:
        return {"beat": 0}

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        beat = self._newest() if self._until is None else self._until
        return {"beat": max(start["beat"], beat)}

    def prepareForTriggerAvailableNow(self) -> None:
        """A job that works off what is there beats once, for the time that has gone by since it last ran."""
        self._until = self._newest()

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return [InputPartition(end["beat"])] if start != end else []

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        yield (partition.value,)

    def _newest(self) -> int:
        """The newest beat, by a clock in whole milliseconds: a batch must not begin before the beat it runs for."""
        return self._heartbeat.last(time.time_ns() // 1_000_000 * 1_000) or 0


def keep_timing(folder: AnyPlace, plan: StreamPlan, together: bool = False) -> None:
    """Hold a stream to the timing that its checkpoint began with: with the heartbeat, Spark would miss a source.

    `folder` is the stream's in the checkpoint, or that of several `together`.
    """
    folder = place_of(folder)
    place = folder / (f"timing-{file_name(plan.stream)}" if together else "timing")
    began = Timing.EVENT if (folder / "spark" / "metadata").is_file() else plan.timing
    if place.exists():
        began = timing_in(place)
    elif began.has_heartbeat:
        place.write(began.value.encode())
    if began is not plan.timing:
        raise SettingsError(
            f"the checkpoint has stream {plan.stream!r} {_WORDS[began]}, and now it is {_WORDS[plan.timing]}:"
            " declare it as before, or start with a new checkpoint"
        )


def timing_in(place: AnyPlace) -> Timing:
    """How a stream was timed when its checkpoint began, as `place` has it."""
    try:
        return Timing(place_of(place).read().decode())
    except (OSError, ValueError) as error:
        known = ", ".join(repr(timing.value) for timing in Timing)
        raise StateError(
            f"{place} is damaged: it is not what Windrow has written\nhint: it holds one of {known}, as the stream was"
            " when the checkpoint began"
        ) from error


_WORDS = {
    Timing.EVENT: "timed by its events",
    Timing.IDLE: "timed by its events, with an idle clock",
    Timing.ARRIVAL: "timed by arrival",
}
