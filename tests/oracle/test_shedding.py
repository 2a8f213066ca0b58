"""SHED ABOVE in replay: answers are what DuckDB says of exactly the rows that were taken, each as often as it counts."""

from __future__ import annotations

import random
from dataclasses import dataclass
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import QueryError, SettingsError
from windrow.expressions.evaluate_text import evaluate_text
from windrow.language import parse_script, to_sql
from windrow.runtime.shard import Shard

from .judge import TIME, plain_rows

SCALED = "COUNT(*) AS n, COUNT(i) AS c, SUM(i) AS s, SUM(f) AS t, SUM(d) AS u, COUNT(*) FILTER (WHERE i > 3) AS o"
PLAIN = "AVG(i) AS a, MAX(i) AS m, VAR_POP(f) AS v, COUNT(DISTINCT i) AS e, MEDIAN(f) AS h"
COLUMNS = ("k", "n", "c", "s", "t", "u", "o", "a", "m", "v", "e", "h", "sampled")
SCHEMA = pa.schema(
    {
        "ts": TIME,
        "k": pa.string(),
        "i": pa.int64(),
        "f": pa.float64(),
        "d": pa.decimal128(9, 2),
        "l": pa.list_(pa.int8()),
    }
)


@dataclass(frozen=True)
class Trial:
    """Events, how they are cut into batches, the share of each, and a window over them."""

    events: pa.Table
    batch_rows: int
    shares: list[float]
    range_us: int
    slide_us: int

    @property
    def text(self) -> str:
        window = f"[RANGE {self.range_us} MICROSECONDS SLIDE {self.slide_us} MICROSECONDS]"
        return f"SELECT k, {SCALED}, {PLAIN} FROM ticks {window} GROUP BY k"

    def share(self, row: int) -> float:
        return self.shares[min(row // self.batch_rows, len(self.shares) - 1)]

    def expected(self) -> list[dict[str, object]]:
        """What DuckDB says of the rows whose hash is below the share of their batch."""
        hashes = evaluate_text("xxhash64(ts, k, i, f, d)", self.events).to_numpy().view(np.uint64)
        shares = np.array([self.share(row) for row in range(self.events.num_rows)])
        taken = pa.array(hashes / 2.0**64 < shares)
        weights = pa.array((1 / shares).astype(np.int64))
        with duckdb.connect() as judge:
            judge.register("taken", self.events.append_column("w", weights).filter(taken))
            found = judge.sql(f"""
                WITH kept AS (SELECT *, epoch_us(ts) AS us FROM taken),
                ends AS (SELECT DISTINCT UNNEST(generate_series(
                    us - us % {self.slide_us} + {self.slide_us}, us + {self.range_us}, {self.slide_us}
                )) AS stop FROM kept)
                SELECT stop, k, SUM(w)::BIGINT AS n, COALESCE(SUM(w) FILTER (WHERE i IS NOT NULL), 0)::BIGINT AS c,
                    SUM(i * w)::BIGINT AS s, SUM(f * w) AS t, SUM(d * w) AS u,
                    COALESCE(SUM(w) FILTER (WHERE i > 3), 0)::BIGINT AS o, AVG(i) AS a, MAX(i) AS m, VAR_POP(f) AS v,
                    COUNT(DISTINCT i) AS e, MEDIAN(f) AS h, COUNT(*) / SUM(w)::DOUBLE AS sampled
                FROM ends JOIN kept ON us < stop AND us >= stop - {self.range_us} GROUP BY stop, k
            """)
            return found.to_arrow_table().to_pylist()


@st.composite
def trials(draw: st.DrawFn) -> Trial:
    chance = random.Random(draw(st.integers(0, 2**32)))
    count, pace = draw(st.integers(1, 300)), draw(st.sampled_from([1, 40, 1_000_000]))
    rows = []
    for number in range(count):
        at = 1_700_000_000_000_000 + number * pace // 3 + chance.randint(-2 * pace, 0)
        value = None if chance.random() < 0.1 else chance.randint(-9, 9)
        real = None if chance.random() < 0.1 else chance.uniform(-5, 5)
        rows.append(
            (at, chance.choice(["a", "b", None]), value, real, Decimal(chance.randint(-999, 999)) / 100, [number % 100])
        )
    columns = [pa.array(values, pa.int64() if i == 0 else SCHEMA.types[i]) for i, values in enumerate(zip(*rows))]
    events = pa.table([columns[0].cast(TIME), *columns[1:]], schema=SCHEMA)
    shares = draw(st.lists(st.sampled_from([1.0, 0.5, 0.25, 0.125, 1 / 1024]), min_size=1, max_size=6))
    slide = draw(st.integers(1, 20)) * pace
    return Trial(events, draw(st.integers(1, 120)), shares, draw(st.integers(1, 60)) * pace, slide)


def same(found: pa.Table, expected: list[dict[str, object]]) -> None:
    """Equal rows, in any order; floats but for their last digits."""
    rows = {(row["window_end"], row["k"]): row for row in plain_rows(found)}
    assert rows.keys() == {(row["stop"], row["k"]) for row in expected}
    assert len(rows) == found.num_rows
    for row in expected:
        own = rows[row["stop"], row["k"]]
        for name in COLUMNS:
            exact = row[name] is None or name not in ("t", "a", "v", "h")
            assert own[name] == (row[name] if exact else pytest.approx(row[name], rel=1e-9, abs=1e-9)), name


@settings(max_examples=examples(150))
@given(trials())
def test_answers_are_those_of_the_rows_that_were_taken_each_as_often_as_it_counts(trial: Trial):
    found = windrow.replay(
        trial.text, ticks=trial.events, lateness="1 hour", batch_rows=trial.batch_rows, shares=trial.shares, flush=True
    )
    same(found, trial.expected())


@settings(max_examples=examples(40))
@given(trials(), st.integers(0, 5))
def test_a_shard_that_is_opened_anew_answers_as_if_it_had_stayed(trial: Trial, stop: int):
    settings = {"ticks": trial.events, "lateness": "1 hour", "shares": trial.shares}
    whole, again = windrow.Replay(trial.text, **settings), windrow.Replay(trial.text, **settings)
    for number, batch in enumerate(whole.batches(trial.batch_rows)):
        if number == stop:
            again.shard = Shard(again.plan, again.blocks, again.shard.save())
        told, told_again = whole.step(batch), again.step(batch)
        assert [table.to_pylist() for table in told] == [table.to_pylist() for table in told_again]
    ended, ended_again = whole.end().get("query"), again.end().get("query")
    assert (ended and ended.to_pylist()) == (ended_again and ended_again.to_pylist())


def ticks(rows: int = 20_000) -> pa.Table:
    times = pa.array(np.arange(rows) * 1000, pa.int64()).cast(TIME)
    return pa.table({"ts": times, "k": np.arange(rows) % 7, "x": np.arange(rows) % 100})


def test_about_the_share_of_the_rows_of_every_key_is_taken_and_estimates_are_near_what_holds():
    text = "SELECT k, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a FROM t [RANGE 20 SECONDS SLIDE 20 SECONDS] GROUP BY k"
    whole = {row["k"]: row for row in windrow.replay(text, t=ticks(), flush=True).to_pylist()}
    found = windrow.replay(text, t=ticks(), shares=0.25, flush=True, batch_rows=3_000).to_pylist()
    assert len(found) == 7
    for row in found:
        assert row["sampled"] == 0.25 and row["n"] % 4 == 0
        for name in ("n", "s", "a"):
            assert row[name] == pytest.approx(whole[row["k"]][name], rel=0.2)


def test_the_clock_goes_on_with_rows_that_are_left_out():
    text = "SELECT COUNT(*) AS n FROM t [RANGE 1 SECOND SLIDE 1 SECOND]"
    whole, shed = (windrow.replay(text, t=ticks(), shares=share, batch_rows=100) for share in (1, 1 / 8))
    assert shed["window_end"].to_pylist() == whole["window_end"].to_pylist()


def test_without_shedding_a_share_of_one_changes_nothing_but_the_column():
    text = "SELECT k, COUNT(*) AS n, SUM(x) AS s FROM t [RANGES 8 SECONDS, 2 SECONDS SLIDES 2 SECONDS, 1 SECOND] GROUP BY k"
    plain, shed = (windrow.replay(text, t=ticks(), **given) for given in ({}, {"shares": 1}))
    assert set(shed["sampled"].to_pylist()) == {1.0}
    assert shed.drop_columns("sampled").to_pylist() == plain.to_pylist()


def test_windows_over_the_answers_of_a_stream_that_is_shed_see_the_share():
    inner = "SELECT k, COUNT(*) AS n FROM t [RANGE 1 SECOND SLIDE 1 SECOND] GROUP BY k"
    outer = "SELECT SUM(n) AS n, MIN(sampled) AS least FROM counts [RANGE 4 SECONDS SLIDE 4 SECONDS]"
    found = windrow.replay(outer, t=ticks(), shares=0.5, derived={"counts": inner}).to_pylist()
    assert found and all(row["least"] == 0.5 and row["n"] == pytest.approx(4000, rel=0.2) for row in found)
    assert "sampled" not in found[0]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("SELECT COUNT(*) AS n FROM t [ROWS 10 SLIDE 5]", "ROWS windows"),
        ("SELECT COUNT(*) AS n FROM t [SESSION 10 SECONDS]", "sessions"),
        ("SELECT COUNT(*) AS n FROM t [RANGE 2 SECONDS SLIDE 1 SECOND] EMIT CHANGES", "EMIT CHANGES"),
        ("SELECT a.x FROM t [RANGE 2 SECONDS] AS a JOIN t [RANGE 2 SECONDS] AS b ON a.k = b.k", "joins are not"),
        ("SELECT SUM(x) AS s FROM t [RANGE 2 SECONDS SLIDE 1 SECOND] JOIN zones ON t.k = zones.k", "joins are not"),
        ("SELECT DISTINCT k FROM t [RANGE 2 SECONDS]", "DISTINCT"),
        ("SELECT k, x FROM t [RANGE 2 SECONDS SLIDE 1 SECOND]", "rows of windows"),
        ("SELECT COUNT(*) AS n FROM t [RANGE 2 SECONDS]", "windows without SLIDE"),
        ("SELECT MAX(x) AS sampled FROM t [RANGE 2 SECONDS SLIDE 1 SECOND]", "a column 'sampled'"),
    ],
)
def test_what_cannot_be_answered_from_a_share_is_refused_by_name(text: str, what: str):
    zones = {"zones": pa.table({"k": [1, 2], "zone": ["a", "b"]})}
    windrow.replay(text, t=ticks(100), tables=zones)
    with pytest.raises(QueryError, match=what) as refused:
        windrow.replay(text, t=ticks(100), tables=zones, shares=0.5)
    assert refused.value.code == "QUERY"


def test_streams_that_shed_are_written_and_read():
    text = "CREATE STREAM s (ts TIMESTAMP) USING parquet OPTIONS (path 'p'){} SHED ABOVE 10 SECONDS DELAY"
    for timing in ("", " TIMESTAMP BY ts LATENESS 2 SECONDS"):
        (statement,) = parse_script(text.format(timing))
        assert statement.shed_us == 10_000_000
        assert parse_script(to_sql(statement)) == (statement,)


@pytest.mark.parametrize(
    "wrong", ["SHED", "SHED ABOVE", "SHED ABOVE DELAY", "SHED 10 SECONDS", "SHED ABOVE 10 SECONDS"]
)
def test_shedding_without_a_delay_is_refused_with_the_way_out(wrong: str):
    with pytest.raises(QueryError) as refused:
        parse_script(f"CREATE STREAM s (ts TIMESTAMP) USING parquet OPTIONS (path 'p') TIMESTAMP BY ts {wrong}")
    assert refused.value.code == "QUERY" and "SECONDS" in str(refused.value.hint)


@pytest.mark.parametrize("shares", [0, 0.3, 2, [1, 0.4], [], 1 / 2048])
def test_shares_that_cannot_be_taken_are_refused(shares: object):
    with pytest.raises(SettingsError, match="shares"):
        windrow.replay("SELECT COUNT(*) AS n FROM t [RANGE 2 SECONDS SLIDE 1 SECOND]", t=ticks(10), shares=shares)


def test_shedding_goes_with_neither_duplicates_nor_corrections():
    text = "SELECT COUNT(*) AS n FROM t [RANGE 2 SECONDS SLIDE 1 SECOND]"
    for other in ({"correct_for": "1 minute"}, {"deduplicate": {"t": ("k", "1 hour")}}):
        with pytest.raises(SettingsError, match="sheds rows"):
            windrow.replay(text, t=ticks(10), shares=1, **other)
