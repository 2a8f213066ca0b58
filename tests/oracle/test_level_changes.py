"""EMIT CHANGES and EMIT WHEN where levels are compared, weighed or looked through: changes add up to the answers."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pytest

import windrow
from windrow.local.replay import Replay
from windrow.runtime.shard import Shard

IN_TIME = "[RANGES 20 SECONDS, 10 SECONDS, 4 SECONDS SLIDES 4 SECONDS, 2 SECONDS, 2 SECONDS"
IN_ROWS = "[ROWS 12, 6, 3 SLIDES 6, 3, 3"
ASKED = {
    "compared": "SELECT g, SUM(n) FILTER (WHERE level = 0) AS fine, SUM(n) AS total FROM e {}] GROUP BY g",
    "a share": "SELECT SUM(n) FILTER (WHERE level <= 1) / SUM(n) AS share FROM e {}] HAVING level = 1",
    "weighed": "SELECT g, COUNT(*) AS c, AVG(n) AS mean FROM e {} AGING (1, 0.5, 0.25)] GROUP BY g",
    "recurring": "SELECT g, COUNT(*) AS c FROM e {}] GROUP BY g HAVING RECURRING(g)",
}


def drawn(chance: random.Random) -> pa.Table:
    times = sorted(chance.randint(0, 60) for _ in range(chance.randint(3, 40)))
    columns = {"g": [chance.choice(["x", "y", None]) for _ in times], "n": [chance.randint(1, 5) for _ in times]}
    return pa.table({"ts": pa.array(times, pa.timestamp("s", tz="UTC")), **columns})


@pytest.mark.parametrize("window", [IN_TIME, IN_ROWS])
@pytest.mark.parametrize("asked", ASKED)
def test_changes_add_up_to_the_newest_answer_of_each_level(asked, window):
    chance = random.Random(f"{asked} {window}")
    for _ in range(4):
        events, text = drawn(chance), ASKED[asked].format(window)
        answers = windrow.replay(text, e=events, flush=True).to_pylist()
        changes = windrow.replay(f"{text} EMIT CHANGES", e=events, flush=True).to_pylist()
        one_by_one = windrow.replay(f"{text} EMIT CHANGES", e=events, batch_rows=1, flush=True).to_pylist()
        assert sorted(map(str, changes)) == sorted(map(str, one_by_one))
        newest = {}
        for row in answers:  # of levels in rows several may end at one instant
            number = row.get("window_row", 0)
            at = newest.setdefault((row["level"], row["window_end"]), {})
            at.setdefault(number, Counter())[_values(row)] += 1
        for (level, end), found in newest.items():
            held: Counter[tuple] = Counter()
            for row in changes:
                if row["level"] == level and row["time"] <= end:
                    held[_values(row)] += 1 if row["op"] == "+" else -1
            assert +held == found[max(found)], f"{text}: level {level} at {end}"


def _values(row: dict) -> tuple:
    leading = ("op", "time", "window_start", "window_end", "window_row")
    return tuple(value for name, value in row.items() if name not in leading)


def test_an_alert_by_a_share_of_levels_is_told_when_it_begins_to_hold_also_after_a_restart():
    times = pa.array([1, 6, 11, 16, 17, 21, 26, 27], pa.timestamp("s", tz="UTC"))
    events = pa.table({"ts": times, "n": [1, 1, 1, 9, 9, 1, 9, 9]})
    text = (
        "SELECT SUM(n) FILTER (WHERE level = 0) / SUM(n) AS share FROM e"
        " [RANGES 15 SECONDS, 5 SECONDS SLIDES 5 SECONDS, 5 SECONDS] HAVING level = 1 EMIT WHEN share > 0.6"
    )
    told = windrow.replay(text, e=events).to_pylist()
    assert [(row["time"].second, round(row["share"], 2)) for row in told] == [(5, 1.0), (20, 0.9)]
    replay = Replay(text, e=events)
    rows = []
    for batch in replay.batches(1):
        rows += [row for table in replay.step(batch) for row in table.to_pylist()]
        replay.shard = Shard(replay.plan, replay.blocks, replay.shard.save())
    assert [row["share"] for row in rows] == [row["share"] for row in told]
