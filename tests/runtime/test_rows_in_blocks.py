"""Rows of windows without a slide, joins, sets and medians under a limit of memory: the answers are the same."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from runtime.failing_disk import FailingDisk
from storage.stores import CountingBlocks
from windrow import replay
from windrow.compile.compile import Wishes, compile_queries
from windrow.compile.explain import explain_plans
from windrow.compile.read_choose import read_choose
from windrow.errors import MemoryLimitError, StorageError
from windrow.local.local_catalog import local_catalog
from windrow.local.replay import Replay
from windrow.local.replay_stages import StageReplay
from windrow.operators import row_table, rows_in_blocks
from windrow.operators.changes import Changes
from windrow.operators.packed import packed
from windrow.operators.pending_changes import PendingChanges
from windrow.storage import ordered_rows
from windrow.storage.blocks import Blocks, MemoryBlocks
from windrow.storage.columns import encode
from windrow.windows import log
from windrow.windows.held import Held

SECOND = 1_000_000
BEGIN = int(datetime(2026, 1, 5, tzinfo=UTC).timestamp()) * SECOND
VWAP = "SELECT symbol, SUM(volume * price) / SUM(volume) AS vwap FROM stock [RANGE {}] GROUP BY symbol"
LITTLE = 16_000


def stock(rows: int, seconds: float, seed: int = 1, symbols: int = 20) -> pa.Table:
    random = np.random.default_rng(seed)
    times = np.sort(random.integers(0, int(seconds * 8), rows)) * SECOND // 8 + BEGIN
    names = np.array([f"S{number}" for number in range(symbols)])[random.integers(0, symbols, rows)]
    prices = pa.array(random.integers(40, 2000, rows) / 4, mask=random.random(rows) < 0.02)
    columns = {"ts": pa.array(times).cast(pa.timestamp("us", "UTC")), "symbol": pa.array(names)}
    return pa.table(columns | {"price": prices, "volume": random.integers(1, 1000, rows)})


def replayed(
    texts: Mapping[str, str],
    events: Mapping[str, pa.Table],
    memory_bytes: int = 10**9,
    blocks: Blocks | None = None,
    eviction: str = "distance",
) -> StageReplay:
    catalog = local_catalog(
        events, {}, time="ts", lateness="0 seconds", idle_clock=False, aggregates={}, clusterings={}
    )
    wishes = Wishes(memory_bytes, read_choose({"eviction": eviction}))
    (plan,) = compile_queries(texts, catalog, {}.__getitem__, wishes).values()
    return StageReplay(plan, catalog.streams, events, blocks)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered_rows, "BLOCK_BYTES", 1_500)
    monkeypatch.setattr(rows_in_blocks, "PAGE_BYTES", 1_500)
    monkeypatch.setattr(row_table, "FEW", 32)


@pytest.mark.parametrize("spills", [False, True])
def test_query_3_runs_under_two_megabytes_with_the_answers_that_it_has_without_a_limit(spills: bool, tmp_path: Path):
    """More rows than that are in the window at once."""
    events = stock(90_000, 1.2 * 3600)
    whole = replay(VWAP.format("1 HOUR"), stock=events, batch_rows=9_000)
    spill = tmp_path if spills else None
    little = replay(VWAP.format("1 HOUR"), stock=events, batch_rows=9_000, memory="2.1 MB", spill=spill)
    assert little.equals(whole)
    assert not list(tmp_path.iterdir())
    limited = Replay(VWAP.format("1 HOUR"), stock=events, memory="2.1 MB")
    limited.run(batch_rows=9_000)
    assert limited.shard.bytes_in_memory <= 2_100_000
    assert limited.blocks.bytes_held > 2_100_000


def test_the_last_answers_under_a_limit_are_those_of_duckdb(small_blocks: None):
    events = stock(3_000, 600)
    rows = replayed({"q": VWAP.format("2 MINUTES")}, {"stock": events}, LITTLE).run(batch_rows=170)
    last = {row["symbol"]: row["vwap"] for row in rows.to_pylist() if row["op"] == "+"}
    clock = int(events["ts"].cast(pa.int64())[-1].as_py()) - 1  # the instant of the last event may go on
    wanted = duckdb.sql(
        "SELECT symbol, SUM(volume * price) / SUM(volume) FROM events WHERE epoch_us(ts) <= $clock"
        " AND epoch_us(ts) > $clock - 120000000 GROUP BY symbol",
        params={"clock": clock},
    ).fetchall()
    assert len(wanted) == 20
    assert {name: pytest.approx(value) for name, value in wanted} == last


RANGES = {"long": "9 MINUTES", "middle": "5 MINUTES", "short": "20 SECONDS"}


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(20, 400), st.integers(0, 9), st.sampled_from(["distance", "LRU", "MRU"]))
def test_windows_of_several_ranges_over_one_stream_answer_as_each_does_alone(rows: int, seed: int, eviction: str):
    events = {"stock": stock(900, 1_000, seed)}
    texts = {name: VWAP.format(range_) for name, range_ in RANGES.items()}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ordered_rows, "BLOCK_BYTES", 1_500)
        together = replayed(texts, events, 3 * LITTLE, eviction=eviction).run_all(rows)
    for name, text in texts.items():
        assert together[name].equals(replayed({name: text}, events).run(rows))


def test_windows_of_several_ranges_keep_each_row_once_and_distance_reads_least(small_blocks: None):
    events, reads, held = {"stock": stock(6_000, 1_000)}, {}, {}
    texts = {name: VWAP.format(range_) for name, range_ in RANGES.items()}
    for way in ("distance", "LRU", "MRU"):
        blocks = CountingBlocks()
        replayed(texts, events, 50_000, blocks, way).run_all(200)
        reads[way], held[way] = blocks.counted()["read"], blocks.bytes_held
    alone = CountingBlocks()
    replayed({"long": texts["long"]}, events, 50_000, alone).run(200)
    assert 0 < reads["distance"] <= min(reads["LRU"], reads["MRU"])
    assert held["distance"] < 1.2 * alone.bytes_held


QUERIES = {
    "answers at every tuple": (VWAP.format("9 MINUTES"), LITTLE),
    "different rows": ("SELECT DISTINCT symbol, price, volume FROM stock [RANGE 3 MINUTES]", 2 * LITTLE),
    "a join": (
        "SELECT a.price, b.price AS later FROM stock [RANGE 90 SECONDS] a"
        " JOIN stock [RANGE 90 SECONDS] b ON a.symbol = b.symbol",
        6 * LITTLE,
    ),
}


def test_a_pool_of_one_block_gives_the_same_answers_and_a_smaller_limit_is_refused_by_its_size(small_blocks: None):
    """What must be in memory leaves less than two blocks of room."""
    given_events = {"stock": stock(3_000, 900, symbols=4)}
    asked = {"q": VWAP.format("9 MINUTES")}
    little = replayed(asked, given_events, LITTLE)
    assert little.run(100).equals(replayed(asked, given_events).run(100))
    store = little.shard._blocks
    assert store.reads > 0 and 0 < LITTLE - store.held < 2 * ordered_rows.BLOCK_BYTES
    with pytest.raises(MemoryLimitError, match=r"q hold \d+\.\d KB .* the limit is 8.0 KB: give shards more"):
        replayed(asked, given_events, LITTLE // 2).run(100)


@pytest.mark.parametrize(("text", "limit"), QUERIES.values(), ids=QUERIES)
def test_a_disk_that_fails_at_any_write_loses_nothing(text: str, limit: int, small_blocks: None):
    """The batch is done again from the checkpoint, whichever write it was that failed."""
    given_events = {"stock": stock(600, 900, symbols=4)}
    whole, driver = replayed({"q": text}, given_events), replayed({"q": text}, given_events, limit)
    disk = FailingDisk(driver.plan)
    for number, events in enumerate(driver.batches(60)):
        wanted = str(whole._outcome(whole._sliced(events, None)).results)
        outcome = disk.process(driver._sliced(events, None), failing=number % 3 == 2)
        assert str(outcome.results) == wanted
    assert disk.failures > 6
    assert "DISTINCT" not in text or b'"pages"' in disk.snapshot


def test_a_checkpoint_with_one_block_a_run_is_gone_on_with():
    """As they were written before rows were in blocks of one size."""
    blocks, times = MemoryBlocks(), np.array([1, 4, 4, 9])
    changes = Changes(times, times, times + 5, np.ones(4, np.int64), (pa.array(["a", "b", None, "d"]),))
    blocks.write("w", 3, encode({"due": pa.array(times + 5)} | packed(changes)))
    waiting = PendingChanges([pa.string()], "w", blocks, {"next": 4, "runs": [[3, 1]]})
    assert waiting.take(9)[0].columns[0].to_pylist() == ["b", None]
    waiting.save(1)
    waiting = PendingChanges([pa.string()], "w", blocks, waiting.snapshot())
    assert waiting.take(99)[0].columns[0].to_pylist() == ["d"]
    waiting.save(2)
    assert len(blocks) == 0


MEDIANS = {
    "one group": "SELECT MEDIAN(x) AS a, MODE(x) AS b, MAD(x) AS c, COUNT(DISTINCT x) AS d, QUANTILE(x, 0.9) AS e"
    " FROM ticks [RANGE 20 SECONDS SLIDE 2 SECONDS]",
    "groups": "SELECT k, MEDIAN(x) AS a, MODE(x) AS b, MAD(x) AS c, COUNT(DISTINCT x) AS d"
    " FROM ticks [RANGE 20 SECONDS SLIDE 2 SECONDS] GROUP BY k",
    "whole numbers": "SELECT k, MEDIAN(n) AS a, MODE(n) AS b, MAD(n) AS c FROM ticks [RANGE 20 SECONDS SLIDE 2 SECONDS]"
    " GROUP BY k",
    "rows": "SELECT MEDIAN(x) AS a, MODE(x) AS b FROM ticks [ROWS 9000 SLIDE 900]",
}


@pytest.mark.parametrize("text", MEDIANS.values(), ids=MEDIANS)
def test_order_statistics_beyond_the_limit_are_answered_from_runs_and_are_the_same(text: str):
    """With as many distinct values as rows, of which one group has most; then few come, and they fit again."""
    random, rows = np.random.default_rng(4), 12_000
    values = random.permutation(rows) / 8 - 100
    values[::400], values[1::400] = np.nan, np.inf
    times = np.sort(np.where(np.arange(rows) < 11_000, random.integers(0, 40, rows), random.integers(40, 90, rows)))
    ticks = pa.table(
        {
            "ts": pa.array(times * SECOND + BEGIN).cast(pa.timestamp("us", "UTC")),
            "k": np.where(random.random(rows) < 0.7, 0, random.integers(1, 20, rows)),
            "x": pa.array(values, mask=random.random(rows) < 0.02),
            "n": random.integers(-5_000, 5_000, rows),
        }
    )
    limit, spilled = 90_000, []
    answer = Held.answer

    def watched(held: Held, panes: range, width: int):  # type: ignore[no-untyped-def]
        found = answer(held, panes, width)
        spilled.append(held._spilled)
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Held, "answer", watched)
        patched.setattr(log, "BLOCK_BYTES", 8_000)
        little = replayed({"q": text}, {"ticks": ticks}, limit)
        found = little.run(1_000)
    assert any(spilled) and ("ROWS" in text or not spilled[-1])
    whole = replayed({"q": text}, {"ticks": ticks}).run(1_000)
    assert str(found.to_pylist()) == str(whole.to_pylist())  # NaN is as good as NaN
    assert little.shard.bytes_in_memory <= limit


def test_a_folder_that_cannot_be_written_to_is_named():
    with pytest.raises(StorageError, match="spill='/dev/null/x' is no folder that blocks can be written to"):
        replay(VWAP.format("1 HOUR"), stock=stock(9, 9), spill="/dev/null/x")


def test_explain_tells_what_is_in_blocks_and_what_must_be_in_memory():
    events = {"stock": stock(9, 9), "other": stock(9, 9)}
    told = explain_plans([replayed({"q": VWAP.format("1 HOUR")}, events).plan], 2)
    assert "rows until they expire: in blocks under the memory limit" in told and "in memory: " not in told
    join = "SELECT a.symbol, b.price FROM stock [RANGE 1 HOUR] a JOIN other [RANGE 1 MINUTE] b ON a.symbol = b.symbol"
    told = explain_plans([replayed({"q": join}, events).plan], 2)
    # an hour of 1,000 events a second: four numbers beside each row, its hash and its place in the index
    assert "in memory: the index of the left side of the inner join, about 201.6 MB at 1,000 events/s over all" in told
    assert told.index("the left side") < told.index("the right side")
    of_all = "SELECT symbol, STDDEV(price) AS spread FROM stock [RANGE 1 HOUR] GROUP BY symbol"
    assert "in memory: the index of the values of " in explain_plans([replayed({"q": of_all}, events).plan], 2)
    of_one = "SELECT symbol, MAX(price) AS most FROM stock [RANGE 1 HOUR] GROUP BY symbol"
    assert "in memory: " not in explain_plans([replayed({"q": of_one}, events).plan], 2)
