"""AGING and RECURRING over levels in rows: DuckDB's values over the rows that each level adds to the finer ones."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from runtime.core import Core, plan_of, rows_of
from windrow.errors import QueryError

from .judge import cursor, plain_rows
from .judge_rows import Answered, RowsWindow, judged
from .streams import streams
from .test_rows import COLUMNS, assert_same, keys_of, ways

ANSWERS = """sum(weight) AS agg_0, sum(weight * i) AS agg_1, sum(weight * i) / nullif(sum(weight) FILTER (i IS NOT NULL), 0)
             AS agg_2"""


def expected(
    windows: list[tuple[int, Answered]], reaches: list[int], weights: list[float], keys: tuple[str, ...], db
) -> list[dict]:
    """What each level holds alone is counted by its weight: `own` is the finest level that a row is in."""
    members = [
        (number, level, seq, next(own for own, reach in enumerate(reaches) if age < reach))
        for number, (level, window) in enumerate(windows)
        for age, seq in enumerate(reversed(window.members))
    ]
    columns = zip(*members) if members else [[]] * 4
    held = pa.table({name: pa.array(column, pa.int64()) for name, column in zip(("w", "level", "seq", "own"), columns)})
    weighed = [weights[own] for own in held["own"].to_pylist()]
    db.register("members", held.append_column("weight", pa.array(weighed, pa.float64())))
    named = "".join(f"{key} AS key_{i}, " for i, key in enumerate(keys))
    again = f", count(DISTINCT own) FILTER ({keys[-1]} IS NOT NULL) = any_value(level) + 1 AS agg_3" if keys else ""
    found = db.sql(
        f"SELECT w, {named}{ANSWERS}{again} FROM members JOIN events USING (seq) WHERE i > -5 OR i IS NULL GROUP BY {', '.join(('w', *keys))}"
    )
    rows = []
    for row in plain_rows(found.to_arrow_table()):
        level, window = windows[row.pop("w")]
        rows.append({"window_row": window.number, "level": level} | row)
    return rows


@pytest.mark.parametrize("partition", [(), ("k",)], ids=["all rows", "by key"])
@settings(max_examples=examples(12), deadline=None)
@given(data=st.data())
def test_rows_are_weighed_and_recur_by_what_each_level_holds_alone(partition, data):
    stream = data.draw(streams(COLUMNS, unbounded="never"))
    pairs, slide, reach = [], data.draw(st.integers(1, 2)), 0
    for _ in range(data.draw(st.integers(1, 3))):
        reach = slide * data.draw(st.integers(reach // slide + 1, reach // slide + 3))
        pairs.append((reach, slide))
        slide *= data.draw(st.integers(1, 3))
    weights = [data.draw(st.sampled_from([1.0, 0.5, 0.25, 2.0, 0.0])) for _ in pairs]
    group, how, events = data.draw(st.sampled_from([(), ("k",), ("g", "k")])), data.draw(ways), stream.events
    ranges, slides = (", ".join(map(str, reversed(lengths))) for lengths in zip(*pairs))
    keys = tuple(dict.fromkeys((*group, *partition)))
    again = f", RECURRING({keys[-1]}) AS again" if keys else ""
    text = f"SELECT COUNT(*) AS n, SUM(i) AS total, AVG(i) AS mean{again} FROM ticks "
    text += f"[{'PARTITION BY k ' if partition else ''}ROWS {ranges} SLIDES {slides}"
    text += f" AGING ({', '.join(map(str, weights))})] WHERE i > -5 OR i IS NULL"
    text += f" GROUP BY {', '.join(group)}" if group else ""
    core = Core(plan_of([text], events.schema, stream.lateness_us), reopen=how["reopen"], shards=how["shards"])
    every, counted_by = [True] * len(stream.times), keys_of(stream, partition)
    due = [judged(RowsWindow(rows=r, slide_rows=s), stream, every, counted_by) for r, s in pairs]
    db = cursor()
    db.register("given", events.append_column("seq", pa.array(range(events.num_rows), pa.int64())))
    db.execute("CREATE TEMP TABLE events AS SELECT * FROM given")
    outcomes = [core.step(events.slice(start, size), how["tasks"]) for start, size in stream.bounds] + [core.flush()]
    for outcome, *windows in zip(outcomes, *due, strict=True):
        mine = [{k: v for k, v in row.items() if k not in ("window_start", "window_end")} for row in rows_of(outcome)]
        answered = [(level, window) for level, own in enumerate(windows) for window in own]
        theirs = expected(answered, [reach for reach, _ in pairs], weights, keys, db)
        assert_same(mine, theirs, [0.0] * (2 + len(keys)) + [1e-12] * (4 if keys else 3))


def test_the_rows_of_a_level_say_when_its_window_began_and_ended():
    events = pa.table({"ts": pa.array(range(10, 22), pa.timestamp("us", tz="UTC")), "i": range(12)})
    text = "SELECT SUM(i) AS total FROM ticks [ROWS 6, 2 SLIDES 4, 2 AGING (1, 0.5)]"
    with pytest.raises(QueryError, match="6 rows is none of 4 rows"):
        plan_of([text], events.schema)
    core = Core(plan_of([text.replace("6", "8")], events.schema))
    rows = [row for row in rows_of([*core.step(events), *core.flush()]) if row["level"] == 1]
    assert [(row["window_start"], row["window_end"], row["window_row"]) for row in rows] == [
        (10, 13, 4),
        (10, 17, 8),
        (14, 21, 12),
    ]
    assert [row["agg_0"] for row in rows] == [2 + 3 + 0.5, 6 + 7 + 0.5 * 15, 10 + 11 + 0.5 * (4 + 5 + 6 + 7 + 8 + 9)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT COUNT(*) AS n FROM ticks [ROWS 9, 4 SLIDES 3, 2 AGING (1, 0.5)]", "AGING needs slides"),
        ("SELECT COUNT(*) AS n FROM ticks [ROWS 8, 4 SLIDES 4, 2 AGING (1)]", "2 levels need 2 weights"),
        ("SELECT MAX(ts) AS t FROM ticks [ROWS 8, 4 SLIDES 4, 2 AGING (1, 0.5)]", "AGING weighs SUM, COUNT and AVG"),
        (
            "SELECT COUNT(*) AS n FROM ticks [ROWS 9, 4 SLIDES 3, 2] GROUP BY ts HAVING RECURRING(ts)",
            "RECURRING needs slides",
        ),
        ("SELECT COUNT(*) AS n FROM ticks [ROWS 9 SLIDE 3] HAVING RECURRING(ts)", "RECURRING looks at the levels"),
    ],
)
def test_levels_in_rows_that_cannot_be_joined_say_why(text, message):
    with pytest.raises(QueryError, match=message):
        plan_of([text], pa.schema({"ts": pa.timestamp("us", tz="UTC")}))
