"""A disk that fails at any write while a task runs on Spark's path: the task is tried again, and nothing is lost.

What Spark does is done by hand: writes of a task that has failed are dropped, and another one begins from the last
commit, in the worker that ran it or in a new one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from runtime.test_operators_in_blocks import QUERIES, events, patch
from runtime.test_rows_in_blocks import BEGIN, replayed
from storage.stores import Breakdown
from windrow.local.replay_stages import StageReplay
from windrow.spark.stages import slide_shard
from windrow.spark.stages.slide_shard import StoredShard

JOINS = ("join", "left join")
CLUSTERS = "SELECT cid, COUNT(cid) AS n, CENTER(cid)[1] AS x FROM a [RANGE 100 SECONDS] CLUSTER BY x, y AS cid USING {}"


@dataclass
class Disk:
    """Values as Spark's state store has them for one key: they last once they are committed."""

    values: dict[Any, tuple[Any, ...]] = field(default_factory=dict)
    committed: dict[Any, tuple[Any, ...]] = field(default_factory=dict)
    left: int | None = None

    def change(self, key: Any, value: tuple[Any, ...] | None) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise Breakdown
        if value is None:
            self.values.pop(key, None)
        else:
            self.values[key] = value

    def commit(self) -> None:
        self.committed = dict(self.values)

    def abort(self) -> None:
        self.values = dict(self.committed)


@dataclass
class MapOnDisk:
    """As far as blocks need a `MapState`."""

    disk: Disk

    def getValue(self, key: tuple[str]) -> tuple[Any, ...] | None:
        return self.disk.values.get(key)

    def updateValue(self, key: tuple[str], value: tuple[Any, ...]) -> None:
        self.disk.change(key, value)

    def removeKey(self, key: tuple[str]) -> None:
        self.disk.change(key, None)

    def keys(self) -> list[tuple[str]]:
        return [key for key in self.disk.values if key is not None]


@dataclass
class VersionOnDisk:
    """As far as shards need a `ValueState`: it is in the same store."""

    disk: Disk

    def exists(self) -> bool:
        return None in self.disk.values

    def get(self) -> tuple[Any, ...]:
        return self.disk.values[None]

    def update(self, value: tuple[Any, ...]) -> None:
        self.disk.change(None, value)


def failures(whole: StageReplay, driver: StageReplay, step: int, other_worker: bool) -> int:
    """Have each third batch fail at each of its writes; tells how often, when all answers were as without."""
    disk, found = Disk(), 0
    slide_shard._HELD.clear()
    for number, batch in enumerate(driver.batches(step)):
        wanted = str(whole._outcome(whole._sliced(batch, None)).results)
        payloads, change = driver._sliced(batch, None), 0
        while True:
            disk.left = change if number % 3 == 2 else None
            stored = StoredShard(driver.plan, 1, "run", "plan", 0, VersionOnDisk(disk), MapOnDisk(disk))
            try:
                shard, blocks = stored.opened()
                outcome = shard.process(payloads)
                stored.save(shard, blocks)
            except Breakdown:
                found, change = found + 1, change + 1
                disk.abort()
                if other_worker:
                    slide_shard._HELD.clear()
                continue
            disk.commit()
            assert shard.bytes_in_memory <= driver.plan.memory_bytes
            break
        assert str(outcome.results) == wanted
    assert any(".pages" in key[0] or ".rows-" in key[0] for key in disk.values if key is not None)
    slide_shard._HELD.clear()
    return found


@pytest.mark.parametrize("other_worker", [False, True])
@pytest.mark.parametrize("name", JOINS)
def test_a_join_in_blocks_loses_nothing(name: str, other_worker: bool, monkeypatch: pytest.MonkeyPatch):
    patch(monkeypatch)
    text, given = QUERIES[name][0], events(240, 3)
    limit = 90_000 if name == "left join" else 45_000
    whole, driver = replayed({"q": text}, given), replayed({"q": text}, given, limit)
    assert failures(whole, driver, 60, other_worker) > 4


@pytest.mark.parametrize("other_worker", [False, True])
@pytest.mark.parametrize("method", ["C_BIRCH(3)", "EXTRA_N(3, 2)"])
def test_clusters_without_a_slide_lose_nothing(method: str, other_worker: bool, monkeypatch: pytest.MonkeyPatch):
    patch(monkeypatch)
    random, rows = np.random.default_rng(4), 160
    times = np.sort(random.choice(200_000, rows, replace=False)) * 1000 + BEGIN
    places = {name: np.round(random.uniform(0, 20, rows), 1) for name in "xy"}
    given = {"a": pa.table({"ts": pa.array(times).cast(pa.timestamp("us", "UTC")), **places})}
    text = CLUSTERS.format(method)
    free, held, most = replayed({"q": text}, given), 0, 0
    for batch in free.batches(30):
        free._outcome(free._sliced(batch, None))
        held, most = max(held, free.shard._blocks.held), max(most, free.shard.bytes_in_memory)
    limit = (held + most) // 2  # its rows have no room beside its points
    assert limit < most
    whole, driver = replayed({"q": text}, given), replayed({"q": text}, given, limit)
    assert failures(whole, driver, 30, other_worker) > 4
