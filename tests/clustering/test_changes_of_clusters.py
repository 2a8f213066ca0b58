"""EMIT CHANGES of clusters where each level, each key or each early answer is compared with its own before."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pytest

import windrow
from windrow.local.replay import Replay
from windrow.runtime.shard import Shard

WINDOWS = (
    "RANGES 24 SECONDS, 8 SECONDS SLIDES 8 SECONDS, 4 SECONDS",
    "RANGES 24 SECONDS, 8 SECONDS SLIDES 8 SECONDS, 4 SECONDS EMIT EVERY 3 SECONDS",
    "RANGE 20 SECONDS SLIDE 10 SECONDS EMIT EVERY 3 SECONDS",
    "RANGE 7 SECONDS SLIDE 10 SECONDS EMIT EVERY 2 SECONDS",
    "RANGE UNBOUNDED SLIDE 10 SECONDS EMIT EVERY 4 SECONDS",
    "RANGE 1 DAY SLIDE 1 DAY IN 'UTC' EMIT EVERY 4 SECONDS",
    "ROWS 12, 6 SLIDES 6, 3",
    "SESSION 3 SECONDS EMIT EVERY 2 SECONDS",
    "FROM go UNTIL NOT go EMIT EVERY 2 SECONDS",
)
ASKED = {
    "numbered": "SELECT k, cid, COUNT(cid) AS n FROM e [{}] GROUP BY k CLUSTER BY x AS cid USING DBSCAN(5, 1)",
    "few": "SELECT cid, COUNT(cid) AS n FROM e [{}] CLUSTER BY x AS cid USING DBSCAN(5, 1) HAVING n > 1",
    "unnumbered": "SELECT k, COUNT(cid) AS n, MAX(x) AS most FROM e [{}] GROUP BY k CLUSTER BY x USING DBSCAN(5, 1)",
}


def drawn(chance: random.Random) -> pa.Table:
    times = sorted(chance.randint(0, 50) for _ in range(chance.randint(3, 40)))
    spots = [chance.choice([0.0, 100.0, 200.0, None]) for _ in times]
    columns = {"k": [chance.choice(["a", "b"]) for _ in times], "go": [chance.random() < 0.5 for _ in times]}
    columns["x"] = [None if spot is None else spot + chance.randint(0, 2) for spot in spots]
    return pa.table({"ts": pa.array(times, pa.timestamp("s", tz="UTC")), **columns})


def values(row: dict) -> tuple:
    leading = ("op", "time", "window_start", "window_end", "window_row", "window_number", "final", "as_of")
    return tuple(value for name, value in row.items() if name not in leading)


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("window", WINDOWS)
def test_changes_add_up_to_the_newest_answer(window: str, asked: str):
    chance = random.Random(f"{asked} {window}")
    for _ in range(5):
        events, text = drawn(chance), ASKED[asked].format(window)
        answers = windrow.replay(text, e=events, flush=True).to_pylist()
        changes = windrow.replay(f"{text} EMIT CHANGES", e=events, flush=True).to_pylist()
        one_by_one = windrow.replay(f"{text} EMIT CHANGES", e=events, batch_rows=1, flush=True).to_pylist()
        assert sorted(map(str, changes)) == sorted(map(str, one_by_one))
        newest: dict = {}
        for row in answers:  # several may end at one instant, and one of them is told early there
            at = newest.setdefault((row.get("level"), row.get("as_of", row["window_end"])), {})
            number = (row.get("window_row", 0), row.get("window_number", 0), row.get("final", True))
            at.setdefault(number, Counter())[values(row)] += 1
        for (level, instant), found in newest.items():
            held: Counter[tuple] = Counter()
            for row in changes:
                if row.get("level") == level and row["time"] <= instant:
                    held[values(row)] += 1 if row["op"] == "+" else -1
            assert +held == found[max(found)] and not -held, f"{text}: level {level} at {instant}"


@pytest.mark.parametrize("window", WINDOWS)
def test_a_restart_tells_nothing_twice(window: str):
    chance = random.Random(window)
    events, text = drawn(chance), f"{ASKED['numbered'].format(window)} EMIT CHANGES"
    replay = Replay(text, e=events)
    rows = []
    for batch in replay.batches(3):
        rows += [row for table in replay.step(batch) for row in table.to_pylist()]
        replay.shard = Shard(replay.plan, replay.blocks, replay.shard.save())
    whole = windrow.replay(text, e=events).to_pylist()
    assert sorted(map(str, rows)) == sorted(map(str, whole))
