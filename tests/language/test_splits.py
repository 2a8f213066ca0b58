"""SPLIT: several streams of one, by predicates and projections, in one scan."""

from __future__ import annotations

import pyarrow as pa
import pytest

import windrow
from windrow.application import Application
from windrow.draft import Draft
from windrow.errors import QueryError
from windrow.language import SplitStream, parse_script, to_sql

TEXT = """
CREATE STREAM positions (ts TIMESTAMP, sid INT, x DOUBLE) USING parquet OPTIONS (path '{folder}') TIMESTAMP BY ts;
CREATE STREAM balls, feet, far AS SPLIT positions
    (SELECT ts, x WHERE sid < 10),
    (SELECT ts, sid, x * 2 AS wide WHERE sid >= 10),
    (SELECT * WHERE ABS(x) > 50);
{query};
"""
EVENTS = pa.table(
    {"ts": pa.array(range(6), pa.timestamp("s", tz="UTC")), "sid": [4, 11, 12, 4, 11, 8], "x": [1.0, 60, 3, 70, 5, 6]}
)


def splits(text: str) -> SplitStream:
    (found,) = parse_script(text)
    assert isinstance(found, SplitStream)
    return found


def test_a_split_is_written_as_it_is_read() -> None:
    split = splits("create stream a, b as split s (select x, y + 1 as z where x > 1), (select *)")
    assert [name for name, _ in split.branches] == ["a", "b"]
    written = to_sql(split)
    assert written == "CREATE STREAM a, b AS SPLIT s (SELECT x, y + 1 AS z WHERE x > 1), (SELECT *)"
    assert to_sql(splits(written)) == written


def test_branches_are_streams_of_one_scan(tmp_path) -> None:
    query = """SELECT COUNT(*) AS n FROM balls [RANGE 1 MINUTE SLIDE 1 MINUTE];
               SELECT sid, SUM(wide) AS w FROM feet [RANGE 1 MINUTE SLIDE 1 MINUTE] GROUP BY sid;
               SELECT MAX(x) AS x FROM far [RANGE 1 MINUTE SLIDE 1 MINUTE] WHERE sid > 4"""
    draft = Draft("local[2]", {})
    application = Application(draft, TEXT.format(folder=tmp_path, query=query))
    assert "reads positions, one scan each, for 3 queries" in " ".join(draft.explain(application.sinks).split())
    views = {name: query for name, query in draft._views.items()}
    texts = dict(zip("abc", (statement.strip() for statement in query.split(";"))))
    written = {name: to_sql(view) for name, view in views.items()}
    found = windrow.replay(texts, positions=EVENTS, views=written, flush=True)
    assert found["a"]["n"].to_pylist() == [3]
    assert sorted(zip(found["b"]["sid"].to_pylist(), found["b"]["w"].to_pylist())) == [(11, 130.0), (12, 6.0)]
    assert found["c"]["x"].to_pylist() == [60.0]


def test_a_branch_is_split_and_joined_and_has_an_index(tmp_path) -> None:
    again = """CREATE STREAM near, twice AS SPLIT far (SELECT x WHERE x < 60), (SELECT ts, x * 2 AS y);
               SELECT y, x FROM near [RANGE 1 SECOND] JOIN twice [RANGE 1 SECOND] ON near.x = twice.y"""
    draft = Draft("local[2]", {})
    Application(draft, TEXT.format(folder=tmp_path, query=again))
    index = "CREATE INDEX i ON far [RANGE 9 SECONDS SLIDE 1 SECOND] (x) INCLUDE (sid)"
    draft = Draft("local[2]", {})
    assert list(Application(draft, TEXT.format(folder=tmp_path, query=index)).sinks) == ["i"]
    views = {name: to_sql(view) for name, view in draft._views.items()}
    replay = windrow.Replay(index, positions=EVENTS, views=views)
    replay.run(flush=True)
    assert replay.scan("i")["sid"].to_pylist() == [11, 4]
    answers = "CREATE VIEW counts AS SELECT COUNT(*) AS n FROM far [RANGE 9 SECONDS SLIDE 1 SECOND]"
    no_rows = f"{answers}; CREATE INDEX i ON counts [RANGE 9 SECONDS SLIDE 1 SECOND] (n)"
    with pytest.raises(QueryError, match="'counts' has no index"):
        Application(Draft("local[2]", {}), TEXT.format(folder=tmp_path, query=no_rows))


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ("a AS SPLIT positions", "a branch for each"),
        ("a, b AS SPLIT positions (SELECT x)", "2 streams are named, and there is 1 branch"),
        ("a AS SPLIT positions (SELECT x), (SELECT y)", "1 stream is named, and there are 2 branches"),
        ("a AS SPLIT positions (SELECT x, 1 + SUM(x) AS n)", "an aggregate is of many"),
        ("a, a AS SPLIT positions (SELECT x), (SELECT x)", "a name of its own"),
        ("a AS SPLIT positions (SELECT COUNT(*) AS n GROUP BY sid)", "a select list, and perhaps WHERE"),
        ("a AS SPLIT positions (SELECT x FROM positions)", "a select list, and perhaps WHERE"),
        ("a AS SPLIT nowhere (SELECT x)", "unknown stream 'nowhere'"),
        ("a AS SPLIT positions (SELECT y)", "unknown column 'y'"),
        ("a AS SPLIT positions (SELECT x WHERE COUNT(*) > 1)", "an aggregate"),
        ("a, b (x INT) USING parquet", "expected AS"),
    ],
)
def test_what_is_no_split(split: str, message: str, tmp_path) -> None:
    text = TEXT.split(";")[0].format(folder=tmp_path)
    with pytest.raises(QueryError, match=message):
        Application(
            Draft("local[2]", {}), f"{text}; CREATE STREAM {split}; SELECT x FROM a [RANGE 1 SECOND SLIDE 1 SECOND]"
        )
