"""The least and the greatest of rows that leave as they came: few are held, and every answer is DuckDB's."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from runtime.test_rows_in_blocks import BEGIN, SECOND, replayed
from windrow.operators.group import GroupRows
from windrow.operators.held_values import HeldValues
from windrow.runtime.shard import Shard
from windrow.storage.blocks import MemoryBlocks

ASKED = """k, MAX(x) AS most, MIN(x) AS least, MAX(s) AS last, MIN(s) FILTER (WHERE x > 1) AS first,
           MAX_BY(id, x) AS whose, MIN_BY(id, s) AS of"""
TEXT = f"SELECT {ASKED} FROM a [RANGE 7 SECONDS] GROUP BY k"
ORACLE = """
SELECT c.t, k, MAX(x), MIN(x), MAX(s), MIN(s) FILTER (x > 1),
       (ARRAY_AGG(id ORDER BY x DESC, us DESC) FILTER (x IS NOT NULL))[1],
       (ARRAY_AGG(id ORDER BY s, us DESC) FILTER (s IS NOT NULL))[1]
FROM clocks c JOIN (SELECT *, epoch_us(ts) AS us FROM a) e ON e.us <= c.t AND e.us > c.t - 7000000 GROUP BY ALL"""


def events(rows: int, seed: int, kind: str = "any") -> pa.Table:
    """Instants of their own, so that of equal values one is the newest; values with ties, NULL and NaN, or that fall."""
    random = np.random.default_rng(seed)
    times = np.sort(random.choice(60 * 20, rows, replace=False)) * SECOND // 20 + BEGIN
    values = np.where(random.random(rows) < 0.1, np.nan, random.integers(0, 9, rows) / 2)
    values = {"any": values, "falls": np.arange(rows, 0.0, -1), "grows": np.arange(0.0, rows)}[kind]
    texts = [f"text {value}" for value in random.integers(0, 9, rows).tolist()]
    return pa.table(
        {
            "ts": pa.array(times).cast(pa.timestamp("us", "UTC")),
            "id": np.arange(rows),
            "k": random.integers(0, 3, rows),
            "x": pa.array(values, mask=random.random(rows) < (0.1 if kind == "any" else 0)),
            "s": pa.array(texts, mask=random.random(rows) < 0.1),
        }
    )


def told_at(changes: list[dict[str, Any]], clocks: list[int]) -> dict[int, list[str]]:
    """What is there at each instant."""
    there: dict[str, int] = {}
    found, place = {}, 0
    for clock in clocks:
        while place < len(changes) and changes[place]["time"] <= clock:
            row = [value for name, value in changes[place].items() if name not in ("op", "time")]
            there[str(row)] = there.get(str(row), 0) + (1 if changes[place]["op"] == "+" else -1)
            place += 1
        found[clock] = sorted(row for row, often in there.items() if often)
    return found


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 90), st.sampled_from(["any", "falls", "grows"]), st.booleans())
@example(seed=0, batch=7, kind="any", reopen=True)
def test_answers_are_those_of_duckdb_at_every_instant(seed: int, batch: int, kind: str, reopen: bool):
    a = events(150, seed, kind)
    blocks = MemoryBlocks()
    made, found = replayed({"q": TEXT}, {"a": a}, blocks=blocks), []
    for part in made.batches(batch):
        found += [row for told in made.step(part) for row in told.to_pylist()]
        if reopen:
            made.shard = Shard(made.plan, blocks, made.shard.save())
    for row in found:
        row["time"] = row["time"] if isinstance(row["time"], int) else int(row["time"].timestamp() * SECOND)
    at = a["ts"].cast(pa.int64()).to_pylist()
    clocks = sorted(t for t in {*at, *(t + 7 * SECOND for t in at)} if t < at[-1])
    wanted: dict[int, list[str]] = {clock: [] for clock in clocks}
    tables = {"a": a, "clocks": pa.table({"t": clocks})}
    with duckdb.connect() as database:
        for name, table in tables.items():
            database.register(name, table)
        for clock, *row in database.execute(ORACLE).fetchall():
            wanted[clock].append(str(row))
    assert told_at(found, clocks) == {clock: sorted(rows) for clock, rows in wanted.items()}


def held(shard: Shard) -> int:
    """How many entries are there for the answers of groups."""
    groups = [op for op in shard._pipelines._groups[0].pipeline._operators.values() if isinstance(op, GroupRows)]
    entries = [
        folded._entries._table for op in groups for folded in op._folded.values() if isinstance(folded, HeldValues)
    ]
    assert entries
    return max(int(np.count_nonzero(table.side["n"][: len(table)])) for table in entries)


@pytest.mark.parametrize("window", ["RANGE 50 SECONDS", "RANGE UNBOUNDED"])
@pytest.mark.parametrize("kind, most", [("any", 30), ("grows", 3)])
def test_few_of_the_rows_are_held_that_are_there(window: str, kind: str, most: int):
    made = replayed({"q": f"SELECT k, MAX(x) AS m FROM a [{window}] GROUP BY k"}, {"a": events(1000, 5, kind)})
    made.run(100)
    assert 0 < held(made.shard) <= most


def test_where_values_fall_all_are_held_that_are_there():
    made = replayed({"q": "SELECT MAX(x) AS m FROM a [RANGE 50 SECONDS]"}, {"a": events(1000, 5, "falls")})
    made.run(100)
    assert held(made.shard) > 700


@pytest.mark.parametrize("asked", ["MAX(x)", "MAX(s)", "MAX_BY(id, x)"])
def test_rows_of_a_join_leave_in_any_order_and_are_all_held(asked: str):
    text = "SELECT {} AS m FROM a [RANGE 50 SECONDS] p JOIN b [RANGE 20 SECONDS] q ON p.id = q.id"
    named = asked.replace("(", "(p.").replace(", ", ", q.")
    made = replayed({"q": text.format(named)}, {"a": events(300, 1), "b": events(300, 1)})
    made.run(100)
    assert held(made.shard) > 50
