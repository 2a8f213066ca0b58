"""A key that has most of the events does not hold up a batch: map tasks fold it, and its shard gets one entry a task."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from windrow.runtime.payload import Payload
from windrow.storage.columns import decode

from .core import SECOND, Core, events_of, plan_of

SCHEMA = pa.schema([("ts", pa.timestamp("us", tz="UTC")), ("k", pa.string()), ("x", pa.float64()), ("i", pa.int64())])
MERGEABLE = "COUNT(*) AS n, SUM(i) AS s, AVG(x) AS a, MIN(x) AS low, MAX(x) AS high, STDDEV(x) AS d"
TASKS, SHARDS = 4, 3


def sent(aggregates: str, events: int) -> list[int]:
    """Bytes that each shard is sent for a batch of `payloads_of`."""
    payloads = payloads_of(aggregates, events)
    return [sum(len(payload.body) for payload in payloads if payload.shard == shard) for shard in range(SHARDS)]


def payloads_of(aggregates: str, events: int) -> list[Payload]:
    """What is sent for a batch of one second in which one key has all events but one each of nine."""
    draw = np.random.default_rng(5)
    keys = np.array(["hot"] * events + [f"k{number}" for number in range(9)])
    rows = events_of(
        np.sort(draw.integers(0, SECOND, len(keys))),
        k=draw.permutation(keys),
        x=draw.normal(size=len(keys)),
        i=draw.integers(0, 9, len(keys)),
    )
    text = f"SELECT k, {aggregates} FROM ticks [RANGE 10 SECONDS SLIDE 1 SECOND] GROUP BY k"
    return Core(plan_of([text], SCHEMA), shards=SHARDS).payloads(rows, TASKS)


def test_the_shard_of_a_hot_key_gets_one_entry_of_it_a_task():
    """So that its shard has no more to do for it than for a key with a few events."""
    batches = [(payload.task, payload.shard, decode(payload.body)) for payload in payloads_of(MERGEABLE, 40_000)]
    keyed = [(task, shard, batch) for task, shard, batch in batches if "key_0" in batch.schema.names]
    hot = [(task, shard) for task, shard, batch in keyed for key in batch.column("key_0").to_pylist() if key == "hot"]
    assert sorted(task for task, _ in hot) == [*range(TASKS)] and len({shard for _, shard in hot}) == 1


def test_what_a_shard_is_sent_of_a_hot_key_does_not_grow_with_its_events():
    few, many = sent(MERGEABLE, 1_000), sent(MERGEABLE, 40_000)
    assert sum(many) < 1.3 * sum(few)  # forty times the events; a key more or less in a task is all that differs


@pytest.mark.parametrize("aggregate", ["MEDIAN(x) AS m", "COUNT(DISTINCT x) AS m"])
def test_what_cannot_be_folded_is_sent_value_by_value(aggregate):
    """So that the test above could fail."""
    assert sum(sent(aggregate, 40_000)) > 10 * sum(sent(aggregate, 1_000))
