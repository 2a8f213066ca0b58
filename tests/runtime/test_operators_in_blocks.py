"""Joins, DISTINCT, set operators and groups under a limit of memory: rows in blocks, and DuckDB's answers."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from runtime.failing_disk import FailingDisk
from runtime.test_rows_in_blocks import BEGIN, SECOND, replayed
from windrow.errors import MemoryLimitError
from windrow.operators import row_table, rows_in_blocks
from windrow.storage import ordered_rows

LITTLE, LARGER = 45_000, 90_000
"""An outer join has its sides, and the rows that it looks for in the pairs."""

END = 301 * SECOND
"""When the last event of both streams comes: all that was before is certain then."""

WITHIN = "epoch_us(ts) <= $clock AND epoch_us(ts) > $clock - 100000000"
A, B = (f"(SELECT * FROM {name} WHERE {WITHIN})" for name in "ab")
QUERIES = {
    "join": ("SELECT x.id, x.name, y.v FROM a [RANGE 100 SECONDS] x JOIN b [RANGE 100 SECONDS] y ON x.id = y.id",
             f"SELECT x.id, x.name, y.v FROM {A} x JOIN {B} y ON x.id = y.id"),
    "left join": ("SELECT x.name, y.v FROM a [RANGE 100 SECONDS] x LEFT JOIN b [RANGE 100 SECONDS] y ON x.id = y.id",
                  f"SELECT x.name, y.v FROM {A} x LEFT JOIN {B} y ON x.id = y.id"),
    "full join": ("SELECT x.v AS l, y.v AS r FROM a [RANGE 100 SECONDS] x"
                  " FULL JOIN b [RANGE 100 SECONDS] y ON x.name = y.name AND x.id = y.id",
                  f"SELECT x.v, y.v FROM {A} x FULL JOIN {B} y ON x.name = y.name AND x.id = y.id"),
    "distinct": ("SELECT DISTINCT id, name FROM a [RANGE 100 SECONDS]", f"SELECT DISTINCT id, name FROM {A}"),
    "union": ("SELECT id, name FROM a [RANGE 100 SECONDS] UNION SELECT id, name FROM b [RANGE 100 SECONDS]",
              f"SELECT id, name FROM {A} UNION SELECT id, name FROM {B}"),
    "except": ("SELECT id, v FROM a [RANGE 100 SECONDS] EXCEPT SELECT id, v FROM b [RANGE 100 SECONDS]",
               f"SELECT id, v FROM {A} EXCEPT SELECT id, v FROM {B}"),
    "intersect": ("SELECT id, name FROM a [RANGE 100 SECONDS] INTERSECT ALL SELECT id, name FROM b [RANGE 100 SECONDS]",
                  f"SELECT id, name FROM {A} INTERSECT ALL SELECT id, name FROM {B}"),
    "groups": ("SELECT id, COUNT(*) AS n, MAX(v) AS most FROM a [RANGE 100 SECONDS] GROUP BY id",
               f"SELECT id, COUNT(*), MAX(v) FROM {A} GROUP BY id"),
}  # fmt: skip


def events(rows: int, seed: int) -> dict[str, pa.Table]:
    """Two streams of 300 seconds at instants of their own, with NULL, NaN and texts that tell rows apart."""
    random, found = np.random.default_rng(seed), {}
    for number, name in enumerate("ab"):
        times = np.sort(random.choice(300_000, rows, replace=False)) * 1000 + number + BEGIN
        times[-1] = BEGIN + END
        ids = pa.array(random.integers(0, rows // 2, rows), mask=random.random(rows) < 0.03)
        values = np.where(random.random(rows) < 0.03, np.nan, random.integers(0, 9, rows) / 2)
        names = [f"a rather long name that takes its bytes, number {each}" for each in ids.to_pylist()]
        columns = {"ts": pa.array(times).cast(pa.timestamp("us", "UTC")), "id": ids, "name": names}
        found[name] = pa.table(columns | {"v": pa.array(values, mask=random.random(rows) < 0.03)})
    return found


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    patch(monkeypatch)


def patch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered_rows, "BLOCK_BYTES", 1_500)
    monkeypatch.setattr(rows_in_blocks, "PAGE_BYTES", 3_000)
    monkeypatch.setattr(row_table, "FEW", 32)


def answer(changes: pa.Table) -> list[str]:
    """What is there after all changes, each row as often as it is."""
    often: dict[str, int] = {}
    for row in changes.to_pylist():
        sign = 1 if row.pop("op") == "+" else -1
        row.pop("time", None)
        often[str(list(row.values()))] = often.get(str(list(row.values())), 0) + sign
    assert min(often.values()) >= 0
    return sorted(row for row, count in often.items() for _ in range(count))


@pytest.mark.parametrize("name", QUERIES)
@settings(max_examples=examples(12), deadline=None)
@given(st.integers(60, 300), st.integers(0, 9))
def test_rows_in_blocks_give_the_answers_of_duckdb_and_of_memory(name: str, batch: int, seed: int):
    text, oracle = QUERIES[name]
    given_events = events(300, seed)
    whole = replayed({"q": text}, given_events).run(batch)
    with pytest.MonkeyPatch.context() as patched:
        patch(patched)
        gave = []
        give = row_table.RowTable.give
        patched.setattr(row_table.RowTable, "give", lambda table: gave.append(1) or give(table))
        little = replayed({"q": text}, given_events, LARGER if "LEFT" in text or "FULL" in text else LITTLE)
        found = little.run(batch)
    assert gave
    assert found.equals(whole) or str(found.to_pylist()) == str(whole.to_pylist())  # NaN is as good as NaN
    a, b = given_events["a"], given_events["b"]  # noqa: F841 (DuckDB reads them)
    rows = duckdb.sql(oracle, params={"clock": BEGIN + END - 1}).fetchall()
    assert answer(found) == sorted(str(list(row)) for row in rows) != []


def test_a_limit_that_even_the_index_exceeds_is_refused_by_its_size(small_blocks: None):
    """Blocks come and go meanwhile, also those that their owner is just putting together."""
    with pytest.raises(MemoryLimitError, match=r"q hold \d+\.\d KB in the memory of a shard, and the limit is 20.0 KB"):
        replayed({"q": QUERIES["join"][0]}, events(300, 0), 20_000).run(60)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", QUERIES)
def test_a_disk_that_fails_at_any_write_loses_nothing_of_an_operator(small_blocks: None, name: str) -> None:
    """Each third batch fails at its first write, is done again, fails at its second one, and so on."""
    text, given_events = QUERIES[name][0], events(240, 3)
    limit = LARGER if "LEFT" in text or "FULL" in text else LITTLE
    whole, driver = replayed({"q": text}, given_events), replayed({"q": text}, given_events, limit)
    disk = FailingDisk(driver.plan)
    for number, batch in enumerate(driver.batches(60)):
        wanted = str(whole._outcome(whole._sliced(batch, None)).results)
        outcome = disk.process(driver._sliced(batch, None), failing=number % 3 == 2)
        assert str(outcome.results) == wanted
    assert disk.failures > 4 and b'"pages"' in disk.snapshot


TOGETHER = {
    **{name: QUERIES[name][0] for name in ("distinct", "groups")},
    "join": "SELECT x.name, y.v FROM a [RANGE 50 SECONDS] x JOIN a [RANGE 100 SECONDS] y ON x.id = y.id",
    "most": "SELECT MAX(v) AS most, MIN(name) AS least FROM a [RANGE 70 SECONDS]",
    "sums": "SELECT id, SUM(v) AS s FROM a [RANGE 60 SECONDS SLIDE 5 SECONDS] GROUP BY id",
    "medians": "SELECT MEDIAN(v) AS m, COLLECT_LIST(name) AS l FROM a [RANGE 60 SECONDS SLIDE 20 SECONDS]",
    "rows": "SELECT SUM(v) AS s FROM a [ROWS 60 SLIDE 7]",
    "keys": "SELECT id, MAX(v) AS m FROM a [PARTITION BY id ROWS 3 SLIDE 1] GROUP BY id",
    "sessions": "SELECT id, COUNT(*) AS n FROM a [PARTITION BY id SESSION 9 SECONDS] GROUP BY id",
}


def test_a_disk_that_fails_at_any_write_loses_nothing_of_several_kinds_of_queries_at_once(small_blocks: None) -> None:
    """Of one batch in the middle every write fails once, and of some others."""
    given_events, limit = {"a": events(240, 3)["a"]}, 400_000
    whole, driver = replayed(TOGETHER, given_events), replayed(TOGETHER, given_events, limit)
    disk, held = FailingDisk(driver.plan), 0
    for number, batch in enumerate(driver.batches(40)):
        wanted = str(sorted(map(str, whole._outcome(whole._sliced(batch, None)).results)))
        outcome = disk.process(driver._sliced(batch, None), failing=number in (2, 4))
        held = max(held, disk.shard.bytes_in_memory)
        assert str(sorted(map(str, outcome.results))) == wanted
    assert disk.failures > 30 and held <= limit
