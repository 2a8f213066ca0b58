"""Lists, maps and counted texts of windows that are larger than memory: read from panes, with the same answers."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.errors import MemoryLimitError
from windrow.local.replay import Replay
from windrow.windows import log
from windrow.windows.held import Held

from .core import SECOND, Core, events_of, plan_of, rows_of
from .failing_disk import FailingDisk

SCHEMA = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k", pa.int64()), ("x", pa.float64()), ("s", pa.string())])
LIMIT = 40_000
ASKED = (
    "SELECT k, COLLECT_LIST(s) AS a, STRING_AGG(s, '-') AS b, COUNT(DISTINCT s) AS c, MODE(s) AS d, MAP_AGG(s, x) AS e"
)
WIDE = f"{ASKED}, MEDIAN(x) AS f FROM ticks [RANGE 40 SECONDS SLIDE 2 SECONDS] GROUP BY k"
NARROW = f"{ASKED}, MEDIAN(x) AS f FROM ticks [RANGE 10 SECONDS SLIDE 2 SECONDS] GROUP BY k"
ROWS = f"{ASKED}, MEDIAN(x) AS f FROM ticks [ROWS 300 SLIDE 50] GROUP BY k"


def batch(number: int, rows: int, random: np.random.Generator, disorder: int) -> pa.Table:
    """4 seconds of rows, of which one key has most, with NULL, NaN and ties; some are late by `disorder` seconds."""
    seconds = number * 4 + random.integers(0, 8, rows) // 2
    seconds = np.maximum(seconds - np.where(random.random(rows) < 0.05, random.integers(0, disorder + 1, rows), 0), 0)
    values = np.where(random.random(rows) < 0.1, np.nan, random.integers(0, 50, rows) / 4)
    texts = pa.array([f"text {value:030}" for value in random.integers(0, 150, rows)], mask=random.random(rows) < 0.1)
    keys = np.where(random.random(rows) < 0.6, 0, random.integers(1, 5, rows))
    return events_of(np.sort(seconds) * SECOND, k=pa.array(keys), x=values, s=texts)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "BLOCK_BYTES", 12_000)


@settings(max_examples=examples(20), deadline=None)
@given(
    st.integers(0, 10**6), st.integers(5, 40), st.sampled_from([0, 3, 30]), st.sampled_from(["never", "adopt", "fresh"])
)
@example(seed=3, rows=40, disorder=30, reopen="fresh")
def test_windows_beyond_the_limit_are_answered_as_without_one(seed: int, rows: int, disorder: int, reopen: str):
    """Any cut into batches, late events that some windows take, and shards that another worker takes over."""
    random = np.random.default_rng(seed)
    made = plan_of([WIDE, NARROW, ROWS], SCHEMA, 2 * SECOND)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(log, "BLOCK_BYTES", 12_000)
        limited, free = Core(replace(made, memory_bytes=LIMIT), reopen=reopen), Core(made)
        for number in range(14):
            events = batch(number, rows, random, disorder)
            assert str(rows_of(limited.step(events))) == str(rows_of(free.step(events)))
        assert str(rows_of(limited.flush())) == str(rows_of(free.flush()))
    assert limited.shards[0].bytes_in_memory <= LIMIT


def test_all_of_them_were_read_from_panes(monkeypatch: pytest.MonkeyPatch):
    told: list[bool] = []
    answer = Held.answer

    def watched(held: Held, panes: range, width: int):  # type: ignore[no-untyped-def]
        found = answer(held, panes, width)
        told.append(held._spilled)
        return found

    monkeypatch.setattr(Held, "answer", watched)
    random = np.random.default_rng(1)
    limited = Core(replace(plan_of([WIDE], SCHEMA), memory_bytes=LIMIT))
    for number in range(14):
        limited.step(batch(number, 80, random, 0))
    assert not told[0] and all(told[-5:])


def test_what_is_read_from_panes_is_what_duckdb_says():
    random = np.random.default_rng(5)
    events = pa.concat_tables([batch(number, 80, random, 0) for number in range(14)])
    limited = Core(replace(plan_of([WIDE], SCHEMA), memory_bytes=LIMIT))
    found = rows_of([outcome for start in range(0, 1120, 170) for outcome in limited.step(events.slice(start, 170))])
    ticks = events.append_column("n", pa.array(np.arange(events.num_rows)))  # noqa: F841 # DuckDB finds it by its name
    wanted = duckdb.sql(
        "WITH ends AS (SELECT unnest(range(2, 53, 2)) AS e), w AS (SELECT e, t.*, epoch(ts) AS at FROM ends, ticks t"
        " WHERE epoch(ts) < e AND epoch(ts) >= e - 40), often AS (SELECT e, k, s, count(*) AS c FROM w WHERE s IS NOT NULL"
        " GROUP BY ALL), modes AS (SELECT e, k, min(s) AS d FROM often o WHERE c = (SELECT max(c) FROM often p WHERE"
        " p.e = o.e AND p.k = o.k) GROUP BY ALL) SELECT e, k, list(s ORDER BY ts, n) FILTER (s IS NOT NULL) AS a,"
        " string_agg(s, '-' ORDER BY ts, n) AS b, count(DISTINCT s) AS c, any_value(d) AS d FROM w LEFT JOIN modes USING"
        " (e, k) GROUP BY ALL"
    ).fetchall()
    told = {
        (row["window_end"] // SECOND, row["key_0"]): tuple(row[f"agg_{i}"] for i in range(4))
        for row in found
        if row["window_end"] <= 52 * SECOND
    }
    assert len(wanted) > 100
    assert told == {(e, k): tuple(rest) for e, k, *rest in wanted}


def test_a_disk_that_fails_at_any_write_loses_nothing():
    """The batch is done again from the checkpoint, whichever write it was that failed."""
    random = np.random.default_rng(9)
    made = plan_of([WIDE], SCHEMA)
    free, driver = Core(made), Core(replace(made, memory_bytes=LIMIT))
    disk = FailingDisk(driver.shards[0].plan)
    for number in range(12):
        payloads = free.payloads(batch(number, 60, random, 0))
        wanted = str(rows_of(free.process(payloads)))
        assert str(rows_of([disk.process(payloads, failing=number % 4 == 3)])) == wanted
    assert disk.failures > 6


@pytest.mark.parametrize("call", ["COLLECT_LIST(s)", "STRING_AGG(s, '-')", "MAP_AGG(s, x)", "COUNT(DISTINCT s)"])
def test_more_than_two_megabytes_of_texts_under_two(call: str):
    """With the sizes of blocks that a job has, and as users ask for it."""
    rows = 40_000
    texts = pa.array([f"{number:060}" for number in np.random.default_rng(2).permutation(rows)])
    events = events_of(np.arange(rows) * SECOND // 400, x=np.arange(rows) / 8, s=texts)
    text = f"SELECT {call} AS a FROM ticks [RANGE 80 SECONDS SLIDE 10 SECONDS]"
    limited, free = (Replay(text, ticks=events, memory=memory) for memory in ("2.1 MB", "1 GB"))
    assert limited.run(batch_rows=5_000).equals(free.run(batch_rows=5_000))
    assert limited.shard.bytes_in_memory <= 2_100_000 < free.shard.bytes_in_memory


def test_a_total_without_bound_is_still_refused_by_its_size():
    text = "SELECT COLLECT_LIST(s) AS a FROM ticks [RANGE UNBOUNDED SLIDE 2 SECONDS]"
    random = np.random.default_rng(1)
    limited = Core(replace(plan_of([text], SCHEMA), memory_bytes=LIMIT))
    with pytest.raises(MemoryLimitError, match=r"q0 hold \d+\.\d KB .* limit is 40\.0 KB"):
        for number in range(14):
            limited.step(batch(number, 80, random, 0))
