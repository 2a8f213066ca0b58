"""Times of years before 1 and after 9999 are rejected with a cause of their own, and windows that reach beyond are right."""

from __future__ import annotations

from datetime import UTC, date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from runtime.core import Core, events_of, plan_of
from runtime.core import rows_of as core_rows
from windrow.local.event_times import microseconds

from .compare import Case, Watched, agree, expected, like, query, rows_of
from .judge import FIRST_TIME, LAST_TIME, TIME, Oracle, Window, plain_rows
from .streams import DAY, SECOND, Stream, streams

COLUMNS = {"k": (pa.string(), st.sampled_from([None, "x", "y"])), "i": (pa.int64(), st.integers(-9, 9))}
CASES = [like("COUNT(*)"), Case("SUM(i)", "sum(i)::BIGINT"), like("MAX(i)")]
YEAR_200000, YEAR_144169_BEFORE = 6_249_200_000_000 * SECOND, -4_611_686_018_427 * SECOND
FAR = [YEAR_200000, -YEAR_200000, YEAR_144169_BEFORE, 2**63 - 1, -(2**63), LAST_TIME + 1, FIRST_TIME - 1]
YEARS = 365 * DAY


def last_day(times: list[int | None], sizes: list[int]) -> Stream:
    return Stream({"i": (pa.int64(), list(range(len(times))))}, times, sizes, Window(2 * DAY, DAY), 0)


@settings(max_examples=examples(40), deadline=None)
@given(streams(COLUMNS, impossible=True))
@example(last_day([LAST_TIME - 2 * DAY, LAST_TIME, LAST_TIME + 1, LAST_TIME - 1], [1, 2, 1]))
@example(last_day([FIRST_TIME - 1, FIRST_TIME, FIRST_TIME + DAY], [1, 1, 1]))
def test_around_the_first_and_the_last_year_every_window_that_can_be_shown_is_right(stream):
    events, verdict = stream.events, stream.judged()
    replay = Watched(query(CASES, stream), lateness=stream.lateness, ticks=events)
    oracle, due = Oracle(events, verdict.kept), verdict.ends(stream.window, stream.times, flush=True)
    for batch, (start, size) in enumerate(stream.bounds):
        mine = rows_of(replay.step(events.slice(start, size)))
        counted = (replay.outcome.late, replay.outcome.untimed, replay.outcome.impossible)
        assert counted == (verdict.late[batch], verdict.untimed[batch], verdict.impossible[batch])
        assert replay.shard.clock == verdict.clocks[batch]
        agree(CASES, mine, expected(oracle, CASES, stream, due[batch]), (), stream.window.range_us)
    flushed = rows_of(replay.flush())
    agree(CASES, flushed, expected(oracle, CASES, stream, due[-1]), (), stream.window.range_us)


QUERIES = [
    "SELECT k, COUNT(*) AS n FROM a [RANGE 10 SECONDS SLIDE 4 SECONDS] GROUP BY k",
    "SELECT MEDIAN(x) AS m FROM a [RANGE 10 SECONDS SLIDE 4 SECONDS EMIT EVERY 1 SECOND]",
    "SELECT COUNT(*) AS n FROM a [RANGE UNBOUNDED SLIDE 4 SECONDS]",
    "SELECT COUNT(*) AS n FROM a [RANGES 20 SECONDS, 5 SECONDS SLIDES 10 SECONDS, 5 SECONDS]",
    "SELECT k, COUNT(*) AS n FROM a [RANGE 10 SECONDS SLIDE 4 SECONDS] GROUP BY k EMIT CHANGES",
    "SELECT CAST(ts AS STRING) AS d, COUNT(*) AS n FROM a [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY CAST(ts AS STRING)",
    "SELECT SUM(x) AS s FROM a [ROWS 3 SLIDE 2]",
    "SELECT SUM(x) AS s FROM a [RANGE 5 SECONDS SLIDE 2 ROWS]",
    "SELECT SUM(x) AS s FROM a [PARTITION BY k ROWS 3 SLIDE 3 SECONDS]",
    "SELECT COUNT(*) AS n FROM a [PARTITION BY k FROM x > 2 UNTIL x > 6]",
    "SELECT COUNT(*) AS n FROM a [RANGE 5 SECONDS]",
    "SELECT DISTINCT k FROM a [RANGE 5 SECONDS SLIDE 5 SECONDS]",
    "SELECT a.x, b.x AS y FROM a [RANGE 5 SECONDS], b [RANGE 7 SECONDS] WHERE a.k = b.k",
    "SELECT k FROM a [RANGE 5 SECONDS] MINUS SELECT k FROM b [RANGE 2 SECONDS]",
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("text", QUERIES)
def test_an_event_of_an_impossible_year_changes_nothing_in_its_batch_or_later(text):
    random = np.random.default_rng(5)

    def table(far: bool) -> pa.Table:
        times = [SECOND * second for second in (1, 2, 4, 5, 9, 11, 12, 18, 21, 33)]
        rows = [(time, "xy"[n % 2], n) for n, time in enumerate(times)]
        if far:
            for time in FAR:
                rows.insert(int(random.integers(len(rows))), (time, "x", 100))
        columns = list(zip(*rows))
        return pa.table({"ts": pa.array(columns[0], pa.int64()).cast(TIME), "k": columns[1], "x": columns[2]})

    def answers(far: bool, **settings) -> list[dict]:
        streams = {"a": table(far)} | ({"b": table(far)} if " b " in text else {})
        return plain_rows(windrow.replay(text, **streams, **settings))

    plain = answers(False, batch_rows=1, flush=True)
    assert plain
    far = answers(True, batch_rows=1, flush=True)
    if " b " in text:  # in which order the rows of two streams are told depends on how far each is in a batch
        plain, far = sorted(plain, key=repr), sorted(far, key=repr)
    assert far == plain
    assert answers(True, flush=True) == answers(False, flush=True)


def test_a_far_event_survives_a_restart_and_is_kept_without_its_time():
    schema = events_of([], x=pa.array([], pa.int64())).schema
    plan = plan_of(["SELECT SUM(x) AS s FROM ticks [RANGE 2 SECONDS SLIDE 1 SECOND]"], schema)
    core = Core(plan, reopen="fresh", shards=2)
    sums, impossible = [], 0
    for time in [SECOND, YEAR_200000, 3 * SECOND, YEAR_144169_BEFORE, 5 * SECOND]:
        outcomes = core.step(events_of([time], x=[time % 7]))
        impossible += sum(outcome.impossible for outcome in outcomes)
        sums += [row["agg_0"] for row in core_rows(outcomes)]
    assert (impossible, [shard.clock for shard in core.shards]) == (2, [5 * SECOND] * 2)
    assert sums == [SECOND % 7, SECOND % 7, 3 * SECOND % 7, 3 * SECOND % 7]


@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        (pa.array([-1, 1_999, None], pa.timestamp("ns", tz="UTC")), [-1, 1, None]),
        (pa.array([-1_500, 2**63 - 1], pa.timestamp("ns")), [-2, (2**63 - 1) // 1000]),
        (pa.array([5, 2**62, -(2**62)], pa.timestamp("s")), [5 * SECOND, LAST_TIME + 1, FIRST_TIME - 1]),
        (pa.array([5, 2**60], pa.timestamp("ms", tz="UTC")), [5_000, LAST_TIME + 1]),
        (pa.array([date(1970, 1, 2), date(9999, 12, 31)], pa.date32()), [DAY, LAST_TIME + 1 - DAY]),
        (pa.array([2**31 - 1, -(2**31)], pa.int32()).cast(pa.date32()), [LAST_TIME + 1, FIRST_TIME - 1]),
        (pa.array([date(1, 1, 1)], pa.date64()), [FIRST_TIME]),
    ],
    ids=str,
)
def test_times_of_every_type_are_whole_microseconds_or_just_outside_of_all_years(column, wanted):
    assert microseconds(pa.chunked_array([column]), "ts").to_pylist() == wanted


def test_a_window_that_begins_before_the_year_1_has_no_start_and_one_that_ends_after_9999_no_answer():
    times = [datetime(1, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)]
    events = pa.table({"ts": times})
    weeks = 5_000 * YEARS // (7 * DAY)
    text = f"SELECT COUNT(*) AS n FROM e [RANGE {weeks} WEEKS SLIDE {weeks // 5} WEEKS]"
    rows = windrow.replay(text, e=events, flush=True).to_pylist()
    assert [(row["window_start"] is None, row["n"]) for row in rows] == [
        *[(True, 1)] * 3, (True, 2), (True, 2), (False, 1), (False, 1), (False, 1)
    ]  # fmt: skip
    for row in rows:
        low = row["window_start"] or times[0]
        assert row["n"] == sum(low <= time < row["window_end"] for time in times)
    early = f"SELECT COUNT(*) AS n FROM e [RANGE UNBOUNDED SLIDE {9_500 * YEARS // DAY} DAYS EMIT EVERY 365000 DAYS]"
    assert {row["window_end"].year for row in windrow.replay(early, e=events).to_pylist()} == {1970}


def test_slides_of_a_join_at_which_there_is_nothing_cost_nothing():
    """Two thousand years of slides of a second."""
    seconds = pa.array([FIRST_TIME // SECOND, 0, LAST_TIME // SECOND], pa.timestamp("s", tz="UTC"))
    events = pa.table({"ts": seconds, "k": ["x", "x", "x"]})
    rows = windrow.replay("SELECT DISTINCT k FROM e [RANGE 2 SECONDS SLIDE 1 SECOND]", e=events, flush=True)
    ends = rows["window_end"].cast(pa.int64()).to_pylist()
    first = FIRST_TIME + SECOND
    assert ends == [first, first + SECOND, SECOND, 2 * SECOND]
