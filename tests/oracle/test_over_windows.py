"""LAG, FIRST_VALUE, sums over frames and the like OVER the rows, and over the groups, of each window, beside DuckDB."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import QueryError

from .judge_windows import EVENTS, KINDS, SLIDING, Kind, events_of, judge, judged, replayed

ALL = {**KINDS, "sliding": SLIDING}
BATCHES = st.integers(1, 9)
OF_ALL_KINDS = pytest.mark.parametrize("kind", ALL.values(), ids=ALL.keys())
WINDOW = "line, place, begins, ends"

FRAMED = ("SUM(x)", "COUNT(*)", "COUNT(g)", "MIN(x)", "MAX(g)", "AVG(x)", "STDDEV(x)", "VAR_POP(x)", "SUM(y)", "MIN(y)")
FRAMED += ("FIRST_VALUE(g)", "LAST_VALUE(x)", "NTH_VALUE(g, 2)", "COUNT(*) FILTER (WHERE x > 2)", "AVG(y)")
WITH_NULLS = ("FIRST_VALUE(g {})", "LAST_VALUE(g {})", "NTH_VALUE(g, 2 {})", "LAG(g {})", "LEAD(g, 2, 'none' {})")
PLAIN = ("LAG(x)", "LAG(x, 2, 7)", "LEAD(g)", "LEAD(x, 0)", "LAG(g, 1, k)", "NTILE(3)", "PERCENT_RANK()", "CUME_DIST()")
ORDERS = ("x, id", "g NULLS FIRST, id DESC", "x DESC, id", "id")
ROWS = (
    "2 PRECEDING",
    "UNBOUNDED PRECEDING",
    "BETWEEN 1 PRECEDING AND 2 FOLLOWING",
    "BETWEEN 3 PRECEDING AND 1 PRECEDING",
)
ROWS += ("BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING")
ROWS += ("BETWEEN 1 FOLLOWING AND 2 FOLLOWING", "BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING")


@st.composite
def overs(draw: st.DrawFn) -> tuple[str, str]:
    """An OVER as Windrow is asked, and as DuckDB is, of windows that it has in one table."""
    partition = draw(st.sampled_from(["", "k", "g", "k, x > 3"]))
    call = draw(st.sampled_from([*FRAMED, *WITH_NULLS, *PLAIN]))
    order = draw(st.sampled_from(ORDERS))
    frame = ""
    if call in FRAMED:
        order = draw(st.sampled_from(["", order, order]))
        if order:
            frame = draw(st.sampled_from(["", *(f"ROWS {each}" for each in ROWS)]))
            if order in ("id", "x DESC, id") and draw(st.booleans()):
                order = order.removesuffix(", id")
                frame = draw(
                    st.sampled_from(["BETWEEN 2 PRECEDING AND CURRENT ROW", "BETWEEN 3 PRECEDING AND 1 FOLLOWING"])
                )
                frame = f"RANGE {frame}"
                call = call if not call.startswith(("FIRST", "LAST", "NTH")) else "SUM(x)"
        if order in ("id", "") and call.startswith(("FIRST", "LAST", "NTH")):
            order = "x, id"
    elif call in WITH_NULLS and not call.startswith(("LAG", "LEAD")):
        frame = f"ROWS {draw(st.sampled_from(ROWS))}"
    by = f"ORDER BY {order}" if order else ""
    nulls = draw(st.sampled_from(["", "IGNORE NULLS"]))
    mine = f"{call.replace(' {}', '')} {nulls if '{}' in call else ''} OVER ({f'PARTITION BY {partition}' if partition else ''} {by} {frame})"
    apart = f"line, place, {partition}" if partition else "line, place"
    theirs = f"{call.format(nulls)} OVER (PARTITION BY {apart} {by} {frame})"
    return mine, theirs


def numbered(kind: Kind, drawn: list[tuple]) -> pa.Table:
    """The events with their place in the stream, and a decimal."""
    events = events_of(kind, drawn)
    prices = [None if x == 4 else Decimal(x) / 4 for x in events["x"].to_pylist()]
    events = events.append_column("id", pa.array(range(events.num_rows), pa.int64()))
    return events.append_column("y", pa.array(prices, pa.decimal128(8, 2)))


def plain(rows: list[tuple]) -> list[tuple]:
    """Rows in which numbers that may be rounded differently are equal."""
    return sorted((tuple(_plain(value) for value in row) for row in rows), key=repr)


def _plain(value: object) -> object:
    if isinstance(value, float | Decimal):
        return round(float(value), 6) + 0.0
    return value


@OF_ALL_KINDS
@settings(max_examples=examples(60), deadline=None)
@given(EVENTS, BATCHES, st.lists(overs(), min_size=1, max_size=3))
def test_rows_of_a_window_have_what_is_drawn_from_those_beside_them(kind: Kind, drawn, batch, asked):
    events = numbered(kind, drawn)
    db = judge(kind, events)
    db.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
    mine = ", ".join(f"{own} AS o{i}" for i, (own, _) in enumerate(asked))
    theirs = ", ".join(f"{other} AS o{i}" for i, (_, other) in enumerate(asked))
    found = replayed(f"SELECT id, {mine} FROM e {kind.text}", events, batch)
    assert plain(found) == plain(judged(db, f"SELECT begins, ends, id, {theirs} FROM w"))
    around = f"SELECT id, o0 FROM (SELECT id, {mine} FROM e {kind.text}) WHERE o0 IS NOT NULL"
    chosen = f"SELECT * FROM (SELECT begins, ends, id, {theirs} FROM w) WHERE o0 IS NOT NULL"
    assert plain(replayed(around, events, batch)) == plain(judged(db, f"SELECT begins, ends, id, o0 FROM ({chosen})"))


@OF_ALL_KINDS
@settings(max_examples=examples(20), deadline=None)
@given(EVENTS, BATCHES)
def test_groups_of_a_window_have_what_is_drawn_from_the_other_groups(kind: Kind, drawn, batch):
    events = numbered(kind, drawn)
    over = "SUM(SUM(x)) OVER ({0}) AS total, LAG(COUNT(*), 1, 0) OVER ({0}ORDER BY g NULLS FIRST) AS before"
    text = f"SELECT g, SUM(x) AS s, {over.format('')} FROM e {kind.text} GROUP BY g QUALIFY total >= 0"
    theirs = (
        f"SELECT begins, ends, g, sum(x)::BIGINT, {over.format('PARTITION BY line, place ')} FROM w"
        f" GROUP BY {WINDOW}, g QUALIFY total >= 0"
    )
    db = judge(kind, events)
    assert plain(replayed(text, events, batch)) == plain(judged(db, theirs))
    around = f"SELECT g, c, c / SUM(c) OVER () AS share FROM (SELECT g, COUNT(*) AS c FROM e {kind.text} GROUP BY g)"
    theirs = (
        f"SELECT begins, ends, g, c, c / sum(c) OVER (PARTITION BY line, place) FROM (SELECT {WINDOW}, g, count(*) AS c"
    )
    theirs += f" FROM w GROUP BY {WINDOW}, g)"
    assert plain(replayed(around, events, batch)) == plain(judged(db, theirs))


@OF_ALL_KINDS
@settings(max_examples=examples(20), deadline=None)
@given(EVENTS, BATCHES, st.integers(0, 6))
def test_distinct_rows_beside_over_are_those_that_qualify(kind: Kind, drawn, batch, least):
    events = numbered(kind, drawn)
    sums = "SUM(x) OVER (PARTITION BY {}g ORDER BY k) AS s, LAST_VALUE(k) OVER (PARTITION BY {}g ORDER BY k) AS l"
    text = f"SELECT DISTINCT g, {sums.format('', '')} FROM e {kind.text} QUALIFY s > {least}"
    own = "line, place, "
    theirs = f"SELECT DISTINCT {WINDOW}, g, {sums.format(own, own)} FROM w QUALIFY s > {least}"
    theirs = f"SELECT begins, ends, g, s, l FROM ({theirs})"
    assert plain(replayed(text, events, batch)) == plain(judged(judge(kind, events), theirs))


@pytest.mark.parametrize("call", [*FRAMED, "ANY_VALUE(g)"])
def test_each_function_has_each_frame(call):
    drawn = [(place % 7, "ab"[place % 2], "uvw"[place % 3], place * 5 % 11) for place in range(17)]
    events = numbered(SLIDING, drawn)
    frames = [*(f"ROWS {each}" for each in (*ROWS, "BETWEEN 5 FOLLOWING AND UNBOUNDED FOLLOWING", "99 PRECEDING")), ""]
    frames += [
        "RANGE 2 PRECEDING",
        "RANGE BETWEEN 3 FOLLOWING AND 4 FOLLOWING",
        "RANGE BETWEEN CURRENT ROW AND CURRENT ROW",
    ]
    named = [f"{call} OVER (PARTITION BY k ORDER BY id {frame}) AS o{i}" for i, frame in enumerate(frames)]
    found = windrow.replay(f"SELECT id, {', '.join(named)} FROM e [RANGE 30 DAYS SLIDE 30 DAYS]", e=events, flush=True)
    db = judge(SLIDING, events)
    wanted = db.sql(f"SELECT id, {', '.join(named).replace('ANY_VALUE(g)', 'FIRST(g IGNORE NULLS)')} FROM e").fetchall()
    columns = ["id", *(f"o{i}" for i in range(len(frames)))]
    assert plain(list(zip(*(found[name].to_pylist() for name in columns)))) == plain(wanted)


def test_a_range_of_time_reaches_back_and_ahead_within_the_window():
    events = numbered(
        SLIDING, [(1, "a", "u", 1), (2, "a", "u", 2), (2, "b", "v", 3), (3, "a", "u", 5), (9, "a", "u", 7)]
    )
    over = "OVER (ORDER BY ts {} RANGE BETWEEN INTERVAL 1 SECOND PRECEDING AND INTERVAL 500 MILLISECONDS FOLLOWING)"
    text = f"SELECT id, SUM(x) {over.format('')} AS s, MAX(x) {over.format('DESC')} AS m FROM e [RANGE 10 SECONDS SLIDE 10 SECONDS]"
    found = windrow.replay(text, e=events, flush=True).sort_by("id")
    assert found["s"].to_pylist() == [1, 6, 6, 10, 7]
    assert found["m"].to_pylist() == [3, 5, 5, 5, 7]


def test_large_sums_are_exact_or_none():
    large = pa.table({"ts": pa.array([1, 2, 3], pa.timestamp("s", tz="UTC")), "x": [2**62, 2**62, -(2**62)]})
    text = "SELECT SUM(x) OVER (ORDER BY ts) AS s FROM e [RANGE 10 SECONDS SLIDE 10 SECONDS]"
    assert windrow.replay(text, e=large, flush=True)["s"].to_pylist() == [2**62, None, 2**62]


WRONG = {
    "NTILE() OVER (ORDER BY x)": "NTILE takes a number",
    "NTILE(0) OVER (ORDER BY x)": "a whole number from 1",
    "LAG(x, -1) OVER (ORDER BY x)": "a whole number from 0",
    "LAG(x) OVER (PARTITION BY k)": "LAG needs an order",
    "LAG(x, 1, 'a') OVER (ORDER BY id)": "LAG of BIGINT with a default that is STRING",
    "LEAD(x) OVER (ORDER BY id ROWS 1 PRECEDING)": "LEAD has no frame",
    "CUME_DIST(3) OVER (ORDER BY id)": "CUME_DIST takes no argument",
    "RANK(3) OVER (ORDER BY id)": "RANK takes no argument",
    "COUNT(x, id) OVER (ORDER BY id)": "COUNT OVER takes one value",
    "FIRST(x, 3) OVER (ORDER BY id)": "FIRST_VALUE OVER takes one value",
    "COUNT() OVER (ORDER BY id)": "COUNT OVER takes one value",
    "SUM(g) OVER (ORDER BY id)": "SUM needs numbers",
    "SUM(x) OVER (ROWS 1 PRECEDING)": "a frame in rows needs an order",
    "SUM(x) OVER (ORDER BY x, id RANGE 1 PRECEDING)": "has one term of ORDER BY",
    "SUM(x) OVER (ORDER BY g RANGE 1 PRECEDING)": "so many seconds of a time, or a difference of whole numbers",
    "SUM(x) OVER (ORDER BY id RANGE INTERVAL 1 SECOND PRECEDING)": "so many seconds of a time",
    "SUM(x) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING)": "ends before it begins",
    "COUNT(DISTINCT x) OVER (ORDER BY id)": "DISTINCT in COUNT",
    "MEDIAN(x) OVER (ORDER BY id)": "OVER of MEDIAN",
    "SUM(x) IGNORE NULLS OVER (ORDER BY id)": "NULL",
}


@pytest.mark.parametrize("asked", WRONG)
def test_a_call_that_cannot_be_answered_is_told_where(asked):
    events = numbered(SLIDING, [(1, "a", "u", 1)])
    for window in ("[ROWS 3 SLIDE 1]", "[RANGE 10 SECONDS SLIDE 10 SECONDS]"):
        with pytest.raises(QueryError) as caught:
            windrow.replay(f"SELECT {asked} AS s FROM e {window}", e=events)
        assert WRONG[asked] in caught.value.message
        assert caught.value.at is not None and caught.value.hint


def test_without_a_slide_the_way_out_is_one():
    events = numbered(SLIDING, [(1, "a", "u", 1)])
    with pytest.raises(QueryError) as caught:
        windrow.replay("SELECT LAG(x) OVER (ORDER BY id) AS s FROM e [RANGE 10 SECONDS]", e=events)
    assert "SLIDE" in caught.value.hint


def test_an_order_of_windows_is_refused_within_one_and_its_way_out_works():
    counts = "SELECT k, COUNT(*) AS n FROM e [RANGE 2 SECONDS SLIDE 2 SECONDS] GROUP BY k"
    events = numbered(SLIDING, [(0, "a", "u", 1), (2, "a", "u", 2), (3, "a", "v", 3)])
    over = "OVER (PARTITION BY k ORDER BY window_end)"
    for text in (
        counts.replace(" AS n", f" AS n, LAG(COUNT(*)) {over} AS b"),
        f"SELECT k, LAG(n) {over} AS b FROM ({counts})",
    ):
        with pytest.raises(QueryError, match="rows of one window") as caught:
            windrow.replay(text, e=events)
        assert "CREATE STREAM" in caught.value.hint and caught.value.at is not None
    found = windrow.replay(f"SELECT k, n, LAG(n) {over} AS b FROM c", e=events, derived={"c": counts}, flush=True)
    assert [(row["n"], row["b"]) for row in found.to_pylist()] == [(1, None), (2, 1)]


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        (
            "SELECT k, COUNT(*) AS n, window_end AS w FROM e [ROWS 3 SLIDE 1] GROUP BY k EMIT CHANGES",
            "have time instead",
        ),
        ("SELECT MAX(window_start) AS m FROM e [SESSION 3 SECONDS]", "beside aggregates"),
        ("SELECT COUNT(*) FILTER (WHERE final) AS n FROM e [RANGE 2 SECONDS SLIDE 2 SECONDS]", "EMIT EVERY"),
        ("SELECT level AS l, COUNT(*) AS n FROM e [RANGE 2 SECONDS SLIDE 2 SECONDS]", "[RANGES 1 HOUR"),
    ],
)
def test_columns_of_answers_say_where_they_are_known(text, way_out):
    with pytest.raises(QueryError, match="unknown column") as caught:
        windrow.replay(text, e=numbered(SLIDING, [(0, "a", "u", 1)]))
    assert way_out in caught.value.hint
