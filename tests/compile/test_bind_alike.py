"""Queries that differ in the lengths of their windows are bound once, to what each is bound to alone."""

from dataclasses import replace

import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from windrow.compile import compile as compiling
from windrow.compile.compile import Compiler, Wishes
from windrow.errors import QueryError
from windrow.language import parse_query
from windrow.local.local_catalog import local_catalog

ASKED = (
    "SELECT COUNT(*) AS n, SUM(x) AS s FROM ticks {}",
    "SELECT  count( * ), max(x) FROM ticks {} WHERE x > 3",
    "SELECT k, AVG(x) AS mean FROM ticks {} GROUP BY k HAVING mean > 1",
    "SELECT k, AVG(x) AS mean FROM ticks {} AS t GROUP BY k ORDER BY mean DESC LIMIT 3",
    "SELECT LAST(x) AS x FROM ticks {} EMIT CHANGES",
    "SELECT window_end, COUNT(*) AS n FROM (SELECT x FROM ticks {} WHERE x > 0) AS y",
    "SELECT SUM(n) AS n FROM (SELECT COUNT(*) AS n FROM ticks {}) AS q [RANGE 1 HOUR SLIDE 1 MINUTE]",
    "SELECT x FROM ticks {}",
    "SELECT DISTINCT k FROM ticks {}",
    "SELECT SUM(a.x) AS s FROM ticks {} AS a JOIN ticks {} AS b ON a.k = b.k GROUP BY a.k",
    "SELECT cid, COUNT(cid) AS n FROM ticks {} CLUSTER BY x AS cid USING C_BIRCH(5)",
    "SELECT RECURRING(k) AS again FROM ticks {} GROUP BY k",
    "SELECT nothing FROM ticks {}",
    "SELECT COUNT(*) AS n FROM tick {}",
)
NUMBERS = st.sampled_from([1, 2, 3, 7, 10, 60])
WINDOWS = st.one_of(
    st.builds("[ROWS {} SLIDE {}]".format, NUMBERS, NUMBERS),
    st.builds("[ROWS {}]".format, NUMBERS),
    st.builds("[ROWS UNBOUNDED SLIDE {}]".format, NUMBERS),
    st.builds("[RANGE {} SECONDS SLIDE {} SECONDS]".format, NUMBERS, NUMBERS),
    st.builds("[RANGE {} SECONDS SLIDE {} SECONDS OFFSET {} SECONDS]".format, NUMBERS, NUMBERS, NUMBERS),
    st.builds("[RANGE {} SECONDS]".format, NUMBERS),
    st.builds("[RANGE UNBOUNDED SLIDE {} SECONDS]".format, NUMBERS),
    st.builds("[RANGE {} SECONDS SLIDE ABOUT {} SECONDS]".format, NUMBERS, NUMBERS),
    st.builds("[RANGE {} SECONDS SLIDE {} SECONDS EMIT EVERY 1 SECOND]".format, NUMBERS, NUMBERS),
    st.builds("[PARTITION BY k ROWS {} SLIDE {}]".format, NUMBERS, NUMBERS),
    st.builds("[ROWS {} SLIDE {} SECONDS]".format, NUMBERS, NUMBERS),
    st.builds("[SESSION {} SECONDS]".format, NUMBERS),
    st.builds("[RANGES 60 SECONDS, {} SECONDS SLIDES 10 SECONDS, {} SECONDS]".format, NUMBERS, NUMBERS),
)


def compiler() -> Compiler:
    empty = pa.table(
        {
            "ts": pa.array([], pa.timestamp("us", tz="UTC")),
            "x": pa.array([], pa.int64()),
            "k": pa.array([], pa.string()),
        }
    )
    catalog = local_catalog(
        {"ticks": empty}, {}, time="ts", lateness="0 seconds", idle_clock=False, aggregates={}, clusterings={}
    )
    return Compiler(catalog, {}.__getitem__, Wishes())


def told(by: Compiler, text: str):
    """The plan of a query, or what it is refused with."""
    try:
        return by.compile_query("q", parse_query(text))
    except QueryError as error:
        return str(error)


@settings(max_examples=60, deadline=None)
@given(asked=st.lists(st.tuples(st.sampled_from(ASKED), WINDOWS, WINDOWS), min_size=1, max_size=8))
@example(asked=[(ASKED[0], "[RANGE 7 SECONDS SLIDE 3 SECONDS OFFSET 7 SECONDS]", "")] * 2)
@example(asked=[(ASKED[7], f"[RANGE {range} SECONDS SLIDE {slide} SECONDS]", "") for range, slide in [(7, 7), (7, 3)]])
def test_a_query_is_bound_beside_others_as_it_is_alone(asked):
    together = compiler()
    for text, first, second in asked:
        text = text.format(first, second)
        assert told(together, text) == told(compiler(), text), text


def test_of_a_thousand_windows_one_query_is_bound(monkeypatch):
    bound, bind = [], compiling.bind
    monkeypatch.setattr(compiling, "bind", lambda *asked: bound.append(asked) or bind(*asked))
    by = compiler()
    for rows in range(1, 1001):
        plan = by.compile_query("q", parse_query(f"SELECT COUNT(*) AS n FROM ticks [ROWS {rows} SLIDE 1]"))
        assert plan.window.rows == rows
    assert len(bound) == 1


def test_a_name_that_means_something_else_by_now_is_bound_anew():
    by, text = compiler(), "SELECT SUM(x) AS s FROM ticks [ROWS 3 SLIDE 1]"
    plans = [by.compile_query("q", parse_query(text))]
    ticks = by.catalog.streams["ticks"]
    wider = replace(ticks, schema=ticks.schema.set(1, pa.field("x", pa.float64())))
    by.catalog = by.catalog.with_stream(wider)
    plans.append(by.compile_query("q", parse_query(text)))
    assert [str(plan.aggregates[0].type) for plan in plans] == ["int64", "double"]
