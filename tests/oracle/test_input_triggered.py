"""Rows that expire when the next row comes: what is told is the same, later, and never wrong."""

from __future__ import annotations

import random
import re
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.local.replay import Replay
from windrow.runtime.payload import FLUSH, Payload
from windrow.runtime.shard import Shard

from .judge import TIME, plain_rows

TEXTS = [
    "SELECT SUM(x) AS s FROM a [RANGE 9 MICROSECONDS] WHERE x > 4",
    "SELECT k, COUNT(*) AS n FROM a [RANGE 9 MICROSECONDS] WHERE x > 2 GROUP BY k",
    "SELECT COUNT(DISTINCT k) AS n FROM a [RANGE 9 MICROSECONDS] WHERE x > 4",
    "SELECT DISTINCT l.k FROM a [RANGE 9 MICROSECONDS] AS l, b [RANGE 5 MICROSECONDS] AS r WHERE l.k = r.k AND l.x > 4",
    "SELECT k, x FROM a [RANGE 9 MICROSECONDS] EXCEPT SELECT k, x FROM b [RANGE 9 MICROSECONDS]",
    "SELECT l.k, r.x FROM a [RANGE 9 MICROSECONDS] AS l LEFT JOIN b [RANGE 4 MICROSECONDS] AS r ON l.k = r.k",
    "SELECT s.k, SUM(s.x) AS t FROM (SELECT k, x FROM a EXCEPT SELECT k, x FROM b) AS s GROUP BY s.k WINDOW 9 MICROSECONDS",
]


def some_events(chance: random.Random) -> pa.Table:
    times = sorted(chance.randint(0, 60) for _ in range(chance.randint(0, 30)))
    columns = {
        name: pa.array([chance.randint(0, most) for _ in times], pa.int64()) for name, most in (("k", 2), ("x", 6))
    }
    return pa.table({"ts": pa.array(times, pa.int64()).cast(TIME), **columns})


def told(text: str, events: dict[str, pa.Table], way: str, sizes: list[int], reopen: bool) -> list[list[dict]]:
    """The rows of each batch, and at last those of the end of the input."""
    used = {name: table for name, table in events.items() if name == "a" or re.search(r"\bb\b", text)}
    replay = Replay(text, **used, choose={"expiry": way})
    found, at = [], 0
    for size in sizes:
        batch = {name: table.slice(at, size) for name, table in used.items()}
        found.append([row for rows in replay.step(batch) for row in plain_rows(rows)])
        at += size
        if reopen:
            replay.shard = Shard(replay.plan, replay.blocks, replay.shard.save())
    last = replay.shard.process([Payload(0, 0, 0, None, FLUSH, b"")])
    return [*found, [row for rows in replay._finished(last) for row in plain_rows(rows)]]


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(TEXTS), st.booleans())
def test_what_is_told_is_the_same_and_never_before_its_time(seed, text, reopen):
    chance = random.Random(seed)
    events = {name: some_events(chance) for name in "ab"}
    sizes = [chance.randint(1, 6) for _ in range(30)]
    late, prompt = (told(text, events, way, sizes, reopen) for way in ("input-triggered", "hybrid"))
    assert net(row for rows in late for row in rows) == net(row for rows in prompt for row in rows)
    before: Counter[tuple] = Counter()
    for mine, theirs in zip(late, prompt):  # at any time, what was told so far is so of an instant that has passed
        before.update(Counter(row["time"] for row in theirs))
        instants = [row["time"] for row in mine]
        assert instants == sorted(instants) and all(before[instant] for instant in instants)


def net(rows) -> Counter:
    """How often each row came more than it went, by instant."""
    found: Counter[tuple] = Counter()
    for row in rows:
        values = tuple(value for name, value in row.items() if name != "op")
        found[values] += 1 if row["op"] == "+" else -1
    return Counter({values: weight for values, weight in found.items() if weight})


def test_an_expiry_waits_for_the_next_row_that_comes_to_its_operator():
    times = pa.array([1, 10, 20, 30], pa.timestamp("s", tz="UTC"))
    events = pa.table({"ts": times, "x": [1, 9, 9, 2]})
    asked = "SELECT SUM(x) AS s FROM a [RANGE 5 SECONDS] WHERE x < 5"
    batches = {}
    for way in ("input-triggered", "time probing", "negative tuples", "hybrid"):
        replay = Replay(asked, a=events, choose={"expiry": way})
        steps = [replay.step(events.slice(n, 1)) for n in range(4)]
        batches[way] = [
            [(row["op"], row["time"].second) for rows in step for row in rows.to_pylist()] for step in steps
        ]
    assert batches["input-triggered"] == [[], [("+", 1)], [], []]
    assert batches["hybrid"] == [[], [("+", 1), ("-", 6)], [], []]
    assert batches["time probing"] == batches["negative tuples"] == batches["hybrid"]
    whole = windrow.replay(asked, a=events, expiry="input-triggered", flush=True)
    assert [row["time"].second for row in whole.to_pylist()] == [1, 6, 30, 35]


def test_who_asks_at_instants_is_told_all_that_has_expired_by_then():
    times = pa.array([1, 10, 20, 30], pa.timestamp("s", tz="UTC"))
    events = pa.table({"ts": times, "x": [1, 9, 9, 2]})
    asked = "SELECT DISTINCT x FROM a [RANGE 5 SECONDS SLIDE 5 SECONDS]"
    rows = [windrow.replay(asked, a=events, expiry=way).to_pylist() for way in ("input-triggered", "hybrid")]
    assert rows[0] == rows[1] and len(rows[0]) == 3


@pytest.mark.parametrize("way", ["hybrid", "negative tuples", "time probing"])
def test_a_row_that_a_copy_follows_where_it_ends_does_not_go_while_another_stream_is_behind(way):
    def events(*times: int) -> pa.Table:
        return pa.table({"ts": pa.array(times, pa.int64()).cast(TIME), "k": [1] * len(times)})

    text = "SELECT DISTINCT a.k FROM a [RANGE 9 MICROSECONDS], b [RANGE 9 MICROSECONDS] WHERE a.k = b.k"
    given = {"a": events(0, 3, 20), "b": events(1, 4, 30)}
    replay = Replay(text, **given, choose={"expiry": way})
    found = []
    for a, b in (((0, 2), (0, 2)), ((2, 3), (2, 2)), ((3, 3), (2, 3))):
        batch = {"a": given["a"].slice(a[0], a[1] - a[0]), "b": given["b"].slice(b[0], b[1] - b[0])}
        rows = [row for rows in replay.step(batch) for row in plain_rows(rows)]
        found.append([(row["op"], row["time"]) for row in rows])
    assert found == [[("+", 1)], [], [("-", 12)]]
