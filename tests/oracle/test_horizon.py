"""Any horizon of nested levels, whenever it is asked for: DuckDB's values over exactly the stretch that is answered for."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from runtime.core import Core, plan_of
from windrow.errors import QueryError, SettingsError, StateError
from windrow.local.replay import Replay
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.windows.horizon import Horizon
from windrow.runtime.shard import Shard
from windrow.runtime.time.state_at import state_at

from .compare import Case, agree, expected, rows_of
from .judge import TIME, Oracle, Window
from .streams import Stream, streams
from .test_aggregates import CASES, COLUMNS
from .test_levels import nested


def nested_sql(windows: list[Window]) -> str:
    ranges, slides = (
        ", ".join(f"{length} MICROSECONDS" for length in lengths)
        for lengths in zip(*((window.range_us, window.slide_us) for window in reversed(windows)))
    )
    return f"[RANGES {ranges} SLIDES {slides}]"


@settings(max_examples=examples(15), deadline=None)
@given(
    st.lists(st.sampled_from(CASES), min_size=1, max_size=4, unique=True),
    streams(COLUMNS, max_rows=25, unbounded="never"),
    nested(),
    st.sampled_from([(), ("k",)]),
    st.data(),
)
def test_any_horizon_equals_the_oracle(cases: list[Case], stream: Stream, pairs: list[tuple[int, int]], keys, data):
    unit = stream.window.slide_us
    windows = [Window(reach * unit, slide * unit) for reach, slide in pairs]
    selected = ", ".join([*keys, *(f"{case.asked} AS a{i}" for i, case in enumerate(cases))])
    text = f"SELECT {selected} FROM ticks {nested_sql(windows)}" + (f" GROUP BY {', '.join(keys)}" if keys else "")
    events = stream.events
    verdicts = [replace(stream, window=window).judged() for window in windows]
    verdict = verdicts[0]
    oracle = Oracle(events, sorted({row for own in verdicts for row in own.kept}))  # what some level took is in it
    replay = Replay(text, lateness=stream.lateness, ticks=events)
    for (start, size), clock in zip(stream.bounds, verdict.clocks):
        replay.step(events.slice(start, size))
        length = data.draw(st.integers(1, windows[-1].range_us))
        if clock is None:
            with pytest.raises(StateError, match="no event yet"):
                replay.state_at(f"{length} microseconds")
            continue
        state = replay.state_at(f"{length} microseconds")
        newest = max(time for time in stream.times[: start + size] if time is not None)
        end = min(*((clock // w.slide_us + 1) * w.slide_us for w in windows), max(newest, clock) + 1)
        assert state.end_us == end > clock
        level = min(i for i, w in enumerate(windows) if w.range_us >= length)
        assert state.start_us == max((clock + 1 - length) // w.slide_us * w.slide_us for w in windows[level:])
        over = replace(stream, window=Window(end - state.start_us, 1))
        mine = rows_of([state.rows])
        assert all(row["level"] == level for row in mine)
        theirs = expected(oracle, cases, over, {end}, keys, f"seq < {start + size}")
        agree(cases, mine, theirs, keys, end - state.start_us)


@settings(max_examples=examples(12), deadline=None)
@given(streams({"k": COLUMNS["k"], "i": COLUMNS["i"]}, max_rows=25, unbounded="never"), nested(), st.data())
def test_a_horizon_is_the_same_beside_other_windows_in_several_shards_and_after_a_restart(stream, pairs, data):
    unit, length = stream.window.slide_us, data.draw(st.integers(1, pairs[-1][0] * stream.window.slide_us))
    windows = [Window(reach * unit, slide * unit) for reach, slide in pairs]
    text = f"SELECT k, COUNT(*) AS n, MAX(i) AS high FROM ticks {nested_sql(windows)} GROUP BY k"
    beside = f"SELECT k, SUM(i) AS total FROM ticks {stream.window} GROUP BY k"
    events = stream.events
    core = Core(plan_of([text, beside], events.schema, stream.lateness_us), shards=2)
    replay = Replay(text, lateness=stream.lateness, ticks=events)
    for start, size in stream.bounds:
        core.step(events.slice(start, size))
        replay.step(events.slice(start, size))
        if replay.shard.clock is None:
            continue
        alone = replay.state_at(f"{length} microseconds")
        opened = [Shard(StagePlan.of(core.plan), *saved) for saved in zip(core.blocks, core.snapshots)]
        for shards in (core.shards, opened):
            state = state_at(
                [shard.streams["ticks"] for shard in shards], Horizon.of(core.plan.queries[0], f"{length} microseconds")
            )
            assert (state.start_us, state.end_us) == (alone.start_us, alone.end_us)
            names = alone.rows.column_names
            mine = pa.Table.from_batches(state.rows).rename_columns(names)
            assert sorted(map(repr, rows_of([mine]))) == sorted(map(repr, rows_of([alone.rows])))


def ticks(seconds: range) -> pa.Table:
    times = pa.array([second * 10**6 for second in seconds], pa.int64()).cast(TIME)
    return pa.table({"ts": times, "x": pa.array(seconds, pa.int64())})


LEVELS = "[RANGES 60 SECONDS, 10 SECONDS SLIDES 20 SECONDS, 2 SECONDS]"


def test_the_whole_of_the_widest_level_is_there_at_any_time():
    events = ticks(range(120))
    replay = Replay(f"SELECT COUNT(*) AS n, MIN(x) AS first FROM ticks {LEVELS}", ticks=events)
    for second in range(120):
        replay.step(events.slice(second, 1))
        state = replay.state_at("60 seconds")
        first = (second - 60) // 20 * 20
        assert (state.start_us, state.end_us) == (first * 10**6, second * 10**6 + 1)
        (row,) = state.rows.to_pylist()
        assert (row["n"], row["first"]) == (second + 1 - max(first, 0), max(first, 0))
        assert (row["window_start"], row["window_end"]) == (state.start, state.end)


def test_a_query_that_came_later_says_from_when_it_knows():
    events = ticks(range(100))
    count = "SELECT COUNT(*) AS n FROM ticks [RANGE 30 SECONDS SLIDE 10 SECONDS]"
    levels = f"SELECT COUNT(*) AS n FROM ticks {LEVELS}"
    core = Core(plan_of([count], events.schema))
    core.step(events.slice(0, 75))  # panes of ten seconds, kept from 50 on
    plan = plan_of([count, levels], events.schema)
    later = Core(plan, blocks=core.blocks)
    later.shards = [Shard(StagePlan.of(plan), core.blocks[0], core.snapshots[0])]
    later.step(events.slice(75, 25))
    for asked, start, n in (("60 seconds", 60, 40), ("26 seconds", 60, 40), ("10 seconds", 88, 12)):
        state = state_at([shard.streams["ticks"] for shard in later.shards], Horizon.of(plan.queries[1], asked))
        assert (state.start_us, state.end_us) == (start * 10**6, 99 * 10**6 + 1)
        assert state.rows[0].column("agg_0").to_pylist() == [n]


@pytest.mark.parametrize(
    ("query", "horizon", "message"),
    [
        (f"SELECT COUNT(*) AS n FROM ticks {LEVELS}", "61 seconds", "reaches back 1 MINUTE, and a horizon of '61 sec"),
        (f"SELECT COUNT(*) AS n FROM ticks {LEVELS}", "0 seconds", "longer than nothing"),
        ("SELECT COUNT(*) AS n FROM ticks [RANGE 4 SECONDS SLIDE 2 SECONDS]", "1 second", "only a query with levels"),
        ("SELECT COUNT(*) AS n FROM ticks [ROWS 20, 4 SLIDES 4, 2]", "1 second", "only a query with levels in time"),
        (f"SELECT COUNT(*) AS n FROM ticks {LEVELS[:-1]} AGING (1, 0.5)]", "1 second", "AGING is of whole levels"),
        (
            f"SELECT COUNT(*) AS n FROM ticks {LEVELS} GROUP BY x HAVING RECURRING(x)",
            "1 second",
            "RECURRING is of whole levels",
        ),
    ],
)
def test_a_horizon_that_cannot_be_answered_says_why(query, horizon, message):
    with pytest.raises(SettingsError, match=message):
        Replay(query, ticks=ticks(range(9))).state_at(horizon)


def test_a_horizon_is_a_length_of_time():
    with pytest.raises(QueryError, match="unknown unit of time 'lightyears'"):
        Replay(f"SELECT COUNT(*) AS n FROM ticks {LEVELS}", ticks=ticks(range(9))).state_at("2 lightyears")


def at_halves(*halves: int) -> pa.Table:
    return pa.table({"ts": pa.array([half * 500_000 for half in halves], pa.int64()).cast(TIME)})


def test_a_horizon_ends_at_the_clock():
    """The last three seconds, where the finest level last slid four and a half seconds ago."""
    text = "SELECT COUNT(*) AS n FROM ticks [RANGES 60 SECONDS, 10 SECONDS SLIDES 20 SECONDS, 5 SECONDS]"
    events = at_halves(*range(190))  # the clock stands at 94.5
    replay = Replay(text, ticks=events)
    replay.run()
    for asked, start, n in (
        ("3 seconds", 90, 10),
        ("4.5 seconds", 90, 10),
        ("5 seconds", 85, 20),
        ("1 minute", 20, 150),
    ):
        state = replay.state_at(asked)
        assert (state.start_us, state.end_us) == (start * 10**6, 94_500_001)
        assert state.rows["n"].to_pylist() == [n]


def test_with_lateness_a_horizon_has_what_its_last_granule_has_and_says_so():
    text = "SELECT COUNT(*) AS n FROM ticks [RANGES 60 SECONDS, 10 SECONDS SLIDES 20 SECONDS, 5 SECONDS]"
    for lateness, start, end, n in (("2 seconds", 85, 94_500_001, 20), ("7 seconds", 80, 90_000_000, 20)):
        replay = Replay(text, ticks=at_halves(*range(190)), lateness=lateness)
        replay.run()
        state = replay.state_at("5 seconds")  # back from 92.5, and from 87.5
        assert (state.start_us, state.end_us) == (start * 10**6, end)
        assert state.rows["n"].to_pylist() == [n]
