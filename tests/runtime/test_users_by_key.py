"""Users' aggregates over PARTITION BY windows under a memory limit: what is kept folded is built again from rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from windrow.local.replay import Replay
from windrow.runtime.rows.key_tree import KeyTree

from .core import SECOND, events_of

ROWS = 3_000
LIMIT = 400_000
TEXTS = {
    "count": "SELECT k, TRAIL(x) AS a, COUNT(*) AS n FROM ticks [PARTITION BY k ROWS 50 SLIDE 7]",
    "every": "SELECT k, TRAIL(x) AS a, COUNT(*) AS n FROM ticks [PARTITION BY k ROWS 40]",
    "mixed": "SELECT k, TRAIL(x) AS a, COUNT(*) AS n FROM ticks [PARTITION BY k RANGE 60 SECONDS SLIDE 9 ROWS]",
}


class Trail:
    """Tells its rows in the order in which it was given them."""

    returns = "STRING"

    def init(self):
        return []

    def add(self, state, value):
        return [*state, f"row {value:020}"]

    def merge(self, state, other):
        return state + other

    def finish(self, state):
        return ",".join(str(int(text[4:])) for text in state)


def ticks(seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    keys = np.where(random.random(ROWS) < 0.3, 0, random.integers(1, 60, ROWS))
    return events_of(np.arange(ROWS) * SECOND // 20, k=pa.array(keys), x=np.arange(ROWS))


def replay(text: str, events: pa.Table, memory: int) -> Replay:
    found = Replay(text, ticks=events, aggregates={"trail": Trail})
    plan = replace(found.plan, memory_bytes=memory)
    found.plan = plan
    found.shard = type(found.shard)(plan, found.blocks)
    return found


def wanted(events: pa.Table, rows: int, slide: int) -> list[tuple[int, str]]:
    """The same in plain Python: whenever a key has had so many rows more, its last ones."""
    of_key: dict[int, list[int]] = {}
    found = []
    for key, value in zip(events["k"].to_pylist(), events["x"].to_pylist()):
        mine = of_key.setdefault(key, [])
        mine.append(value)
        if len(mine) % slide == 0:
            found.append((key, ",".join(map(str, mine[-rows:]))))
    return found


@pytest.mark.parametrize(("seed", "step"), [(1, 1000), (2, 370)])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_is_kept_is_given_up_and_answers_stay(text: str, seed: int, step: int, monkeypatch: pytest.MonkeyPatch):
    events, told, gave = ticks(seed), [], []
    give = KeyTree.give
    monkeypatch.setattr(KeyTree, "give", lambda tree: (gave.append(tree.nbytes), give(tree)))
    for memory in (LIMIT, 10**9):
        asked, rows = replay(text, events, memory), []
        for start in range(0, ROWS, step):
            rows += [row for table in asked.step(events.slice(start, step)) for row in table.to_pylist()]
            assert asked.shard.bytes_in_memory <= memory
        told.append(sorted(map(str, rows)))  # keys are answered part by part
    assert told[0] == told[1] and len(told[0]) > 100
    assert gave and max(gave) > 0
    if text == TEXTS["count"]:
        assert sorted((row["k"], row["a"]) for row in rows) == sorted(wanted(events, 50, 7))
