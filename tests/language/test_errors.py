"""A mistake is told with its place, the words and the way out."""

import pytest

from windrow.errors import QueryError
from windrow.language import error_at, parse_duration, parse_query, parse_script, span_of

WINDOW = "SELECT a FROM s "
CREATE = "CREATE STREAM s "

# text, column, underlined, a part of the message, a part of the hint
CASES = [
    ("SELCT a FROM s", 1, "SELCT", "unknown statement", "SELECT"),
    ("DROP TABLE x", 1, "DROP", "unknown statement", "CREATE or INSERT"),
    ("CREATE STRAEM s USING x", 8, "STRAEM", "expected STREAM", "STREAM"),
    ("CREATE PANE v AS SELECT 1", 8, "PANE", "expected STREAM, TABLE, VIEW, SINK or INDEX", None),
    (WINDOW + "[RANG 10 MINUTES]", 18, "RANG", "expected RANGE", "RANGE"),
    (WINDOW + "[RANGE 10 MINUTS]", 27, "MINUTS", "unknown unit", "MINUTES"),
    (WINDOW + "[RANGE 10 MINUTES SLDIE 2 MINUTES]", 35, "SLDIE", "expected SLIDE", "SLIDE"),
    (WINDOW + "[RANGE 10 MINUTES SLIDE 2 MINUTES", 17, "[", "not closed", "]"),
    (WINDOW + "[RANGE 10 MINUTES) WHERE a > 1", 34, ")", "expected ']'", "]"),
    (WINDOW + "[RANGE -10 MINUTES]", 24, "-10 MINUTES", "a range must be positive", "10 MINUTES"),
    (WINDOW + "[RANGE 10 MINUTES SLIDE 0 SECONDS]", 41, "0 SECONDS", "a slide must be positive", "10 MINUTES"),
    (WINDOW + "[RANGE 1 MONTH]", 24, "1 MONTH", "no fixed length", "DAYS"),
    (WINDOW + "[RANGE 10]", 24, "10", "no unit", "10 MINUTES"),
    (WINDOW + "[RANGE 0.0000001 SECONDS]", 24, "0.0000001 SECONDS", "whole number of microseconds", "microseconds"),
    (WINDOW + "[ROWS 1.5]", 23, "1.5", "positive whole number", None),
    (WINDOW + "[ROWS 10 MINUTES]", 26, "MINUTES", "ROWS counts rows", "RANGE"),
    (WINDOW + "[]", 18, "]", "expected RANGE", None),
    (WINDOW + "[RANGE 1 HOUR, 2 HOURS]", 30, ",", "one range", "RANGES"),
    (WINDOW + "[RANGES 1 MINUTE, 1 HOUR SLIDES 1 SECOND, 1 SECOND]", 35, "1 HOUR", "shorter", None),
    (WINDOW + "[RANGE 1 HOUR OFFSET 1 SECOND]", 38, "1 SECOND", "OFFSET shifts", "SLIDE"),
    (WINDOW + "[PARTITION BY a RANGE 1 HOUR]", 31, "a", "PARTITION BY counts rows", "GROUP BY"),
    (WINDOW + "[FROM a > 1 UNTL b < 2]", 29, "UNTL", "expected UNTIL", "UNTIL"),
    (WINDOW + "t [RANGE 1 HOUR]", 19, "[", "alias", "s [RANGE ...] AS t"),
    ("SELECT a FORM s [RANGE 1 HOUR]", 10, "FORM", "unexpected", "FROM"),
    (WINDOW + "[RANGE 1 HOUR] WHRE a > 1", 32, "WHRE", "unexpected", "WHERE"),
    (WINDOW + "[RANGE 1 HOUR] GRUOP BY a", 32, "GRUOP", "unexpected", "GROUP"),
    (WINDOW + "EMITT CHANGES", 17, "EMITT", "unexpected", "EMIT"),
    (WINDOW + "EMIT CHANGE", 22, "CHANGE", "expected SNAPSHOT", "CHANGES"),
    (WINDOW + "AGING (1, 0.5)", 17, "AGING", "unexpected", "inside the brackets"),
    (WINDOW + "SLIDE 5 SECONDS", 17, "SLIDE", "unexpected", "brackets"),
    (WINDOW + "WINDOW w AS (PARTITION BY a)", 24, "w", "no OVER names the window 'w'", "RANGE"),
    (WINDOW + "CLUSTER BY a", 17, "CLUSTER BY a", "USING", "C_BIRCH"),
    (WINDOW + "CLUSTER BY a AS c USNG x", 35, "USNG", "expected USING", "USING"),
    (WINDOW + "SORT BY a", 25, "a", "SORT BY", "ORDER BY"),
    (WINDOW + "LATERAL VIEW EXPLODE(x) t AS y", 30, "EXPLODE(x) t AS y", "LATERAL VIEW", None),
    ("SELECT /*+ BROADCAST(s) */ a FROM s", 8, "/*+ BROADCAST(s) */", "HINT", "leave it out"),
    ("SELECT a FROM (SELECT a FROM s EMIT CHANGES) AS x", 32, "EMIT CHANGES", "whole query", None),
    ("SELECT a, FROM s", 11, "FROM", "unexpected", None),
    ("SELECT a FROM s WHERE a > GROUP BY a", 27, "GROUP BY", "unexpected", None),
    ("SELECT a FROM s WHERE a >", 26, "", "ends too early", None),
    ("SELECT SUM(a, b, c) FROM s", 8, "SUM", "does not take 3 arguments", None),
    ("SELECT MAP(a) FROM s", 8, "MAP", "does not take", None),
    ("SELECT 'abc FROM s", 8, "'abc FROM s", "string is not closed", "'"),
    ("SELECT /* abc", 8, "/* abc", "comment is not closed", "*/"),
    ("SELECT a FROM s)", 16, ")", "closes nothing", None),
    (CREATE + "(a DUBLE) USING x", 20, "DUBLE", "unknown type", "DOUBLE"),
    (CREATE + "(a ARRAY<STRNG>) USING x", 26, "STRNG", "unknown type", "STRING"),
    (CREATE + "(a TEXT) USING x", 20, "TEXT", "unknown type", None),
    (CREATE + "(a INT, A INT) USING x", 25, "A", "two columns", None),
    (CREATE + "USING x LATNESS 2 SECONDS", 25, "LATNESS", "expected TIMESTAMP BY", "LATENESS"),
    (CREATE + "USING x LATENESS -2 SECONDS", 34, "-2 SECONDS", "not be negative", None),
    (CREATE + "USING x LATENESS 2 SECONDS", 25, "LATENESS", "LATENESS needs TIMESTAMP BY", "leave LATENESS out"),
    (CREATE + "USING x IDLE CLOCK", 25, "IDLE", "IDLE CLOCK needs TIMESTAMP BY", "leave IDLE CLOCK out"),
    (CREATE + "USING x IDLE CLOCK LATENESS 1 SECOND", 25, "IDLE", "IDLE CLOCK needs TIMESTAMP BY", "leave IDLE"),
    (CREATE + "USING x IDLE CLOCK IDLE CLOCK", 36, "IDLE", "only one IDLE", None),
    (CREATE + "USING x AHEAD 1 HOUR", 25, "AHEAD", "AHEAD needs TIMESTAMP BY", "leave AHEAD out"),
    (CREATE + "USING x TIMESTAMP BY t AHEAD -1 HOUR", 46, "-1 HOUR", "not be negative", None),
    (CREATE + "USING x TIMESTAMP BY t AHEAD 1", 46, "1", "has no unit", None),
    (CREATE + "USING x TIMESTAMP BY t AHEAD", 45, "", "the statement ends", None),
    (CREATE + "USING x TIMESTAMP BY t AHEAD 1 MONTH", 48, "MONTH", "no fixed length", None),
    (CREATE + "USING x TIMESTAMP BY t AHEAD 1 HOUR AHEAD UNBOUNDED", 53, "AHEAD", "only one AHEAD", None),
    (CREATE + "USING x TIMESTAMP BY t AHED 1 HOUR", 40, "AHED", "expected TIMESTAMP BY", "AHEAD"),
    (CREATE + "USING x OPTIONS (p 1, p 2)", 39, "p", "twice", None),
    ("CREATE SINK s USING x FOR REJECTD", 27, "REJECTD", "expected REJECTED", "REJECTED"),
    (WINDOW + "WHERE a > 1e", 27, "1e", "not a number", "1e0"),
    (WINDOW + "WHERE a > 0x1F", 27, "0x1F", "not a number", "X'1F'"),
    ("SELECT CAST(a AS DECIMAL(99, 1)) FROM s", 18, "DECIMAL(99, 1)", "1 to 38 digits", "DECIMAL(38, 2)"),
    ("SELECT a::DECIMAL(3, 5) FROM s", 11, "DECIMAL(3, 5)", "no more behind the point", None),
    ("SELECT CAST(a AS ARRAY<DECIMAL(x)>) FROM s", 24, "DECIMAL(x)", "1 to 38 digits", None),
    (f"SELECT {'9' * 39}BD FROM s", 8, f"{'9' * 39}BD", "1 to 38 digits", None),
    (CREATE + "(a DECIMAL(0)) USING x", 20, "DECIMAL(0)", "1 to 38 digits", None),
    (WINDOW + "WHERE a = '\ud800'", 28, "\ud800", "half a character, U+D800", "leave it out"),
    ("INSERT INTO x VALUES (1)", 15, "VALUES", "expected SELECT", None),
    ("INSERT OVERWRITE x SELECT 1", 8, "OVERWRITE", "expected INTO", None),
    ("SELECT INTERVAL INTERVAL '3 days' FROM s", 8, "INTERVAL INTERVAL '3 days'", "not another INTERVAL", "3 DAYS"),
    ("SELECT a FROM s GROUP BY a WITH ROLLUP WITH ROLLUP", 26, "a", "one WITH ROLLUP or WITH CUBE", None),
    (
        "SELECT a FROM s GROUP BY DISTINCT ROLLUP (a)",
        43,
        "a",
        "DISTINCT before the expressions of GROUP BY",
        "name each",
    ),
    ("SELECT a FROM s GROUP BY ALL ROLLUP (a)", 38, "a", "ALL before the expressions of GROUP BY", "by itself"),
    ("SELECT a FROM s GROUP BY a WITH CUBE WITH ROLLUP", 26, "a", "one WITH ROLLUP or WITH CUBE", None),
]


@pytest.mark.parametrize(("text", "column", "underlined", "message", "hint"), CASES)
def test_a_mistake_is_told_where_it_stands(text, column, underlined, message, hint):
    script = f"SELECT 1;\n{text}"
    with pytest.raises(QueryError) as caught:
        parse_script(script)
    error = caught.value
    assert (error.line, error.column) == (2, column)
    assert script[error.at : error.end] == underlined
    assert message in error.message
    assert hint is None or hint in (error.hint or "")


def test_half_a_character_is_told_in_whole_ones():
    with pytest.raises(QueryError) as caught:
        parse_query("SELECT '\udfff'")
    assert str(caught.value).encode()


def test_a_query_is_alone():
    with pytest.raises(QueryError, match="another statement follows"):
        parse_query("SELECT 1; SELECT 2")
    with pytest.raises(QueryError, match="not a query"):
        parse_query("CREATE SINK s USING x")
    with pytest.raises(QueryError, match="no query"):
        parse_query(" -- nothing\n;")


@pytest.mark.parametrize(
    "written",
    [
        "nonsense(a, 1)",
        "CASE WHEN a THEN 1 END",
        "CAST(a AS INT)",
        "(a + b)",
        "NOT a",
        "NULL",
        "-a",
        "x.y",
        "a[0]",
        "'s'",
    ],
)
def test_any_part_of_a_query_can_be_underlined(written):
    query = parse_query(f"SELECT 1,\n  {written} AS c FROM s [RANGE 1 HOUR]")
    error = error_at(query.tree.copy().selects[1].this, "odd", query.text, "drop it")
    assert query.text[error.at : error.end] == written
    assert (error.line, error.column, error.hint) == (2, 3, "drop it")


def test_a_made_up_node_has_no_place():
    assert span_of(parse_query("SELECT 1").tree.__class__()) is None


def test_names_and_statements_know_their_places():
    script = "SELECT 1;\nCREATE SINK `my sink` USING x FOR REJECTED OF a, b; INSERT INTO other SELECT 2;"
    query, sink, insert = parse_script(script)
    spans = [query.span, sink.span, sink.name_span, *sink.stream_spans, insert.sink_span, insert.query.span]
    assert [script[start:end] for start, end in spans] == [
        "SELECT 1",
        "CREATE SINK `my sink` USING x FOR REJECTED OF a, b",
        "`my sink`",
        "a",
        "b",
        "other",
        "SELECT 2",
    ]


def test_a_duration_in_an_argument_is_read_alike():
    assert parse_duration("2 seconds") == 2_000_000
    with pytest.raises(QueryError, match="not a length of time"):
        parse_duration("soon")
