"""How much is sent of what changes: at a pace, when a condition begins to hold, and of an aggregate of nothing."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import QueryError
from windrow.local.replay import Replay
from windrow.runtime.shard import Shard

from .compare import rows_of
from .judge import TIME, cursor

RANGE, KEYS = 5, st.sampled_from(["x", "y", None])
EVENTS = st.lists(st.tuples(st.integers(0, 40), KEYS, st.integers(-3, 9)), min_size=1, max_size=30)


def answers(events: list[tuple], query: str) -> dict[int, list[tuple]]:
    """What DuckDB answers over the events of the window at each instant from the first event on, and a while after."""
    db = cursor()
    times, keys, values = (list(column) for column in zip(*events))
    db.register("given", pa.table({"t": times, "k": pa.array(keys, pa.string()), "x": values}))
    found = {}
    for instant in range(min(times), max(times) + 60):
        db.execute(
            f"CREATE OR REPLACE TEMP VIEW e AS SELECT * FROM given WHERE t <= {instant} AND t > {instant - RANGE}"
        )
        found[instant] = db.sql(query).fetchall()
    return found


def told(text: str, events: list[tuple], batch: int, reopens: bool) -> list[tuple]:
    """Operation, time and row of all that is sent, also where the shard is opened anew after each batch."""
    times, keys, values = (list(column) for column in zip(*sorted(events, key=lambda event: event[0])))
    columns = {"k": pa.array(keys, pa.string()), "x": values}
    table = pa.table({"ts": pa.array(times, pa.int64()).cast(TIME)} | columns)
    replay = Replay(text, e=table)
    rows = []
    for start in range(0, table.num_rows, batch):
        rows += rows_of(replay.step(table.slice(start, batch)))
        if reopens:
            replay.shard = Shard(replay.plan, replay.blocks, replay.shard.save())
    for outcome in replay._outcomes([], None, [], flush=True):
        rows += rows_of(replay._finished(outcome))
    return [(row.pop("op"), row.pop("time"), tuple(row.values())) for row in rows]


def at(changes: list[tuple], instant: int) -> list[tuple]:
    there: Counter = Counter()
    for op, time, row in changes:
        if time <= instant:
            there[row] += 1 if op == "+" else -1
    assert all(count >= 0 for count in there.values())
    return sorted(there.elements(), key=repr)


@settings(max_examples=examples(40), deadline=None)
@given(EVENTS, st.integers(1, 9), st.booleans(), st.integers(2, 12))
def test_the_last_of_every_period_is_the_answer_at_its_end(events, batch, reopens, every):
    text = f"SELECT k, SUM(x) AS s FROM e [RANGE {RANGE} MICROSECONDS] GROUP BY k EMIT LAST EVERY {every} MICROSECONDS"
    changes = told(text, events, batch, reopens)
    assert all(time % every == 0 for _, time, _ in changes)
    places = [(time, row) for _, time, row in changes]
    assert len(places) == len(set(places)), "what came and went in a period is not told"
    for instant, rows in answers(events, "SELECT k, sum(x)::BIGINT FROM e GROUP BY k").items():
        if instant % every == 0:
            assert at(changes, instant) == sorted(rows, key=repr)


@settings(max_examples=examples(40), deadline=None)
@given(EVENTS, st.integers(1, 9), st.booleans(), st.tuples(st.integers(1, 4), st.integers(1, 4)), st.booleans())
def test_the_last_of_every_period_of_windows_that_slide_is_the_answer_of_the_one_that_ends_there(
    events, batch, reopens, slides, distinct
):
    slide, every = slides[0], slides[0] * slides[1]
    window = f"[RANGE {RANGE} MICROSECONDS SLIDE {slide} MICROSECONDS OFFSET {3 * slide} MICROSECONDS]"
    asked = f"SELECT DISTINCT k FROM e {window}" if distinct else f"SELECT k, SUM(x) AS s FROM e {window} GROUP BY k"
    changes = told(f"{asked} EMIT LAST EVERY {every} MICROSECONDS", events, batch, reopens)
    assert all(time % every == 0 for _, time, _ in changes)
    theirs = "SELECT DISTINCT k FROM e" if distinct else "SELECT k, sum(x)::BIGINT FROM e GROUP BY k"
    for instant, rows in answers(events, theirs).items():
        end = instant + 1
        if end % every == 0 and end <= max(time for time, *_ in events):
            assert at(changes, end) == sorted(rows, key=repr)


@settings(max_examples=examples(40), deadline=None)
@given(EVENTS, st.integers(1, 9), st.booleans(), st.integers(1, 4), st.sampled_from(["k", "nothing"]))
def test_a_group_is_told_when_its_condition_begins_and_again_only_after_it_did_not(events, batch, reopens, most, by):
    shown, group = ("k, ", " GROUP BY k") if by == "k" else ("", "")
    text = (
        f"SELECT {shown}COUNT(*) AS n FROM e [RANGE {RANGE} MICROSECONDS]{group} EMIT WHEN n >= {most} AND SUM(x) > 0"
    )
    wanted, held = [], set()
    asked = f"SELECT {shown}count(*), coalesce(sum(x) > 0, false) FROM e{group}"
    for instant, rows in answers(events, asked).items():
        now = {row[:-2]: row[:-1] for row in rows if row[-2] >= most and row[-1]}
        wanted += [("+", instant, row) for key, row in now.items() if key not in held]
        held = set(now)
    assert sorted(told(text, events, batch, reopens), key=repr) == sorted(wanted, key=repr)


@settings(max_examples=examples(40), deadline=None)
@given(EVENTS, st.integers(1, 9), st.booleans())
def test_an_aggregate_of_nothing_has_a_row_where_that_is_asked_for(events, batch, reopens):
    select = "SELECT COUNT(*) AS n, SUM(x) AS s, MAX(k) AS m FROM e"
    changes = told(f"{select} [RANGE {RANGE} MICROSECONDS] EMIT CHANGES WITH EMPTY", events, batch, reopens)
    for instant, rows in answers(events, "SELECT count(*), sum(x)::BIGINT, max(k) FROM e").items():
        assert at(changes, instant) == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT k, COUNT(*) AS n FROM e [RANGE 5 SECONDS] GROUP BY k EMIT CHANGES WITH EMPTY", "kept for ever"),
        ("SELECT k FROM e [RANGE 5 SECONDS] EMIT CHANGES WITH EMPTY", "an aggregate of all rows"),
        ("SELECT k FROM e [RANGE 5 SECONDS] EMIT WHEN x > 2", "asked of groups"),
        ("SELECT COUNT(*) AS n FROM e [RANGE 5 SECONDS] EMIT WHEN COUNT(*)", "needs a condition"),
        ("SELECT COUNT(*) AS n FROM e [RANGE 5 SECONDS SLIDE 2 SECONDS] EMIT LAST EVERY 9 SECONDS", "do not end at"),
        ("SELECT COUNT(*) AS n FROM e [RANGE 5 SECONDS] EMIT LAST EVERY 0 SECONDS", "must be positive"),
        ("SELECT COUNT(*) AS n FROM e [RANGE 5 SECONDS] EMIT LAST", "expected EVERY after EMIT LAST"),
        ("SELECT COUNT(*) AS n FROM e [RANGE 5 SECONDS] EMIT WHEN", "expected a condition"),
    ],
)
def test_what_cannot_be_sent_so_says_why(text, message):
    events = pa.table({"ts": pa.array([0], pa.int64()).cast(TIME), "k": ["a"], "x": [1]})
    with pytest.raises(QueryError, match=message):
        windrow.replay(text, e=events)
