"""The rows of a window, asked for without an aggregate: those of the definition, in their order, with DuckDB's values."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from runtime.core import Core, plan_of, rows_of

from .judge_rows import RowsOracle, judged
from .judge_sessions import SessionsOracle
from .streams import Stream, streams
from .test_rows import COLUMNS, KINDS, assert_same, keys_of, row_windows_of, ways

SELECTED = "i + 1 AS j, k, d"
COLLECTED = "list(struct_pack(item_0 := i + 1, item_1 := k, item_2 := d) ORDER BY t, seq) AS items"


def check(stream: Stream, window: str, theirs: list[list[dict]], where: str, how: dict) -> None:
    """The rows that each batch tells: `theirs` has the items of each window together."""
    text = f"SELECT {SELECTED} FROM ticks {window} WHERE {where}"
    core = Core(plan_of([text], stream.events.schema, stream.lateness_us), reopen=how["reopen"], shards=how["shards"])
    outcomes = [core.step(stream.events.slice(start, size), how["tasks"]) for start, size in stream.bounds]
    for outcome, told in zip([*outcomes, core.flush()], theirs, strict=True):
        mine = [{name: value for name, value in row.items() if name != "due"} for row in rows_of(outcome)]
        for row in mine:
            row.pop("key_0", None)
        wanted = [
            {name: value for name, value in row.items() if name != "items"} | item
            for row in told
            for item in row["items"]
        ]
        assert_same(mine, wanted, [0.0] * len(wanted[0]) if wanted else [])


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(20), deadline=None)
@given(data=st.data())
def test_rows_of_windows_that_count_rows(kind, data):
    stream = data.draw(streams(COLUMNS, unbounded="never"))
    partition = data.draw(st.sampled_from([(), ("k",)]))
    window = data.draw(row_windows_of(stream, kind, partition))
    where = data.draw(st.sampled_from(["true", "i > 0", "k = 'x' OR d < 0"]))
    due = judged(window, stream, [True] * len(stream.times), keys_of(stream, partition))
    oracle = RowsOracle(stream.events)
    check(
        stream, str(window), [oracle.answers(windows, COLLECTED, (), where) for windows in due], where, data.draw(ways)
    )


@settings(max_examples=examples(20), deadline=None)
@given(data=st.data())
def test_rows_of_sessions(data):
    stream = data.draw(streams(COLUMNS, unbounded="never"))
    partition = data.draw(st.sampled_from([(), ("k",)]))
    gap = data.draw(st.integers(1, 12)) * stream.window.slide_us
    where = data.draw(st.sampled_from(["true", "i > 0", "k = 'x' OR d < 0"]))
    theirs = list(SessionsOracle(stream, gap, partition).answers(COLLECTED, (), where))
    by = f"PARTITION BY {', '.join(partition)} " if partition else ""
    check(stream, f"[{by}SESSION {gap} MICROSECONDS]", theirs, where, data.draw(ways))


TICKS = pa.table(
    {
        "ts": pa.array([1, 3, 4, 5, 20, 41, 60], pa.timestamp("s", tz="UTC")),
        "k": ["a", "b", "b", "a", "a", "b", "b"],
        "x": [1, 2, 3, 4, 5, 6, 7],
    }
)


def test_rows_of_a_level_are_those_of_its_window():
    nested = "[RANGES 20 SECONDS, 5 SECONDS SLIDES 10 SECONDS, 5 SECONDS]"
    for level, window in enumerate(["[RANGE 5 SECONDS SLIDE 5 SECONDS]", "[RANGE 20 SECONDS SLIDE 10 SECONDS]"]):
        text = f"SELECT k, x * 2 AS y FROM ticks {nested} WHERE x > 1 AND level = {level}"
        mine = windrow.replay(text, ticks=TICKS, flush=True, batch_rows=2).to_pylist()
        alone = windrow.replay(f"SELECT k, x * 2 AS y FROM ticks {window} WHERE x > 1", ticks=TICKS, flush=True)
        assert len(mine) > 5
        assert sorted(map(str, ({n: v for n, v in row.items() if n != "level"} for row in mine))) == sorted(
            map(str, alone.to_pylist())
        )


def test_rows_are_ordered_and_limited_within_each_window_and_chosen_from_outside():
    top = "SELECT k, x FROM ticks [PARTITION BY k ROWS 3 SLIDE 2] ORDER BY x DESC LIMIT 1"
    assert windrow.replay(top, ticks=TICKS, flush=True)["x"].to_pylist() == [4, 3, 7]
    outside = "SELECT y, window_row FROM (SELECT x + 1 AS y FROM ticks [ROWS 3 SLIDE 3]) AS q WHERE y > 4"
    assert windrow.replay(outside, ticks=TICKS, flush=True)["y"].to_pylist() == [5, 6, 7]


def test_all_columns_of_rows_while_a_window_fills():
    text = "SELECT * FROM ticks [RANGE 10 SECONDS SLIDE 10 SECONDS EMIT EVERY 5 SECONDS] WHERE k = 'b'"
    rows = windrow.replay(text, ticks=TICKS.slice(0, 5)).to_pylist()
    assert [(row["final"], row["x"]) for row in rows] == [(False, 2), (False, 3), (True, 2), (True, 3)]
    assert rows[0]["ts"].second == 3


def test_rows_of_windows_are_events_of_a_stream():
    text = "SELECT COUNT(*) AS n FROM (SELECT x FROM ticks [ROWS 2 SLIDE 2]) AS q [RANGE 1 MINUTE SLIDE 1 MINUTE]"
    assert windrow.replay(text, ticks=TICKS, flush=True)["n"].to_pylist() == [6]
