"""Names of streams, tables and views in another case than they were declared with mean the same."""

from __future__ import annotations

import pyarrow as pa
import pytest

import windrow
from windrow.application import Application
from windrow.draft import Draft
from windrow.errors import QueryError

TICKS = pa.table(
    {"ts": pa.array([1, 2, 7], pa.timestamp("s", tz="UTC")), "Item": ["nut", "bolt", "nut"], "n": [4, 1, 2]}
)
PRICES = pa.table({"item": ["nut", "bolt"], "Price": [2, 5]})
WINDOW = "[RANGE 5 SECONDS SLIDE 5 SECONDS]"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT SUM(N * price) AS worth FROM ticks {WINDOW} JOIN PRICES ON Ticks.item = prices.ITEM",
        f"SELECT SUM(t.n * p.price) AS worth FROM TICKS {WINDOW} AS T, prices AS P WHERE t.item = p.item",
        f"SELECT SUM(worth) AS worth FROM VALUED {WINDOW}",
        f"WITH Own AS (SELECT * FROM valued) SELECT SUM(OWN.worth) AS worth FROM own {WINDOW}",
        f"SELECT SUM(n * (SELECT MAX(n) FROM TICKS {WINDOW})) * 0 + SUM(n * price) AS worth FROM tickS {WINDOW} JOIN pRices USING (item)",
    ],
)
def test_a_query_may_spell_names_as_it_likes(query):
    views = {
        "all_of_them": "SELECT * FROM tIcKs",
        "Valued": "SELECT ts, n * price AS worth FROM ALL_OF_THEM JOIN prices USING (item)",
    }
    answers = windrow.replay(query, Ticks=TICKS, tables={"Prices": PRICES}, views=views, flush=True)
    assert answers["worth"].to_pylist() == [13, 4]


def test_two_streams_that_differ_only_in_case_are_told_apart():
    fewer = TICKS.slice(0, 1)
    query = f"SELECT SUM(n) AS n FROM {{}} {WINDOW}"
    for name, sums in (("ticks", [4]), ("TICKS", [5, 2])):
        found = windrow.replay(query.format(name), streams={"ticks": fewer, "TICKS": TICKS}, flush=True)
        assert found["n"].to_pylist() == sums
    with pytest.raises(QueryError, match="unknown stream 'Ticks'") as caught:
        windrow.replay(query.format("Ticks"), streams={"ticks": fewer, "TICKS": TICKS})
    assert caught.value.at is not None and caught.value.hint


def test_a_script_may_spell_sinks_and_streams_as_it_likes(tmp_path):
    (tmp_path / "a.csv").write_text("2024-01-01 00:00:01,nut,4\n")
    script = f"""CREATE STREAM Ticks (ts TIMESTAMP, item STRING, n INT) USING csv OPTIONS (path '{tmp_path}') TIMESTAMP BY ts;
    CREATE SINK Out USING console; CREATE SINK bad USING console FOR REJECTED OF tICKS;
    INSERT INTO OUT SELECT item, SUM(n) AS n FROM ticks {WINDOW} GROUP BY item"""
    application = Application(Draft("local[1]", {}), script)
    assert list(application.sinks) == ["Out"] and list(application.rejected) == ["Ticks"]
