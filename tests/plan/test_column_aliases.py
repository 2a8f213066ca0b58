"""`AS t(a, b)` renames the columns of whatever FROM names."""

from __future__ import annotations

import pyarrow as pa
import pytest

import windrow
from windrow.errors import QueryError

EVENTS = pa.table(
    {
        "ts": pa.array([1, 2, 7, 11], pa.timestamp("s", tz="UTC")),
        "i": pa.array([1, 2, None, 4], pa.int32()),
        "j": pa.array([10, 20, 30, 40], pa.int32()),
        "k": ["a", "b", None, "a"],
    }
)
FAVORITES = pa.table({"k": ["a", "b"], "j": [100, 200]})
SLIDING, HELD = "[RANGE 5 SECONDS SLIDE 5 SECONDS]", "[RANGE 5 SECONDS]"


def answers(text: str) -> list[dict]:
    return windrow.replay(text, ev=EVENTS, tables={"fav": FAVORITES}, flush=True).to_pylist()


# with other names for the columns, and the same without
SAME = [
    (f"SELECT SUM(i) AS s FROM ev {SLIDING} AS t(ts, j, i, k)", f"SELECT SUM(j) AS s FROM ev {SLIDING}"),
    (
        f"SELECT SUM(t.i) AS s FROM ev {HELD} AS t(k, j, i, ts) WHERE t.j > 1",
        f"SELECT SUM(j) AS s FROM ev {HELD} WHERE i > 1",
    ),
    (
        f"SELECT a, SUM(b) AS s FROM ev {SLIDING} AS t(ts, b, i, a) GROUP BY a HAVING MAX(i) > 1 ORDER BY a LIMIT 2",
        f"SELECT k AS a, SUM(i) AS s FROM ev {SLIDING} GROUP BY k HAVING MAX(j) > 1 ORDER BY k LIMIT 2",
    ),
    (
        "SELECT SUM(i) AS s FROM ev [PARTITION BY k ROWS 2 SLIDE 1] AS t(k, j, i, p) GROUP BY p",
        "SELECT SUM(j) AS s FROM ev [PARTITION BY k ROWS 2 SLIDE 1] GROUP BY k",
    ),
    (
        f"SELECT * FROM (SELECT k, COUNT(*) AS n FROM ev {SLIDING} GROUP BY k) AS q(n, k) WHERE k > 0",
        f"SELECT * FROM (SELECT k AS n, COUNT(*) AS k FROM ev {SLIDING} GROUP BY k) AS q WHERE k > 0",
    ),
    (
        f"WITH q(a, b) AS (SELECT i, j FROM ev) SELECT SUM(b) AS s FROM q {SLIDING}",
        f"SELECT SUM(j) AS s FROM ev {SLIDING}",
    ),
    (
        f"WITH q(a, b) AS (SELECT i, j FROM ev {HELD}) SELECT SUM(c) AS s FROM q AS r(d, c)",
        f"SELECT SUM(j) AS s FROM ev {HELD}",
    ),
    (
        f"SELECT DISTINCT b FROM (SELECT i, j FROM ev {HELD} UNION ALL SELECT j, i FROM ev {HELD}) AS q(a, b)",
        f"SELECT DISTINCT b FROM (SELECT i AS a, j AS b FROM ev {HELD} UNION ALL SELECT j, i FROM ev {HELD}) AS q",
    ),
    (
        f"SELECT a, weight FROM ev {HELD} AS t(ts, a, b, c) JOIN fav AS f(c, weight) USING (c)",
        f"SELECT i AS a, fav.j AS weight FROM ev {HELD} JOIN fav ON ev.k = fav.k",
    ),
    (
        f"SELECT weight FROM fav AS f(c, weight), ev {HELD} AS t(ts, a, b, c) WHERE f.c = t.c",
        f"SELECT fav.j AS weight FROM ev {HELD} JOIN fav ON ev.k = fav.k",
    ),
    (
        f"SELECT x.a, y.b FROM ev {HELD} AS x(ts, a, b, c) JOIN (SELECT k, SUM(j) FROM ev {HELD} GROUP BY k) AS y(c, b) ON x.c = y.c",
        f"SELECT ev.i AS a, y.b FROM ev {HELD} JOIN (SELECT k, SUM(j) AS b FROM ev {HELD} GROUP BY k) AS y ON ev.k = y.k",
    ),
]


@pytest.mark.parametrize(("renamed", "plain"), SAME)
def test_columns_go_by_the_names_of_the_alias(renamed, plain):
    assert answers(renamed) == answers(plain)
    assert answers(plain)


# text, what is underlined, a part of the message
WRONG = [
    (f"SELECT SUM(i) AS s FROM ev {SLIDING} AS t(a, b)", "AS t(a, b)", "'t' has 4 columns, and 2 names"),
    (f"SELECT SUM(i) AS s FROM ev {HELD} AS t(a, b, c, d, e)", "AS t(a, b, c, d, e)", "4 columns, and 5 names"),
    (f"SELECT SUM(a) AS s FROM ev {SLIDING} AS t(a, b, c, A)", "A", "two columns are named 'A'"),
    (f"SELECT SUM(i) AS s FROM ev {SLIDING} AS t(a, b, c, d)", "i", "unknown column 'i'"),
    (f"SELECT ev.a FROM ev {HELD} AS t(a, b, c, d)", "ev", "unknown stream 'ev'"),
    (
        f"WITH q(a) AS (SELECT i, j FROM ev) SELECT SUM(a) AS s FROM q {SLIDING}",
        "q(a)",
        "'q' has 2 columns, and 1 name for",
    ),
    (f"SELECT a FROM ev {HELD} AS t(a, b, c, d) JOIN fav AS f(d) ON t.d = f.d", "AS f(d)", "2 columns, and 1"),
    (f"SELECT b FROM (SELECT k, COUNT(*) AS n FROM ev {SLIDING} GROUP BY k) AS q(b)", "AS q(b)", "2 columns, and 1"),
]


@pytest.mark.parametrize(("text", "underlined", "message"), WRONG)
def test_names_that_do_not_fit_are_refused_where_they_stand(text, underlined, message):
    with pytest.raises(QueryError) as caught:
        answers(text)
    assert message in caught.value.message
    assert text[caught.value.at : caught.value.end] == underlined
