"""The stateful step: payloads in, answered windows out, on Spark's state store."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from windrow.errors import StateError
from windrow.plan.pipeline import StreamPlan
from windrow.runtime.payload import Payload
from windrow.runtime.shard import Outcome, Shard
from windrow.spark.slice import NO_PROBE
from windrow.spark.state import StateBlocks
from windrow.storage.columns import encode

REJECTED_ROWS = "#rejected"
COUNTED = ("late", "untimed", "unreadable", "failed", "unplaced", "windows")
MEASURED = ("groups", "clock", "scan_us", "slice_us", "slide_us", "state_us", "state_read", "state_written")
COUNTS = COUNTED + MEASURED
PACKED_DDL = "query STRING, rows BINARY, " + ", ".join(f"{name} BIGINT" for name in COUNTS)

_HELD: OrderedDict[tuple[str, str | None, int], tuple[Shard, StateBlocks, str]] = OrderedDict()
"""The shards that this worker has in memory. Each is used only if its version is the one in the state store, and its
plan the one that runs."""

_HELD_MOST = 64
FRAME_BYTES = 1 << 24


def slide_payloads(payloads: DataFrame, plan: StreamPlan, shards: int, run: str) -> DataFrame:
    """The packed results of `payloads`: rows of (query, Arrow bytes), and for each shard a row of counts."""
    return payloads.groupBy("shard").transformWithStateInPandas(
        SlideProcessor(plan, shards, run), outputStructType=PACKED_DDL, outputMode="Append", timeMode="None"
    )


class SlideProcessor(StatefulProcessor):
    """Runs a shard on Spark's state: a version, and a map of blocks. The names and types are fixed by checkpoints."""

    def __init__(self, plan: StreamPlan, shards: int, run: str) -> None:
        self._plan, self._shards, self._run = plan, shards, run
        self._digest = hashlib.sha256(repr(plan).encode()).hexdigest()

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._version = handle.getValueState("version", "version BIGINT")
        self._blocks = handle.getMapState("blocks", "block STRING", "bytes BINARY")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        frames = list(rows)
        began = time.perf_counter_ns()
        payloads = [payload for frame in frames for payload in _payloads(frame)]
        shard, blocks = self._opened(key[0])
        opened = time.perf_counter_ns()
        outcome = shard.process(payloads)
        slid = time.perf_counter_ns()
        blocks.write("snapshot", 0, shard.save())
        self._version.update((shard.version,))
        _HELD[self._run, _query(), key[0]] = (shard, blocks, self._digest)
        saved = time.perf_counter_ns()
        counts = {name: getattr(outcome, name) for name in COUNTED} | {
            "groups": shard.groups,
            "clock": NO_PROBE if shard.clock is None else shard.clock,
            "scan_us": sum(int(frame["scan_us"].sum()) for frame in frames),
            "slice_us": sum(int(frame["slice_us"].sum()) for frame in frames),
            "slide_us": (slid - opened) // 1000,
            "state_us": (opened - began + saved - slid) // 1000,
            "state_read": blocks.bytes_read,
            "state_written": blocks.bytes_written,
        }
        yield from _packed(outcome, counts)

    def close(self) -> None:
        pass

    def _opened(self, key: int) -> tuple[Shard, StateBlocks]:
        """The shard as the state store has it: from memory if this worker ran the last batch, else read."""
        held = _HELD.pop((self._run, _query(), key), None)
        while len(_HELD) >= _HELD_MOST:
            _HELD.popitem(last=False)
        stored = self._version.get() if self._version.exists() else None
        version = stored[0] if stored else 0
        blocks = held[1] if held else StateBlocks()
        blocks.state, blocks.bytes_read, blocks.bytes_written = self._blocks, 0, 0
        if held and held[0].version == version and held[2] == self._digest:
            return held[0], blocks
        snapshot = blocks.read("snapshot", 0) if version else None
        self._check_shards(blocks, version)
        return Shard(self._plan, blocks, snapshot, held[0] if held else None), blocks

    def _check_shards(self, blocks: StateBlocks, version: int) -> None:
        """Groups are spread by the number of shards, so a checkpoint keeps the one it began with."""
        if not version:
            blocks.write("shards", 0, str(self._shards).encode())
        elif (kept := int(blocks.read("shards", 0))) != self._shards:
            raise StateError(
                f"the checkpoint has its state in {kept} shards, and this session cuts it into {self._shards}:"
                f" start it with Session(spark, shards={kept})"
            )


def _query() -> str | None:
    """The Spark query that this task works for: one DataFrame may be started more than once."""
    context = TaskContext.get()
    return None if context is None else context.getLocalProperty("sql.streaming.queryId")


def _payloads(frame: pd.DataFrame) -> list[Payload]:
    names = ("shard", "task", "part", "probe", "name", "body", "untimed", "unreadable", "failed", "unplaced")
    rows = zip(*(frame[name].tolist() for name in names))
    return [
        Payload(shard, task, part, None if probe == NO_PROBE else probe, name, bytes(body), *counts)
        for shard, task, part, probe, name, body, *counts in rows
    ]


def _packed(outcome: Outcome, counts: dict[str, int]) -> Iterator[pd.DataFrame]:
    """The counts, then results; a frame takes a while to cross over, so rows wait until there is enough for one."""
    waiting: list[tuple[str | None, bytes | None]] = [(None, None)]
    size = 0
    rejected = [(REJECTED_ROWS, batch) for batch in outcome.rejected if batch.num_rows]
    for query, batch in [*outcome.results, *rejected]:
        rows = encode(dict(zip(batch.schema.names, batch.columns)))
        waiting.append((query, rows))
        size += len(rows)
        if size >= FRAME_BYTES:
            yield _frame(waiting, counts)
            waiting, size = [], 0
    if waiting:
        yield _frame(waiting, counts)


def _frame(rows: list[tuple[str | None, bytes | None]], counts: dict[str, int]) -> pd.DataFrame:
    """Packed rows; the one of no query carries the counts."""
    columns: dict[str, list] = {"query": [query for query, _ in rows], "rows": [packed for _, packed in rows]}
    return pd.DataFrame(columns | {name: [0 if query else counts[name] for query, _ in rows] for name in COUNTS})
