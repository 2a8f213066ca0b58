"""Queries as the documents of other engines have them: answered as those documents say, or refused with the way out."""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import QueryError

SECOND = pa.timestamp("s", tz="UTC")


def at(minutes: list[int]) -> pa.Array:
    return pa.array([datetime(2020, 4, 15, 8, minute, tzinfo=UTC) for minute in minutes], SECOND)


BIDS = pa.table(
    {
        "ts": at([5, 7, 9, 11, 13, 17]),
        "price": [4.0, 2.0, 5.0, 3.0, 1.0, 6.0],
        "item": list("CADBEF"),
        "supplier": ["one", "one", "two", "two", "one", "two"],
    }
)
TUMBLE = "TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' MINUTES))"
FLINK = {
    f"SELECT window_start, window_end, SUM(price) AS s FROM {TUMBLE} GROUP BY window_start, window_end": [
        (0, 10, 11.0),
        (10, 20, 10.0),
    ],
    """SELECT window_start, window_end, SUM(price) AS s
       FROM TABLE(HOP(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES))
       GROUP BY window_start, window_end""": [(0, 10, 11.0), (5, 15, 15.0), (10, 20, 10.0), (15, 25, 6.0)],
    """SELECT window_start, window_end, SUM(price) AS s
       FROM TABLE(CUMULATE(TABLE bids, DESCRIPTOR(ts), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES))
       GROUP BY window_start, window_end""": [
        *[(0, 6, 4.0), (0, 8, 6.0), (0, 10, 11.0), (10, 12, 3.0), (10, 14, 4.0), (10, 16, 4.0), (10, 18, 10.0)],
        (10, 20, 10.0),
    ],
    f"""SELECT window_start, window_end, supplier, SUM(price) AS s FROM {TUMBLE}
        GROUP BY window_start, window_end, GROUPING SETS ((supplier), ())""": [
        *[(0, 10, "one", 6.0), (0, 10, "two", 5.0), (0, 10, None, 11.0)],
        *[(10, 20, "one", 1.0), (10, 20, "two", 9.0), (10, 20, None, 10.0)],
    ],
    f"""SELECT * FROM (
          SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) AS place
          FROM (SELECT window_start, window_end, supplier, SUM(price) AS price, COUNT(*) AS n FROM {TUMBLE}
                GROUP BY window_start, window_end, supplier))
        WHERE place <= 3""": [
        *[(0, 10, "one", 6.0, 2, 1), (0, 10, "two", 5.0, 1, 2)],
        *[(10, 20, "two", 9.0, 2, 1), (10, 20, "one", 1.0, 1, 2)],
    ],
    f"""SELECT item, place FROM (
          SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY ts DESC) AS place FROM {TUMBLE})
        WHERE place <= 1""": [(0, 10, "D", 1), (10, 20, "F", 1)],
    """WITH first AS (
          SELECT window_time AS rowtime, SUM(price) AS part
          FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' MINUTES))
          GROUP BY supplier, window_start, window_end, window_time)
       SELECT window_start, window_end, SUM(part) AS s
       FROM TABLE(TUMBLE(TABLE first, DESCRIPTOR(rowtime), INTERVAL '10' MINUTES))
       GROUP BY window_start, window_end""": [(0, 10, 11.0), (10, 20, 10.0)],
    """SELECT window_start, COUNT(*) AS n FROM TUMBLE(bids, ts, INTERVAL '10 minutes') GROUP BY window_start
       EMIT ON WINDOW CLOSE""": [(0, 10, 3), (10, 20, 3)],
    "SELECT supplier, COLLECT_SET(price > 2) AS p FROM bids WINDOW TUMBLING (SIZE 10 MINUTES) GROUP BY supplier": [
        *[(0, 10, "one", [True, False]), (0, 10, "two", [True]), (10, 20, "one", [False]), (10, 20, "two", [True])],
    ],
    """SELECT COLLECT_LIST(DISTINCT supplier) AS p, COLLECT_SET(item) FILTER (WHERE price > 4) AS f
       FROM bids GROUP BY TUMBLE(ts, INTERVAL '10' MINUTE)""": [
        (0, 10, ["one", "two"], ["D"]),
        (10, 20, ["two", "one"], ["F"]),
    ],
}


@pytest.mark.parametrize("query", FLINK)
def test_an_answer_is_what_the_documents_of_its_engine_say(query):
    rows = [list(row.values()) for row in windrow.replay(query, bids=BIDS, flush=True).to_pylist()]
    found = [(start.minute, end.minute, *rest) for start, end, *rest in rows]
    assert sorted(found, key=repr) == sorted(FLINK[query], key=repr)


@pytest.mark.parametrize(
    "asked, said",
    [
        ("LATEST_BY_OFFSET(price) AS p FROM bids WINDOW TUMBLING (SIZE 1 MINUTE)", "LAST(x) IGNORE NULLS"),
        ("COUNT(*) AS n FROM bids GROUP BY TumblingWindow(minute, 5)", "GROUP BY window(ts, '5 minutes')"),
        ("item FROM bids WHERE mz_now() <= ts + INTERVAL 5 MINUTES", "what is recent is a window"),
        ("* FROM bids MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE A AS A.price > 2)", "LAG(a) OVER"),
        ("DISTINCT ON (item) item, price FROM bids [RANGE 1 HOUR]", "QUALIFY ROW_NUMBER()"),
        ("item FROM bids [RANGE 1 HOUR SLIDE 1 HOUR] ORDER BY price LIMIT 2 OFFSET 1", "BETWEEN 11 AND 20"),
        ("item FROM bids QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts DESC) = 1", "bids [RANGE UNBOUNDED]"),
        ("DISTINCT item FROM bids", "bids [RANGE UNBOUNDED]"),
        ("COUNT(*) AS n FROM bids", "or [RANGE UNBOUNDED]"),
        ("item FROM bids ORDER BY price", "needs LIMIT"),
        ("item, LAG(price) OVER (ORDER BY ts) AS p FROM bids ORDER BY p LIMIT 1", "a query around it"),
        ("ts - ts AS d FROM bids", "TIMESTAMPDIFF"),
        ("item FROM bids [ROWS 3] ORDER BY price LIMIT 1", "[ROWS 100 SLIDE 1]"),
        ("item FROM bids [RANGE 1 HOUR] EMIT WHEN price > 3", "WHERE, for each row"),
        ("COUNT(*) AS n FROM bids [ROWS 3] EMIT CHANGES WITH EMPTY", "leave WITH EMPTY out"),
        ("item FROM bids#time(5 sec)", "[RANGE 5 SECONDS] behind the stream's name"),
        ("item FROM bids OUTPUT LAST EVERY 5 SECONDS", "EMIT LAST EVERY 5 SECONDS"),
        ("RSTREAM item FROM bids [RANGE 5 MINUTES]", "EMIT DELETES"),
        ("TOP 3 item FROM bids [RANGE 5 MINUTES]", "ORDER BY ... LIMIT 10"),
        ("item FROM bids.win:time(5 sec)", "[RANGE 5 SECONDS] behind the stream's name"),
        (
            "item FROM bids [RANGE 1 HOUR] ASOF JOIN asks [RANGE 1 HOUR] MATCH_CONDITION (bids.ts >= asks.ts) ON x = y",
            "BETWEEN a.ts",
        ),
        ("item FROM bids ORDER BY item FETCH FIRST 2 ROWS WITH TIES", "QUALIFY RANK()"),
        (
            "item FROM bids [RANGE 1 HOUR] AS a WHERE price > ALL (SELECT price FROM bids [RANGE 1 HOUR])",
            "(SELECT MAX(y)",
        ),
        ("item FROM bids WHERE NOT price > ANY (SELECT price FROM bids [RANGE 1 HOUR])", "(SELECT MIN(y)"),
        ("item FROM bids WHERE (price, item) < (3, 'nut')", "a < 1 OR (a = 1 AND b < 2)"),
        ("item FROM bids WHERE (price, item) IN ((3, 'nut', 1))", "a row of 2 is compared with one of 3"),
        ("item FROM bids WHERE price > 'a'", "'a' is no number"),
        ("item FROM bids WHERE item = 'nut' OR ts < 'noon'", "'noon' is no time"),
        ("item, COUNT(*) AS n FROM bids [ROWS 3 SLIDE 1] GROUP BY item HAVING COUNT(*) = 'b'", "'b' is no number"),
        (
            "item FROM bids [RANGE 1 HOUR] AS a WHERE price > "
            "(SELECT price FROM bids [RANGE 1 HOUR] AS b WHERE b.item = a.item ORDER BY ts LIMIT 1)",
            "GROUP BY k) AS q ON a.k = q.k",
        ),
        (
            "item FROM bids [RANGE 1 HOUR] AS a WHERE EXISTS (SELECT 1 FROM bids [RANGE 1 HOUR] AS b WHERE b.item = "
            "a.item AND EXISTS (SELECT 1 FROM bids [RANGE 1 HOUR] AS c WHERE c.price = a.price))",
            "one sub-query that joins both",
        ),
        (
            "item FROM bids [RANGE 1 HOUR] AS a WHERE price IN "
            "(SELECT price FROM (SELECT price FROM bids [RANGE 1 HOUR] AS b WHERE b.item = a.item) AS q)",
            "compare it in WHERE",
        ),
        (
            "a.item FROM bids AS a LEFT JOIN bids AS b ON a.item = b.item AND a.ts BETWEEN b.ts - INTERVAL 5 SECONDS "
            "AND b.ts LEFT JOIN bids AS c ON a.item = c.item AND a.ts BETWEEN c.ts - INTERVAL 5 SECONDS AND c.ts",
            "a window behind each of the others",
        ),
        ("PREV(1, price) AS p FROM bids", "LAG(x) OVER"),
        (
            "NTILE(4) OVER (ORDER BY price) AS q FROM bids",
            "NTILE(4) OVER (ORDER BY x) FROM s [RANGE 1 HOUR SLIDE 1 HOUR]",
        ),
        ("NTH_VALUE(price, 2) OVER (ORDER BY ts) AS p FROM bids", "GET(COLLECT_LIST(x), 1)"),
        ("NTILE(4) AS q FROM bids [RANGE 1 HOUR SLIDE 1 HOUR]", "NTILE(4) OVER (ORDER BY x)"),
        ("DATE_BIN(INTERVAL '5 minutes', ts, ts) AS b, COUNT(*) AS n FROM bids GROUP BY 1", "GROUP BY window(ts,"),
        ("COUNT(*) AS n FROM bids EMIT PERIODIC 5s", "EMIT LAST EVERY 5 SECONDS"),
        ("COUNT(*) AS n FROM TUMBLE(bids, ts, INTERVAL 5 MINUTES) EMIT AFTER WATERMARK", "leave it out"),
        (
            "COUNT(*) AS n FROM HOP(bids, ts, INTERVAL 0 MINUTES, INTERVAL 5 MINUTES)",
            "a slide and a length, above zero",
        ),
        ("g FROM bids, GENERATE_SERIES(1, 2) AS g", "the name of a stream, with its window"),
        ("STDDEV_SAMPLE(price) AS d FROM bids [RANGE 1 HOUR SLIDE 1 HOUR]", "STDDEV(x)"),
        ("LENGHT(item) AS l FROM bids", "did you mean length?"),
    ],
)
def test_what_is_refused_says_what_to_write(asked, said):
    with pytest.raises(QueryError) as caught:
        windrow.replay(f"SELECT {asked}", bids=BIDS)
    assert said in f"{caught.value.message} {caught.value.hint}"
    assert caught.value.at is not None


INSTEAD = {
    "CEIL(4 * ROW_NUMBER() OVER (ORDER BY n) / COUNT(*) OVER ())": "CEIL(4 * ROW_NUMBER() OVER (ORDER BY n) / COUNT(*) OVER ())",
    "(RANK() OVER (ORDER BY n) - 1) / (COUNT(*) OVER () - 1)": "PERCENT_RANK() OVER (ORDER BY n)",
    "1 - (RANK() OVER (ORDER BY n DESC) - 1) / COUNT(*) OVER ()": "CUME_DIST() OVER (ORDER BY n)",
}


@pytest.mark.parametrize("asked", INSTEAD)
def test_the_way_out_has_the_answer(asked):
    s = pa.table({"ts": pa.array([0, 1, 2, 3, 4], SECOND), "n": [3, 1, 3, 7, 5]})
    found = windrow.replay(f"SELECT n, {asked} AS f FROM s [RANGE 1 HOUR SLIDE 1 HOUR]", s=s, flush=True).to_pylist()
    wanted = duckdb.sql(f"SELECT n, {INSTEAD[asked]} FROM s").fetchall()
    assert sorted((row["n"], round(row["f"], 9)) for row in found) == sorted((n, round(f, 9)) for n, f in wanted)


def test_the_name_of_a_stream_is_not_taken_for_a_keyword():
    with pytest.raises(QueryError) as caught:
        windrow.replay("SELECT k FROM orders PARTITION BY k", orders=BIDS)
    assert caught.value.hint is None and "PARTITION BY" in caught.value.message


PLAIN = {
    "SELECT n * 2 AS m, upper(k) AS u FROM s WHERE n > 2": "SELECT n * 2, upper(k) FROM s WHERE n > 2",
    "SELECT m FROM (SELECT n + 1 AS m, k FROM s WHERE k <> 'b') AS q WHERE m < 5": (
        "SELECT n + 1 FROM s WHERE k <> 'b' AND n + 1 < 5"
    ),
    "WITH q AS (SELECT * FROM s) SELECT k, n FROM q WHERE k IS NULL EMIT INSERTS": "SELECT k, n FROM s WHERE k IS NULL",
    "SELECT k, n FROM s EMIT FINAL": "SELECT k, n FROM s",
}


@pytest.mark.parametrize("query", PLAIN)
@settings(max_examples=examples(25), deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.sampled_from(["a", "b", None]), st.integers(1, 5)), min_size=1, max_size=20
    ),
    st.sampled_from([None, 1, 4]),
    st.booleans(),
)
def test_rows_that_are_only_chosen_need_no_window(query, rows, size, late):
    rows = rows if late else sorted(rows, key=lambda row: row[0])
    times, keys, numbers = zip(*rows)
    s = pa.table({"ts": pa.array(times, SECOND), "k": pa.array(keys, pa.string()), "n": list(numbers)})
    found = windrow.replay(query, s=s, lateness="1 minute", flush=True, batch_rows=size).to_pylist()
    assert all(row["op"] == "+" for row in found)
    assert [row["time"] for row in found] == sorted(row["time"] for row in found)
    told = [tuple(value for name, value in row.items() if name not in ("op", "time")) for row in found]
    assert sorted(told, key=repr) == sorted(duckdb.sql(PLAIN[query]).fetchall(), key=repr)
