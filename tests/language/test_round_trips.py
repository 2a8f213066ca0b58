"""Every statement is the same after it was written out and read again."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from windrow.language import parse_query, parse_script, to_sql, window_of

SCRIPT = """
CREATE STREAM ticks (ts TIMESTAMP, symbol STRING, price DOUBLE, volume INT)
  USING parquet OPTIONS (path 'data/ticks') TIMESTAMP BY ts LATENESS 2 SECONDS;
CREATE TABLE favorites USING csv OPTIONS (path 'favorites.csv', header 'true');
CREATE SINK vwap USING parquet OPTIONS (path 'out/vwap');

INSERT INTO vwap -- volume-weighted
SELECT symbol, SUM(price * volume) / SUM(volume) AS vwap
FROM ticks [RANGE 1 HOUR SLIDE 1 SECOND]
WHERE volume > 0 GROUP BY symbol;
"""

WINDOWS = [
    "[RANGE 10 MINUTES SLIDE 2 MINUTES]",
    "[RANGE 10 MINUTES]",
    "[ROWS 1000 SLIDE 10]",
    "[ROWS 1000]",
    "[RANGE 10 MINUTES SLIDE 50 ROWS]",
    "[ROWS 1000 SLIDE 5 SECONDS]",
    "[PARTITION BY k ROWS 100 SLIDE 1]",
    "[PARTITION BY k, a.b RANGE 1 HOUR SLIDE 5 ROWS]",
    "[RANGE UNBOUNDED SLIDE 1 MINUTE]",
    "[ROWS UNBOUNDED SLIDE 10]",
    "[RANGE 1 DAY SLIDE 1 DAY OFFSET 6 HOURS]",
    "[RANGE 1 DAY SLIDE 1 DAY OFFSET -6 HOURS]",
    "[FROM x > 3 AND a[0] = 1 UNTIL y IS NULL]",
    "[SESSION 30 MINUTES]",
    "[PARTITION BY k, a.b SESSION 1 HOUR]",
    "[PARTITION BY k SESSION 1 HOUR EMIT EVERY 1 MINUTE]",
    "[ROWS 100 SLIDE 10 EMIT EVERY 1 MINUTE]",
    "[RANGES UNBOUNDED, 1 HOUR SLIDES ABOUT 1 HOUR, 1 MINUTE OFFSET 1 SECOND EMIT EVERY 1 MINUTE]",
    "[RANGE 10 MINUTES SLIDE 10 MINUTES EMIT EVERY 1 SECOND]",
    "[RANGES 1 HOUR, 10 MINUTES, 1 MINUTE SLIDES 5 MINUTES, 1 MINUTE, 1 SECOND]",
    "[RANGES 1 HOUR, 1 MINUTE SLIDES 1 MINUTE, 1 SECOND AGING (1, 0.5)]",
    "[RANGES 1 HOUR SLIDES 1 MINUTE]",
    "[ROWS 10000, 1000 SLIDES 1000, 100]",
    "[RANGE 1 HOUR SLIDE ABOUT 10 SECONDS]",
]

QUERIES = [
    "SELECT a FROM s WINDOW 1 MINUTE",
    "SELECT a FROM s GROUP BY a WINDOW TUMBLING (SIZE 1 MINUTE)",
    "SELECT a FROM s GROUP BY a WINDOW HOPPING (SIZE 1 MINUTE, ADVANCE BY 10 SECONDS) EMIT FINAL",
    "SELECT a FROM s GROUP BY a WINDOW SESSION (30 MINUTES)",
    "SELECT a FROM s LEFT JOIN r WITHIN (1 HOUR, 0 SECONDS) ON s.a = r.a",
    "SELECT a FROM s INNER JOIN r AS q WITHIN (1 HOUR, 2 HOURS) ON s.a = q.a INNER JOIN r WITHIN (1 HOUR, 1 HOUR) ON r.a = s.a",
    "SELECT a FROM s WHERE a > 1 GROUP BY a HAVING COUNT(*) > 1 ORDER BY a LIMIT 3 WINDOW 1 MINUTE EMIT CHANGES",
    "SELECT CENTER(cid), RADIUS(cid), COUNT(cid) FROM s [RANGE 1 HOUR] CLUSTER BY x, y + 1 AS cid USING C_BIRCH(50)",
    "SELECT a FROM s [RANGE 1 HOUR] UNION ALL SELECT a FROM r [RANGE 1 HOUR] EMIT SNAPSHOT",
    "SELECT a FROM s UNION SELECT a FROM r WINDOW 1 MINUTE EMIT INSERTS",
    "SELECT a FROM s INTERSECT ALL SELECT a FROM r EMIT DELETES",
    "SELECT COUNT(*) AS n FROM s [RANGE 1 HOUR] EMIT CHANGES WITH EMPTY",
    "SELECT a FROM s [RANGE 1 HOUR] EMIT LAST EVERY 10 SECONDS",
    "SELECT a, COUNT(*) AS n FROM s [RANGE 1 HOUR] GROUP BY a EMIT WHEN n > 1 AND a IS NULL",
    "SELECT a FROM s EXCEPT SELECT a FROM r",
    "(SELECT a FROM s) UNION (SELECT a FROM r) WINDOW 1 HOUR EMIT CHANGES",
    "SELECT DISTINCT a FROM s [RANGE 1 HOUR] AS t JOIN f [RANGE 2 HOURS] AS u ON t.k = u.k LEFT JOIN tab USING (k)",
    "SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM s [RANGE 1 HOUR SLIDE 1 SECOND] GROUP BY a) AS x WHERE n > 3",
    "WITH x AS (SELECT a FROM s [RANGE 1 HOUR]), y AS (SELECT 1 AS b) SELECT * FROM x CROSS JOIN y EMIT CHANGES",
    "SELECT COUNT(*) FILTER(WHERE a > 1) AS n, FIRST(a) IGNORE NULLS AS f, LAST(b) AS l FROM s [RANGE 1 HOUR]",
    "SELECT a[0], m['x'], `weird name`, `a``b` FROM `my stream` [RANGE 1 HOUR] AS `t t`",
    "SELECT my_Udf(a, b), TO_TIMESTAMP(c), SIZE(a), TO_CHAR(a, '999') FROM s [RANGE 1 HOUR]",
    "SELECT CASE WHEN a THEN 1 ELSE 2 END, CAST(a AS DECIMAL(10, 2)), a BETWEEN 1 AND 2, a LIKE 'x%' FROM s",
]

CREATES = [
    "CREATE STREAM s USING rate",
    "CREATE STREAM s (a ARRAY<MAP<STRING, DECIMAL(10, 2)>>, b STRUCT<x: INT, `y y`: STRING>) USING json",
    "CREATE STREAM s USING kafka OPTIONS (kafka.bootstrap.servers 'a:9', 'odd-key' '1') TIMESTAMP BY timestamp",
    "CREATE STREAM s USING json TIMESTAMP BY TO_TIMESTAMP(t) LATENESS 500 MILLISECONDS IDLE CLOCK",
    "CREATE STREAM s USING json TIMESTAMP BY t AHEAD 1 HOUR",
    "CREATE STREAM s USING json TIMESTAMP BY t LATENESS 1 SECOND AHEAD 0 SECONDS IDLE CLOCK",
    "CREATE STREAM ahead (ahead INT) USING json TIMESTAMP BY ahead AHEAD UNBOUNDED",
    r"CREATE STREAM `my stream` (`a b` INT, date DATE, `select` INT) USING csv OPTIONS (path 'it\'s; \\ here')",
    "CREATE TABLE t (k STRING, v VARCHAR(20)) USING org.example.Source",
    "CREATE TABLE t (k STRING) USING jdbc OPTIONS (url 'jdbc:x', dbtable 'limits') REFRESH 10 MINUTES",
    "CREATE TABLE t USING parquet OPTIONS (path 'x') REFRESH 30 SECONDS AS read_at",
    "CREATE SINK bad USING parquet OPTIONS (path 'x') FOR REJECTED",
    "CREATE SINK bad USING parquet FOR REJECTED OF ticks, `my stream`",
    "INSERT INTO vwap WITH x AS (SELECT 1) SELECT * FROM x EMIT CHANGES",
    "INSERT INTO vwap AS `by hour` SELECT 1",
]

CANONICAL = [*(f"SELECT a FROM s {window} AS t" for window in WINDOWS), *QUERIES, *CREATES]


@pytest.mark.parametrize("text", CANONICAL)
def test_a_canonical_text_is_written_as_it_was_read(text):
    (statement,) = parse_script(text)
    assert to_sql(statement) == text


@pytest.mark.parametrize("text", CANONICAL)
def test_a_statement_read_again_is_equal(text):
    (statement,) = parse_script(text)
    assert parse_script(to_sql(statement)) == (statement,)


def test_a_script_survives_with_its_comments_left_out():
    statements = parse_script(SCRIPT)
    again = parse_script(";\n".join(to_sql(statement) for statement in statements))
    assert again == statements
    assert [type(statement).__name__ for statement in statements] == [
        "CreateStream",
        "CreateTable",
        "CreateSink",
        "Insert",
    ]


@pytest.mark.parametrize(
    ("loose", "canonical"),
    [
        (
            "select a from s [range 600 seconds slide '1 second'] t",
            "SELECT a FROM s [RANGE 10 MINUTES SLIDE 1 SECOND] AS t",
        ),
        ("SELECT a FROM s [RANGE INTERVAL 10 MINUTES]", "SELECT a FROM s [RANGE 10 MINUTES]"),
        ("SELECT a FROM s [RANGE INTERVAL '10' MINUTES]", "SELECT a FROM s [RANGE 10 MINUTES]"),
        ("SELECT a FROM s [RANGE 1 HOUR 30 MINUTES]", "SELECT a FROM s [RANGE 90 MINUTES]"),
        ("SELECT a FROM s [RANGE 0.5 SECONDS]", "SELECT a FROM s [RANGE 500 MILLISECONDS]"),
        ("SELECT a FROM s [RANGE 2 WEEKS SLIDE 1 WEEK]", "SELECT a FROM s [RANGE 2 WEEKS SLIDE 1 WEEK]"),
        ("SELECT a FROM s [ROWS 10 ROWS SLIDE 5 ROWS]", "SELECT a FROM s [ROWS 10 SLIDE 5]"),
        ("SELECT a FROM s [RANGE 1 DAY OFFSET 0 SECONDS SLIDE 1 DAY]", "SELECT a FROM s [RANGE 1 DAY SLIDE 1 DAY]"),
        ("SELECT a FROM s MINUS SELECT a FROM r", "SELECT a FROM s EXCEPT SELECT a FROM r"),
        ("CREATE STREAM s USING x OPTIONS (n 5, h = true) LATENESS 1 MINUTE TIMESTAMP BY t", None),
    ],
)
def test_other_spellings_mean_the_same(loose, canonical):
    (statement,) = parse_script(loose)
    assert to_sql(statement) == (
        canonical or "CREATE STREAM s USING x OPTIONS (n '5', h 'true') TIMESTAMP BY t LATENESS 1 MINUTE"
    )


lengths_us = st.integers(min_value=1, max_value=10**13)
counts = st.integers(min_value=1, max_value=10**9)


def _texts() -> st.SearchStrategy[str]:
    duration = st.builds("{} MICROSECONDS".format, lengths_us)
    rows = st.builds("{} ROWS".format, counts)
    reach = st.one_of(
        st.builds("RANGE {}".format, duration), st.builds("ROWS {}".format, counts), st.just("RANGE UNBOUNDED")
    )
    offset = st.builds(" OFFSET {} MICROSECONDS".format, st.integers(-(10**12), 10**12))
    slide = st.one_of(
        st.just(""),
        st.builds(" SLIDE {}{}".format, duration, st.one_of(st.just(""), offset)),
        st.builds(" SLIDE ABOUT {}".format, duration),
        st.builds(" SLIDE {}".format, rows),
    )
    return st.builds("[{}{}]".format, reach, slide)


@given(_texts())
def test_any_window_round_trips(text):
    query = parse_query(f"SELECT a FROM s {text} AS t")
    again = parse_query(to_sql(query))
    assert again == query
    assert to_sql(again) == to_sql(query)
    table, table_again = query.tree.args["from_"].this, again.tree.args["from_"].this
    assert window_of(table) == window_of(table_again)


@given(st.lists(lengths_us, min_size=1, max_size=5, unique=True), st.data())
def test_any_nested_window_round_trips(ranges, data):
    slides = data.draw(st.lists(lengths_us, min_size=len(ranges), max_size=len(ranges)))
    texts = [", ".join(f"{us} MICROSECONDS" for us in us_list) for us_list in (sorted(ranges, reverse=True), slides)]
    query = parse_query(f"SELECT a FROM s [RANGES {texts[0]} SLIDES {texts[1]}]")
    assert parse_query(to_sql(query)) == query


@pytest.mark.parametrize(
    "expression",
    [
        *(
            "DATE '2020-01-01'",
            "TIMESTAMP '2020-01-01 00:00:00'",
            "INTERVAL 3 DAYS",
            "10L",
            "2.5BD",
            r"r'a\b'",
            "x::int",
        ),
        *("a <=> b", "STRUCT(a, b)", "NAMED_STRUCT('a', 1)", "TRANSFORM(xs, x -> x + 1)", "EXTRACT(HOUR FROM ts)"),
        *(
            "TRY_CAST(a AS INT)",
            "SUBSTRING(a, 1, 2)",
            "a IS NOT NULL",
            "LISTAGG(a)",
            "LOG(2, a)",
            "DATE_TRUNC('hour', ts)",
        ),
    ],
)
def test_an_expression_of_spark_round_trips(expression):
    query = parse_query(f"SELECT {expression} AS x FROM s [RANGE 1 HOUR SLIDE 1 SECOND]")
    assert parse_query(to_sql(query)) == query


def test_a_doubled_quote_is_a_quote():
    assert parse_query("SELECT 'it''s'").tree.selects[0].name == "it's"


def test_an_interval_of_several_parts_is_taken_away_as_a_whole():
    events = pa.table({"ts": pa.array([1, 100_000], pa.timestamp("s", tz="UTC"))})
    text = "SELECT MAX(ts - INTERVAL {}) AS t FROM ev [RANGE 5 SECONDS SLIDE 5 SECONDS]"
    several, one = (windrow.replay(text.format(length), ev=events) for length in ("1 HOUR 30 MINUTES", "90 MINUTES"))
    assert several.equals(one)
    assert to_sql(parse_query("SELECT a - INTERVAL 1 DAY 2 HOURS FROM s")) == (
        "SELECT a - (INTERVAL '1' DAY + INTERVAL '2' HOURS) FROM s"
    )
