"""Joins of a stream with tables: which stay a stream, what names mean, and what is refused where it stands."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

import windrow
from windrow.compile.compile import Compiler, Wishes
from windrow.errors import QueryError
from windrow.language import parse_query
from windrow.local.local_catalog import local_catalog
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.query_plan import QueryPlan

TIMES = pa.array([1, 2, 7, 11], pa.timestamp("s", tz="UTC"))
EVENTS = pa.table(
    {"ts": TIMES, "k": ["a", "b", None, "a"], "x": pa.array([1, 2, 3, 4], pa.int32()), "o.dd": [1, 1, 2, 2]}
)
TABLES = {
    "lim": pa.table({"k": ["a", "b", "b"], "most": [10, 20, 30], "x": [5, 6, 7]}),
    "zone": pa.table({"z": pa.array([1, 4], pa.int64()), "d": pa.array([1, 2], pa.decimal128(9, 2)), "l": [[1], [2]]}),
    "o": pa.table({"dd": [1, 2], "name": ["one", "two"]}),
}
W = "[RANGE 5 SECONDS SLIDE 5 SECONDS]"


def compiled(text: str) -> QueryPlan | ChangePlan:
    known = {"lateness": "0 seconds", "idle_clock": False, "aggregates": {}, "clusterings": {}}
    catalog = local_catalog({"s": EVENTS, "r": EVENTS}, TABLES, time="ts", **known)
    return Compiler(catalog, TABLES.__getitem__, Wishes()).compile_query("q", parse_query(text))


STREAMS = [
    f"SELECT COUNT(*) AS n FROM s {W} JOIN lim ON s.k = lim.k",
    f"SELECT COUNT(*) AS n FROM s {W}, lim, zone WHERE s.k = lim.k AND z = s.x",
    f"SELECT COUNT(*) AS n FROM lim JOIN s {W} ON s.k = lim.k",
    f"SELECT n FROM (SELECT COUNT(*) AS n FROM s {W} LEFT JOIN lim USING (k)) WHERE n > 1",
    f"WITH j AS (SELECT most FROM s JOIN lim ON s.k = lim.k) SELECT SUM(most) AS t FROM j {W}",
    f"SELECT COUNT(*) AS n FROM (SELECT k AS kk FROM s {W}) AS b JOIN lim ON b.kk = lim.k",
    f"SELECT lim.k, COUNT(*) AS n FROM s {W} JOIN lim ON s.k = lim.k GROUP BY lim.k ORDER BY n DESC LIMIT 1",
    f"SELECT COUNT(*) AS n FROM s {W} JOIN lim ON s.k = lim.k EMIT CHANGES",
]
CHANGES = [
    f"SELECT DISTINCT most FROM s {W} JOIN lim ON s.k = lim.k",
    "SELECT most FROM s [RANGE 5 SECONDS] JOIN lim ON s.k = lim.k",
    f"SELECT most FROM s {W} JOIN lim ON s.k = lim.k",
    f"SELECT COUNT(*) AS n FROM s {W} JOIN r {W} ON s.k = r.k JOIN lim ON s.k = lim.k",
    f"SELECT q.k, most FROM (SELECT k, COUNT(*) AS n FROM s {W} GROUP BY k) AS q JOIN lim ON q.k = lim.k",
    f"SELECT COUNT(*) AS n FROM s {W} JOIN lim ON s.k = lim.k UNION ALL SELECT COUNT(*) AS n FROM s {W}",
]


@pytest.mark.parametrize("text", STREAMS)
def test_one_aggregation_over_a_stream_and_tables_is_folded_from_panes(text: str):
    plan = compiled(text)
    assert isinstance(plan, QueryPlan)
    assert plan.stream == "s"
    assert plan.rows is not None


@pytest.mark.parametrize("text", CHANGES)
def test_all_other_joins_are_over_rows_that_come_and_go(text: str):
    assert isinstance(compiled(text), ChangePlan)


SAME_ROWS = [
    f"SELECT MAX(most) AS m FROM s {W} JOIN lim ON s.k = lim.k AND lim.most > s.x",
    f"SELECT COUNT(*) AS n FROM s {W} AS a JOIN lim AS b ON b.most > a.x AND b.k = a.k",
    f"SELECT COUNT(*) AS n FROM s {W} JOIN lim AS f(kk, m, y) ON m > s.x AND kk = k",
]


def test_how_a_join_is_written_does_not_tell_rows_apart():
    assert len({compiled(text).rows for text in SAME_ROWS}) == 1
    assert compiled(SAME_ROWS[0].replace("JOIN", "LEFT JOIN")).rows != compiled(SAME_ROWS[0]).rows


def answers(text: str) -> list[dict]:
    found = windrow.replay(text, streams={"s": EVENTS, "r": EVENTS}, tables=TABLES, flush=True)
    return found.drop(["window_start", "window_end"]).to_pylist()


NAMES = {
    f"SELECT * FROM (SELECT s.k, SUM(most) AS t FROM s {W} JOIN lim ON s.k = lim.k GROUP BY s.k) ORDER BY k": [
        {"k": "a", "t": 10},
        {"k": "b", "t": 50},
        {"k": "a", "t": 10},
    ],
    f"SELECT SUM(s.x) AS mine, SUM(lim.x) AS theirs FROM s {W} JOIN lim USING (k)": [
        {"mine": 5, "theirs": 18},
        {"mine": 4, "theirs": 5},
    ],
    f"SELECT SUM(t.xx) AS t FROM (SELECT a.*, most FROM s {W} AS a JOIN lim ON a.k = lim.k) AS t(ts, k, xx, o, m)": [
        {"t": 5},
        {"t": 4},
    ],
    f"SELECT name, SUM(`o.dd`) AS d FROM s {W} JOIN o ON o.dd = s.`o.dd` GROUP BY name": [
        {"name": "one", "d": 2},
        {"name": "two", "d": 2},
        {"name": "two", "d": 2},
    ],
    f"SELECT COUNT(*) AS n, SUM(d) AS d FROM s {W} JOIN zone ON d = s.x": [{"n": 2, "d": Decimal("3.00")}],
    f"SELECT one.k, COUNT(*) AS n FROM s {W} JOIN lim AS one ON s.k = one.k JOIN lim AS two ON one.x = two.x"
    " GROUP BY one.k ORDER BY one.k": [{"k": "a", "n": 1}, {"k": "b", "n": 2}, {"k": "a", "n": 1}],
}


@pytest.mark.parametrize("text", NAMES)
def test_a_name_means_the_column_of_its_source(text: str):
    assert answers(text) == NAMES[text]


WRONG = {
    f"SELECT COUNT(*) AS n FROM s {W} JOIN lim ON s.k = lim.kk": ("unknown column 'kk'", "lim.kk", "did you mean k?"),
    f"SELECT SUM(mst) AS n FROM s {W} JOIN lim ON s.k = lim.k": ("unknown column 'mst'", "mst", "did you mean most?"),
    f"SELECT SUM(zz.x) AS n FROM s {W} JOIN lim ON s.k = lim.k": ("unknown stream 'zz'", "zz", "known streams: s, lim"),
    f"SELECT SUM(x) AS n FROM s {W} JOIN lim ON s.k = lim.k": ("both s and lim have a column 'x'", "x", "s.x"),
    f"SELECT COUNT(*) AS n FROM s {W} JOIN lim ON k = lim.k": ("both s and lim have a column 'k'", "k", "s.k"),
    f"SELECT COUNT(*) AS n FROM s {W} JOIN lim ON s.x < most": (
        "a join needs an equality between both sides: without one every row would meet every other",
        "lim ON",
        "... JOIN t ON s.key = t.key",
    ),
    f"SELECT COUNT(*) AS n FROM s {W} JOIN lim ON s.k = most": (
        "a join of STRING with BIGINT",
        "s.k = most",
        "CAST one side to the type of the other",
    ),
    f"SELECT COUNT(*) AS n FROM s {W} JOIN lim ON s.k = lim.k AND SUM(most) > 3": (
        "an aggregate in ON",
        "SUM(most)",
        "conditions on aggregates go into HAVING",
    ),
    f"SELECT COUNT(*) AS n FROM s {W} JOIN lim ON s.k = lim.k AND most = z JOIN zone ON z = s.x": (
        "ON names a table that is joined later",
        "most = z",
        None,
    ),
    f"SELECT COUNT(*) AS n FROM s {W} JOIN lim ON s.k = lim.k AND most": (
        "a condition is needed here, and this is BIGINT",
        "most",
        "compare it: ",
    ),
    f"SELECT COUNT(*) AS n FROM s {W} RIGHT JOIN lim ON s.k = lim.k": (
        "RIGHT JOIN with a table would tell rows of the table that no event has a part in",
        "",
        None,
    ),
    f"SELECT COUNT(*) AS n FROM s {W} JOIN lim USING (kk)": ("unknown column 'kk'", "kk", "did you mean k?"),
    f"SELECT COUNT(*) AS n FROM s {W} JOIN lim USING (ts)": ("unknown column 'ts'", "ts", "known columns: k, most, x"),
    f"SELECT COUNT(*) AS n FROM s {W} AS a JOIN lim AS a ON a.k = a.k": ("FROM has two that are named 'a'", "", None),
    f"SELECT most, COUNT(*) AS n FROM s {W} JOIN lim ON s.k = lim.k GROUP BY s.k": (
        "'most' is neither grouped by nor aggregated",
        "most",
        "add it to GROUP BY",
    ),
}


@pytest.mark.parametrize("text", WRONG)
def test_a_mistake_is_told_in_a_sentence_with_its_place_and_a_way_out(text: str):
    message, place, hint = WRONG[text]
    with pytest.raises(QueryError) as caught:
        compiled(text)
    assert caught.value.message == message
    assert caught.value.at is not None
    assert text[caught.value.at :].startswith(place)
    assert hint is None or (caught.value.hint or "").startswith(hint)
