"""One batch of a shard on Spark: the shard as its state has it, the payloads, and what it answers as frames."""

from __future__ import annotations

import json
import time
from base64 import b64decode, b64encode
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.streaming.stateful_processor import MapState, ValueState

from windrow.errors import StateError
from windrow.plan.catalog import REJECTED_ROWS
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.runtime.changes.send_on import passed_on, regrouped
from windrow.runtime.contracts import AnyShard
from windrow.runtime.feed import fed
from windrow.runtime.outcome import Outcome
from windrow.runtime.payload import EARLIER, TALLIES, Payload
from windrow.runtime.shard import Shard
from windrow.runtime.share import Share
from windrow.runtime.slice.joined_chunks import TableChunks
from windrow.spark.stages.editions import Editions
from windrow.spark.stages.shards import shard_keys, shard_number
from windrow.spark.stages.ship_tables import carried_joins
from windrow.spark.stages.slice import NO_PROBE, packed
from windrow.spark.stages.slide import BATCH, COUNTED, COUNTS, KEPT, SHARED, TOLD_ROWS, Finishes
from windrow.spark.stages.state import StateBlocks
from windrow.storage.columns import encode_batch

_HELD: OrderedDict[tuple[str, str | None, int], tuple[Shard, StateBlocks, str]] = OrderedDict()
"""The shards that this worker has in memory. Each is used only if its version is the one in the state store, and its
plan the one that runs."""

_HELD_MOST = 64
FRAME_BYTES = 1 << 24
Counts = dict[str, int | str]
_SPLIT = " split from "


@dataclass(frozen=True, slots=True)
class StoredShard:
    """Where a shard is kept between batches: in Spark's state, and in the memory of the worker that ran the last."""

    plan: StagePlan
    shards: int
    run: str
    digest: str
    key: int
    version: ValueState
    blocks: MapState
    tables: Editions = ()

    def joins(self, stream: StreamPlan) -> TableChunks:
        """The tables that a stream which is made of answers is joined with in this batch."""
        return carried_joins(self.tables, stream)

    def opened(self) -> tuple[Shard, StateBlocks]:
        """The shard as the state store has it: from memory if this worker ran the last batch, else read."""
        held = _HELD.pop((self.run, _query(), self.key), None)
        while len(_HELD) >= _HELD_MOST:
            _HELD.popitem(last=False)
        stored = self.version.get() if self.version.exists() else None
        version = stored[0] if stored else 0
        blocks = held[1] if held else StateBlocks()
        blocks.state, blocks.bytes_read, blocks.bytes_written, blocks.was_read = self.blocks, 0, 0, False
        if held and held[0].version == version and held[2] == self.digest:
            return held[0], blocks
        snapshot = blocks.read("snapshot", 0) if version else None
        blocks.was_read = bool(version)
        keeps_share = self._check_shards(blocks, version)
        shard = Shard(self.plan, blocks, snapshot, held[0] if held else None)
        if keeps_share:
            shard.keep(Share(shard_number(self.key, self.shards), self.shards))
        return shard, blocks

    def save(self, shard: Shard, blocks: StateBlocks) -> None:
        """Write what has changed, and keep the shard in memory."""
        blocks.write("snapshot", 0, shard.save())
        self.version.update((shard.version,))
        _HELD[self.run, _query(), self.key] = (shard, blocks, self.digest)
        shrink_left([held for (run, query, _), (held, *_) in _HELD.items() if (run, query) == (self.run, _query())])

    def _check_shards(self, blocks: StateBlocks, version: int) -> bool:
        """Groups are spread by the number of shards, so a checkpoint keeps the one it began with.

        Whether the state is still that of one of fewer shards, of which this one is to keep its share.
        """
        told = blocks.read("shards", 0) if version else b""
        kept = int(told.decode().partition(_SPLIT)[0]) if told else self.shards
        if kept != self.shards:
            raise StateError(
                f"the checkpoint has its state in {kept} shards, and this session cuts it into {self.shards}:"
                f" start it with Session(spark, shards={kept}), or have windrow reshard make another one"
            )
        if is_split(told) or not version:
            blocks.write("shards", 0, str(kept).encode())
        return is_split(told)


def shards_text(shards: int, before: int) -> str:
    """What a shard is noted with that is one of several which one of fewer was split into.

    >>> shards_text(64, 4)
    '64 split from 4'
    """
    return f"{shards}{_SPLIT}{before}"


def is_split(told: bytes) -> bool:
    """Whether a shard is noted as one that has yet to let go of what is not its own."""
    return _SPLIT in told.decode()


def shrink_left(held: Sequence[AnyShard]) -> None:
    """Shards that other workers have run since keep no blocks here, where all together are beyond the limit.

    `held` are the shards of one job, the last of which has just been saved; others may still be due in its batch.
    """
    newest = held[-1].version
    left = [shard for shard in held if shard.version < newest - 1]
    room = (len(held) - len(left)) * held[-1].memory_limit
    if left and sum(shard.bytes_in_memory for shard in held) > room:
        for shard in left:
            shard.forget_blocks()


def slide_batch(
    stored: StoredShard, frames: list[pd.DataFrame], finishing: Finishes | None = None
) -> Iterator[pd.DataFrame]:
    """Work off the payloads in `frames`, save the shard, and give its counts, and answers that are not finished."""
    began = time.perf_counter_ns()
    arrived = [payload for frame in frames for payload in _payloads(frame)]
    payloads = sorted(arrived, key=lambda payload: (payload.task, payload.part, payload.name))
    shard, blocks = stored.opened()
    opened = time.perf_counter_ns()
    outcome = shard.process(
        [payload for payload in payloads if payload.name != EARLIER], stored.joins, time.perf_counter_ns
    )
    slid = time.perf_counter_ns()
    stored.save(shard, blocks)
    saved = time.perf_counter_ns()
    counts = {name: int(getattr(outcome, name)) for name in COUNTED} | {
        "groups": shard.groups,
        "clock": NO_PROBE if shard.clock is None else shard.clock,
    }
    measures: dict[str, int | str] = {
        "number": shard_number(stored.key, stored.shards),
        "slide_us": (slid - opened) // 1000,
        "state_us": (opened - began + saved - slid) // 1000,
        "received": sum(len(payload.body) for payload in payloads),
        "arrived": outcome.weight.events,
        "heaviest": json.dumps(outcome.weight.heaviest),
        "groupings": json.dumps(shard.groupings(outcome.weight.by_space)),
        "took": json.dumps(_took_us(outcome)) if stored.plan.is_followed else "",
        "memory": shard.bytes_in_memory,
        "held": shard.groups,
        "moved": int(blocks.was_read),
        "ran": 1,
        "state_read": blocks.bytes_read,
        "state_written": blocks.bytes_written,
    }
    for earlier in (json.loads(payload.body) for payload in payloads if payload.name == EARLIER):
        counts = {name: add(counts[name], earlier[name]) for name in COUNTS} | {"clock": earlier["clock"]}
        outcome.shared.append(np.frombuffer(b64decode(earlier[SHARED]), np.int64))
    if stored.plan.is_followed:
        yield packed(_sent(stored, payloads, outcome, counts), measures).to_pandas()
    else:
        yield from _packed(outcome, stored.plan.tells, {**counts, **measures}, finishing)


def _took_us(outcome: Outcome) -> Counter[str]:
    """What each query took."""
    return Counter({query: nanoseconds // 1000 for query, nanoseconds in outcome.spent.items()})


def _sent(stored: StoredShard, payloads: list[Payload], outcome: Outcome, counts: dict[str, int]) -> list[Payload]:
    """The payloads for the next stage."""
    told = counts | {SHARED: b64encode(outcome.shared_names.tobytes()).decode()}
    counted = Payload(stored.key, stored.key, 0, None, EARLIER, json.dumps(told).encode())
    known = passed_on(payloads, outcome, stored.key, stored.plan.tells)
    keys = shard_keys(stored.shards)
    away = [feed for feed in stored.plan.feeds if not feed.here]
    events = [payload for feed in away for payload in fed(feed, outcome, stored.key, keys, stored.joins)]
    return [counted, *known, *events, *regrouped(outcome.parts, stored.plan.sends, stored.key, keys)]


def _query() -> str | None:
    """The Spark query that this task works for: one DataFrame may be started more than once."""
    return _property("sql.streaming.queryId")


def _property(name: str) -> str | None:
    """What the thread has set that started the Spark job of this task."""
    context = TaskContext.get()
    return None if context is None else context.getLocalProperty(name)


def _payloads(frame: pd.DataFrame) -> list[Payload]:
    names = ("shard", "task", "part", "probe", "name", "body", *TALLIES, "stream")
    rows = zip(*(frame[name].tolist() for name in names))
    return [
        Payload(shard, task, part, None if probe == NO_PROBE else probe, name, bytes(body), *rest)
        for shard, task, part, probe, name, body, *rest in rows
    ]


def _packed(
    outcome: Outcome, tells: Collection[str], counts: Counts, finishing: Finishes | None = None
) -> Iterator[pd.DataFrame]:
    """The counts, then results; a frame takes a while to cross over, so rows wait until there is enough for one.

    With the counts goes what each query took. Where rows are finished here, both are told with what has become of them.
    """
    spent = _took_us(outcome)
    size, shared = 0, outcome.shared_names
    rejected = [(REJECTED_ROWS, batch) for batch in outcome.rejected if batch.num_rows]
    answers = [(query, batch) for query, batch in outcome.results if query in tells]
    results = [*answers, *rejected]
    waiting: list[tuple[str | None, bytes | None]] = [(None, json.dumps(spent).encode())]
    if finishing is not None:
        waiting = [(None, None)]
        batch = _property(BATCH)
        if batch is not None:
            done = finishing.takes - set(json.loads(_property(KEPT) or "[]"))
            packed: dict[str, list[pa.RecordBatch]] = {}
            for query, rows in results:
                packed.setdefault(query, []).append(rows)
            told = finishing.packed_told(packed, int(batch), spent, counts | {SHARED: shared.tolist()})
            waiting.append((TOLD_ROWS, told))
            results = [(query, rows) for query, rows in results if query not in done]
    for query, rows in results:
        encoded = encode_batch(rows)
        waiting.append((query, encoded))
        size += len(encoded)
        if size >= FRAME_BYTES:
            yield _frame(waiting, counts, shared, finishing is None)
            waiting, size = [], 0
    if waiting:
        yield _frame(waiting, counts, shared, finishing is None)


def _frame(
    rows: list[tuple[str | None, bytes | None]], counts: Counts, shared: np.ndarray, counted: bool
) -> pd.DataFrame:
    """Packed rows; where `counted`, the one of no query carries the counts, and tells which windows were answered."""
    columns: dict[str, list[Any]] = {"query": [query for query, _ in rows], "rows": [packed for _, packed in rows]}
    if not counted:
        return pd.DataFrame(columns)
    columns[SHARED] = [shared if query is None else None for query, _ in rows]
    return pd.DataFrame(
        columns
        | {name: [value if query is None else type(value)() for query, _ in rows] for name, value in counts.items()}
    )
