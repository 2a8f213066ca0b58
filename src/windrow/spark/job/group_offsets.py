"""How far topics are read, told to consumer groups now and then: the tools that people have show the lag by these.

A job goes on by its checkpoint, and never by what a group says.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from threading import Event, Lock, Thread

from pyspark.sql import SparkSession

from windrow.errors import SettingsError
from windrow.spark.connect import is_connect
from windrow.spark.sources.kafka_broker import Offsets, commit_offsets
from windrow.spark.sources.source import Topics

LOGGER = logging.getLogger("windrow")
EVERY_SECONDS = 2.0

Read = Callable[[], Sequence[tuple[Topics, Offsets]]]


class GroupOffsets:
    """Commits the offsets of finished batches in a thread of its own, where a stream asks for it by `group`."""

    def __init__(self, spark: SparkSession, read: Read) -> None:
        self._spark, self._read, self._ended, self._lock = spark, read, Event(), Lock()
        self._told: dict[str, Offsets] = {}
        self._warned = False
        if not is_connect(spark):
            Thread(target=self._keep, name="windrow groups", daemon=True).start()

    def end(self) -> None:
        """Tell the groups once more, and then no more."""
        if not self._ended.is_set():
            self._ended.set()
            self.tell()

    def tell(self) -> None:
        """Commit what has been read since the last time; a broker that does not take it stops nobody."""
        with self._lock:
            try:
                for topics, offsets in self._read():
                    if topics.group is not None and self._told.get(topics.group) != offsets:
                        commit_offsets(self._spark, topics, offsets)
                        self._told[topics.group] = offsets
            except SettingsError as error:
                if not self._warned:
                    LOGGER.warning("offsets are not committed to a consumer group: %s", error)
                self._warned = True
            except Exception:  # Spark is gone, and the job with it: whoever waits for the job is told
                self._ended.set()

    def _keep(self) -> None:
        while not self._ended.wait(EVERY_SECONDS):
            self.tell()
