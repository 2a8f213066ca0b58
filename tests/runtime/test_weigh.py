"""What a shard tells of the events that it was sent, and whose they are."""

from __future__ import annotations

import pyarrow as pa
import pytest

from windrow.runtime import weigh

from .core import SECOND, Core, events_of, plan_of

SCHEMA = pa.schema([("ts", pa.timestamp("us", tz="UTC")), ("k", pa.string()), ("x", pa.int64())])
WINDOWS = (
    "[RANGE 10 SECONDS SLIDE 1 SECOND]",
    "[ROWS 5 SLIDE 1]",
    "[PARTITION BY k ROWS 5 SLIDE 1]",
    "[PARTITION BY k SESSION 1 SECOND]",
)


@pytest.mark.parametrize("window", WINDOWS)
def test_a_shard_tells_its_events_and_its_heaviest_groups(window):
    keys = ["hot"] * 50 + ["b"] * 7 + ["a"] * 7 + ["c"] * 5 + [None]
    events = events_of([SECOND * (i % 4) for i in range(len(keys))], k=keys, x=pa.array(range(len(keys)), pa.int64()))
    texts = [f"SELECT k, SUM(x) AS s FROM ticks {window} GROUP BY k", f"SELECT SUM(x) AS s FROM ticks {WINDOWS[0]}"]
    for shards in (1, 3):
        weights = [outcome.weight for outcome in Core(plan_of(texts, SCHEMA), shards=shards).step(events, tasks=3)]
        assert max(weight.events for weight in weights) == len(keys)  # that of all events has no keys, and is in one
        told = dict(group for weight in weights for group in weight.heaviest)
        assert {name: told[name] for name in ("k = hot", "k = a", "k = b")} == {"k = hot": 50, "k = a": 7, "k = b": 7}
    assert Core(plan_of(texts, SCHEMA)).step(events, tasks=3)[0].weight.heaviest == [
        ("k = hot", 50),
        ("k = a", 7),
        ("k = b", 7),
    ]


def test_of_many_entries_those_with_most_events_are_looked_at(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(weigh, "LOOKED_AT", 3)
    keys = [f"k{i}" for i in range(20)] + ["hot"] * 9 + ["warm"] * 4
    events = events_of([0] * len(keys), k=keys, x=pa.array(range(len(keys)), pa.int64()))
    core = Core(plan_of([f"SELECT k, SUM(x) AS s FROM ticks {WINDOWS[0]} GROUP BY k"], SCHEMA))
    (outcome,) = core.step(events)
    assert outcome.weight.events == len(keys)
    assert outcome.weight.heaviest[:2] == [("k = hot", 9), ("k = warm", 4)]


def test_a_batch_without_events_weighs_nothing():
    core = Core(plan_of([f"SELECT k, SUM(x) AS s FROM ticks {WINDOWS[0]} GROUP BY k"], SCHEMA))
    (outcome,) = core.flush()
    assert (outcome.weight.events, outcome.weight.heaviest) == (0, [])
