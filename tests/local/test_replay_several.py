"""Several queries in one replay answer as each does alone, whatever their streams are called and kept in."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

import windrow

SECOND = 1_000_000
TIMES = pa.array([second * SECOND for second in (1, 2, 7, 11, 19, 23)], pa.int64()).cast(pa.timestamp("us", tz="UTC"))
EVENTS = pa.table({"ts": TIMES, "k": ["a", "b", "a", None, "b", "a"], "x": [3.0, 4.0, 5.0, 6.0, 50.0, 51.0]})
QUERIES = {
    "sums": "SELECT k, SUM(x) AS total FROM time [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY k",
    "about": "SELECT COUNT(*) AS n FROM time [RANGE 10 SECONDS SLIDE 5 SECONDS] WHERE x > 3",
    "rows": "SELECT MAX(x) AS most FROM time [ROWS 2 SLIDE 1]",
    "clusters": "SELECT cid, COUNT(cid) AS n FROM time [RANGE 10 SECONDS SLIDE 5 SECONDS] CLUSTER BY x AS cid USING C_BIRCH(2)",
    "centers": """SELECT cid, CENTER(cid)[0] AS x, MAX(k) AS k
                  FROM time [RANGE 10 SECONDS SLIDE 5 SECONDS] CLUSTER BY x AS cid USING C_BIRCH(2)""",
    "distinct": "SELECT DISTINCT k FROM time [RANGE 10 SECONDS SLIDE 5 SECONDS]",
    "joined": """SELECT t.k, o.y FROM time [RANGE 4 SECONDS] AS t JOIN other [RANGE 4 SECONDS] AS o ON t.k = o.k
                 EMIT CHANGES""",
}
OTHER = pa.table({"at": TIMES, "k": ["b", "b", "b", "a", "a", "a"], "y": range(6)})


@pytest.mark.parametrize("batch_rows", [None, 2])
def test_queries_together_answer_as_each_does_alone(batch_rows: int | None) -> None:
    given = {"streams": {"time": EVENTS, "other": OTHER}, "times": {"other": "at"}, "batch_rows": batch_rows}
    found = windrow.replay(QUERIES, flush=True, **given)
    assert list(found) == list(QUERIES)
    for name, text in QUERIES.items():
        alone = windrow.replay(text, flush=True, **given)
        assert alone.num_rows > 2
        assert found[name].to_pylist() == alone.to_pylist(), name


def test_events_may_be_pandas() -> None:
    assert windrow.replay(QUERIES["sums"], streams={"time": EVENTS.to_pandas()}).to_pylist() == (
        windrow.replay(QUERIES["sums"], streams={"time": EVENTS}).to_pylist()
    )
    table = pd.DataFrame({"k": ["a", "b"], "name": ["A", "B"]})
    text = "SELECT n.name, SUM(e.x) AS total FROM e [RANGE 10 SECONDS SLIDE 5 SECONDS] AS e JOIN names AS n ON e.k = n.k GROUP BY n.name"
    rows = windrow.replay(text, e=EVENTS, tables={"names": table}).to_pylist()
    assert {row["name"] for row in rows} == {"A", "B"}


def test_what_is_no_stream_is_told() -> None:
    with pytest.raises(windrow.SettingsError, match="times names 'ticks', which is no stream; streams: time"):
        windrow.replay(QUERIES["sums"], streams={"time": EVENTS}, times={"ticks": "ts"})
    with pytest.raises(windrow.SettingsError, match="'time' has no column 'at'; columns: ts, k, x"):
        windrow.replay(QUERIES["sums"], streams={"time": EVENTS}, times={"time": "at"})
    with pytest.raises(windrow.SettingsError, match="'time' is no table of Arrow or pandas, but list"):
        windrow.replay(QUERIES["sums"], streams={"time": [1, 2]})


def test_a_function_over_a_type_that_it_has_no_loop_for_is_refused_by_name() -> None:
    events = EVENTS.append_column("xs", pa.array([[1], [2], None, [], [None], [3]]))
    with pytest.raises(windrow.NotSupportedYet, match="does not evaluate GREATEST"):
        windrow.replay("SELECT MODE(GREATEST(xs, NULL)) AS m FROM e [ROWS 3 SLIDE 2]", e=events)
