"""Requests joined with several indexes and tables, in sub-queries and in conditions: as DuckDB joins them."""

from __future__ import annotations

import random
import re

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from windrow.errors import QueryError

SECOND = 1_000_000
INDEXES = [
    "CREATE INDEX i ON positions [RANGE 20 SECONDS SLIDE 5 SECONDS] (k) INCLUDE (v)",
    "CREATE INDEX j ON others [RANGE 5 SECONDS SLIDE 1 SECOND] (k) INCLUDE (v)",
    "CREATE INDEX w ON named [RANGE 9 SECONDS SLIDE 3 SECONDS] (x, k) INCLUDE (v)",
]
VIEWS = {
    "named": "SELECT o.ts, o.k, v, x FROM others AS o JOIN t ON t.k = o.k WHERE v > 1",
    "wide": "SELECT a.id, t.x, a.k, a.ts FROM requests AS a LEFT JOIN t ON t.k = a.k AND t.x < 5",
}
WITHIN = {
    "p": "p.ts >= r.ts - INTERVAL 20 SECONDS AND p.ts < r.ts",
    "q": "q.ts >= r.ts - INTERVAL 5 SECONDS AND q.ts < r.ts",
    "y": "y.ts >= r.ts - INTERVAL 9 SECONDS AND y.ts < r.ts",
}
P, Q = "i AS p ON p.k = r.k{p}", "j AS q ON q.k = r.k{q}"
QUESTIONS = [
    f"SELECT r.id, COUNT(p.v) AS n, COUNT(q.v) AS m FROM requests AS r [LEFT] JOIN {P} [LEFT] JOIN {Q} GROUP BY r.id",
    f"SELECT r.id, p.v, q.v AS w FROM requests AS r [LEFT] JOIN {P} [LEFT] JOIN {Q} AND q.v > p.v",
    f"SELECT r.id, COUNT(p.v) AS n, MAX(t.x) AS x FROM requests AS r [LEFT] JOIN {P} [LEFT] JOIN t ON t.k = r.k GROUP BY r.id",
    f"SELECT r.id, COUNT(p.v) AS n FROM requests AS r [LEFT] JOIN t ON t.k = r.k [LEFT] JOIN {P} AND p.v > t.x GROUP BY r.id",
    f"SELECT r.id, COUNT(p.v) AS n FROM (SELECT ts, id, k FROM requests WHERE id % 3 > 0) AS r [LEFT] JOIN {P} GROUP BY r.id",
    f"WITH z AS (SELECT ts, id, k FROM requests WHERE id > 3) SELECT r.id, COUNT(p.v) AS n FROM z AS r [LEFT] JOIN {P} GROUP BY r.id",
    f"SELECT id, n FROM (SELECT r.id, COUNT(p.v) AS n FROM requests AS r [LEFT] JOIN {P} GROUP BY r.id) AS y WHERE n <> 1",
    "SELECT r.id FROM requests AS r WHERE [NOT] EXISTS (SELECT 1 FROM i AS p WHERE p.k = r.k AND p.v > r.id{p})",
    "SELECT r.id FROM requests AS r WHERE r.k [NOT] IN (SELECT p.k FROM i AS p WHERE p.v > 2{p})",
    "SELECT r.id FROM requests AS r WHERE EXISTS (SELECT 1 FROM i AS p WHERE p.k = r.k{p})"
    " AND [NOT] EXISTS (SELECT 1 FROM j AS q WHERE q.k = r.k{q})",
    "SELECT r.id, COUNT(*) AS n FROM requests AS r, i AS p WHERE (p.k = r.k OR p.v < 2){p} GROUP BY r.id",
    "SELECT r.id, COUNT(p.v) AS n, COUNT(q.v) AS m FROM i AS p RIGHT JOIN requests AS r ON p.k = r.k{p}"
    f" LEFT JOIN {Q} GROUP BY r.id",
    "SELECT r.id, COUNT(*) AS n FROM i AS p JOIN j AS q ON p.k = q.k JOIN requests AS r ON r.k = p.k{p}{q} GROUP BY r.id",
    f"SELECT r.id FROM requests AS r SEMI JOIN {P}",
    "SELECT r.id, COUNT(y.v) AS n, MAX(y.x) AS x FROM requests AS r [LEFT] JOIN w AS y ON y.k = r.k{y} GROUP BY r.id",
    f"SELECT r.id, r.x, COUNT(p.v) AS n FROM wide AS r [LEFT] JOIN {P} GROUP BY r.id, r.x",
    "SELECT r.id, r.k, y.v FROM wide AS r [LEFT] JOIN w AS y ON y.x = r.x{y}",
    f"SELECT r.id FROM requests AS r ANTI JOIN {P}",
    f"SELECT r.id, COUNT(p.v) AS n FROM requests AS r [LEFT] JOIN {P} GROUP BY r.id"
    f" UNION ALL SELECT r.id, COUNT(q.v) AS n FROM requests AS r [LEFT] JOIN {Q} GROUP BY r.id",
]  # fmt: skip


def events(draw: random.Random, name: str) -> pa.Table:
    """Events up to five seconds out of order."""
    newest, times = 0, []
    for _ in range(draw.randint(1, 25)):
        newest += draw.choice([0, 0, 1, 1, 3, 9])
        times.append(max(0, newest - draw.randint(0, 5)) * SECOND)
    keys = [draw.choice(["a", "b", "c", None]) for _ in times]
    numbers = list(range(len(times)))
    return pa.table(
        {"ts": pa.array(times, pa.timestamp("us", tz="UTC")), name: numbers, "k": pa.array(keys, pa.string())}
    )


@settings(deadline=None)
@given(st.sampled_from(QUESTIONS), st.randoms(use_true_random=False), st.sampled_from([None, 1, 4, 9]))
def test_requests_meet_several_indexes_as_duckdb_joins_them(
    question: str, draw: random.Random, batch_rows: int | None
) -> None:
    question = re.sub(r"\[(\w+)\] ", lambda word: draw.choice(["", f"{word[1]} "]), question)
    streams = {"positions": events(draw, "v"), "others": events(draw, "v"), "requests": events(draw, "id")}
    table = pa.table({"k": ["a", "b", "b"], "x": [1, 2, 9]})
    ours = (
        question.format(p="", q="", y="").replace("AS r SEMI", "AS r LEFT SEMI").replace("AS r ANTI", "AS r LEFT ANTI")
    )
    answers = windrow.replay(
        ours,
        streams=streams,
        tables={"t": table},
        views=VIEWS,
        indexes=INDEXES,
        lateness="5 seconds",
        batch_rows=batch_rows,
        flush=True,
    )
    database = duckdb.connect()
    for name, rows in {
        "i": streams["positions"],
        "j": streams["others"],
        "requests": streams["requests"],
        "t": table,
    }.items():
        database.register(name, rows)
    database.register("others", streams["others"])
    for name, view in VIEWS.items():
        database.sql(f"CREATE TEMP VIEW {name} AS {view}")
    database.sql("CREATE TEMP VIEW w AS SELECT * FROM named")
    expected = database.sql(question.format(**{name: f" AND {text}" for name, text in WITHIN.items()})).to_arrow_table()
    found = answers.select(expected.column_names).to_pylist()
    assert sorted(map(repr, found)) == sorted(map(repr, expected.to_pylist()))


@pytest.mark.parametrize(
    ("text", "why", "at"),
    [
        ("SELECT r.id, (SELECT MAX(p.v) FROM i AS p WHERE p.k = r.k) AS m FROM requests AS r", "gives no value by itself", "i AS"),
        ("SELECT r.id FROM requests AS r JOIN others AS o ON o.k = r.k JOIN i AS p ON p.k = r.k", "one stream of requests", "i AS"),
        ("SELECT n FROM (SELECT COUNT(*) AS n FROM i AS p) AS q", "one stream of requests", "i AS"),
        (
            "SELECT r.id FROM i AS p LEFT JOIN j AS q ON q.k = p.k JOIN requests AS r ON r.k = p.k",
            "no event of an index",
            "requests",
        ),
        ("SELECT p.v FROM i AS p LEFT SEMI JOIN requests AS r ON r.k = p.k", "no event of an index", "requests"),
        ("SELECT r.id FROM (SELECT id, k FROM requests) AS r JOIN i AS p ON p.k = r.k", "'r' leaves out", "id, k FROM"),
        ("SELECT n FROM (SELECT r.id, COUNT(*) AS n FROM requests AS r JOIN i ON i.k = r.k GROUP BY r.id) q EMIT CHANGES", "once", "EMIT"),
    ],
)  # fmt: skip
def test_what_cannot_be_joined_is_told_where_it_is_written(text: str, why: str, at: str) -> None:
    streams = {
        name: events(random.Random(1), "id" if name == "requests" else "v")
        for name in ("positions", "others", "requests")
    }
    with pytest.raises(QueryError, match=why) as told:
        windrow.replay(text, streams=streams, indexes=INDEXES[:2])
    assert f"{text}\n  {' ' * text.index(at)}^" in str(told.value)
