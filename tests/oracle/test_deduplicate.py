"""DEDUPLICATE BY: queries see an event if no other with its id happened less than so long before it, and no other event."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import QueryError, SettingsError
from windrow.language import parse_script, to_sql
from windrow.local.replay import Replay
from windrow.runtime.payload import FLUSH, Payload
from windrow.runtime.shard import Shard

from .judge import TIME, plain_rows

WITHIN, LATENESS = 10, 4
QUERIES = (
    "SELECT k, COUNT(*) AS n, SUM(x) AS s FROM e [RANGE 6 MICROSECONDS SLIDE 3 MICROSECONDS] GROUP BY k",
    "SELECT COUNT(*) AS n, MAX(id) AS m FROM e [RANGE 20 MICROSECONDS SLIDE 5 MICROSECONDS] WHERE x > 1",
    "SELECT COUNT(*) AS n, SUM(x) AS s FROM e [ROWS 3 SLIDE 1]",
    "SELECT k, COUNT(*) AS n FROM e [PARTITION BY k SESSION 4 MICROSECONDS]",
    "SELECT * FROM e [RANGE 5 MICROSECONDS SLIDE 5 MICROSECONDS]",
    "SELECT k, x FROM e [RANGE 5 MICROSECONDS]",
    "SELECT a.x, b.k FROM e [RANGE 5 MICROSECONDS] AS a JOIN e [RANGE 3 MICROSECONDS] AS b ON a.k = b.k",
)


def some_events(chance: random.Random) -> pa.Table:
    times = sorted(
        (chance.randint(0, 60) for _ in range(chance.randint(1, 40))), key=lambda at: at + LATENESS * chance.random()
    )
    return pa.table(
        {
            "ts": pa.array(times, pa.int64()).cast(TIME),
            "id": pa.array([chance.choice([1, 2, 3, 4, 5, None]) for _ in times], pa.int64()),
            "k": [chance.choice("ab") for _ in times],
            "x": [chance.randint(0, 3) for _ in times],
        }
    )


def unique(events: pa.Table) -> pa.Table:
    """The events that count, by the definition; those of one instant in the order in which they came."""
    times, ids = events["ts"].cast(pa.int64()).to_pylist(), events["id"].to_pylist()
    last: dict[object, int] = {}
    kept = []
    for place in sorted(range(len(times)), key=lambda place: (times[place], place)):
        if ids[place] not in last or times[place] - last[ids[place]] >= WITHIN:
            kept.append(place)
        last[ids[place]] = times[place]
    return events.take(pa.array(sorted(kept)))


def answers(query: str, events: pa.Table, batch_rows: int | None, restarts: bool, **settings: object):
    replay = Replay(query, lateness=f"{LATENESS} microseconds", e=events, **settings)
    rows, left_out = [], 0
    for batch in [*replay.batches(batch_rows), None]:
        outcome = (
            replay._outcome([Payload(0, 0, 0, None, FLUSH, b"")])
            if batch is None
            else replay._outcome(replay._sliced(batch, None))
        )
        left_out += outcome.duplicates
        rows += [row for table in replay._finished(outcome) for row in plain_rows(table)]
        if restarts:
            replay.shard = Shard(replay.plan, replay.blocks, replay.shard.save())
    return rows, left_out, replay


@pytest.mark.one_in(3)
@pytest.mark.parametrize("query", QUERIES)
@given(st.integers(0, 2**32))
@settings(max_examples=examples(12), deadline=None)
def test_a_query_answers_as_over_the_events_without_duplicates(query, seed):
    chance = random.Random(seed)
    events = some_events(chance)
    batch_rows, restarts = chance.choice([None, 1, 4]), chance.random() < 0.4
    dedup = {"e": ("id", f"{WITHIN} microseconds")}
    mine, left_out, _ = answers(query, events, batch_rows, restarts, deduplicate=dedup)
    theirs, _, _ = answers(query, unique(events), None, False)
    assert sorted(map(repr, mine)) == sorted(map(repr, theirs))
    assert left_out == events.num_rows - unique(events).num_rows


def test_ids_are_forgotten_when_no_duplicate_can_come_any_more():
    """State is as large as the time within which a duplicate is known, however many ids there were."""
    times = list(range(0, 4_000))
    events = pa.table({"ts": pa.array(times, pa.int64()).cast(TIME), "id": times})
    query = "SELECT COUNT(*) AS n FROM e [RANGE 10 MICROSECONDS SLIDE 10 MICROSECONDS]"
    sizes = []
    replay = Replay(query, e=events, deduplicate={"e": ("id", "100 microseconds")})
    for batch in replay.batches(500):
        replay.step(batch)
        sizes.append(len(next(iter(replay.shard.streams["e"].spaces.values())).groups))
    assert max(sizes) <= 501


def test_a_statement_says_it_and_is_written_again_as_it_was_read():
    text = "CREATE STREAM s USING json OPTIONS (path 'x') TIMESTAMP BY ts DEDUPLICATE BY id, UPPER(k) WITHIN 1 HOUR"
    (statement,) = parse_script(text)
    assert statement.unique_us == 3_600_000_000 and len(statement.unique_by) == 2
    assert parse_script(to_sql(statement)) == (statement,)
    for wrong, said in {
        "DEDUPLICATE BY id": "WITHIN",
        "DEDUPLICATE BY WITHIN 1 HOUR": "expected",
        "DEDUPLICATE id": "BY",
    }.items():
        with pytest.raises(windrow.QueryError, match=said):
            parse_script(f"CREATE STREAM s USING json TIMESTAMP BY ts {wrong}")
    with pytest.raises(windrow.QueryError, match="DEDUPLICATE BY needs TIMESTAMP BY"):
        parse_script("CREATE STREAM s USING json DEDUPLICATE BY id WITHIN 1 HOUR")


def test_what_makes_no_sense_is_refused():
    events = pa.table({"ts": pa.array([1], TIME), "id": [1]})
    query = "SELECT COUNT(*) AS n FROM e [RANGE 1 SECOND SLIDE 1 SECOND]"
    for wrong, said in (
        ({"f": ("id", "1 hour")}, "which is no stream"),
        ({"e": ("id", "0 seconds")}, "no time in which a duplicate"),
        ({"e": ("", "1 hour")}, "go together"),
    ):
        with pytest.raises(SettingsError, match=said):
            windrow.replay(query, e=events, deduplicate=wrong)
    with pytest.raises(windrow.QueryError, match="unknown column 'idd'"):
        windrow.replay(query, e=events, deduplicate={"e": ("idd", "1 hour")})


def test_a_stream_without_duplicates_that_lacks_a_window_is_named_as_it_was_written():
    events = pa.table({"ts": pa.array([1], TIME), "id": [1]})
    with pytest.raises(QueryError, match="'e' is a stream and needs a window") as caught:
        windrow.replay("SELECT COUNT(*) AS n FROM e", e=events, deduplicate={"e": ("id", "1 hour")})
    assert caught.value.at == 26
