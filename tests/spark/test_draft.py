"""What a draft tells without Spark is what a session tells, to the letter; else it says that it needs Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from windrow.application import Application
from windrow.draft import Draft, NeedsSpark
from windrow.errors import WindrowError
from windrow.session import Session

STREAMS = """CREATE STREAM ticks (ts TIMESTAMP, symbol STRING, price DOUBLE, volume INT, at DATE, paid DECIMAL(9, 2), ok BOOLEAN)
  USING parquet OPTIONS (path '{folder}') TIMESTAMP BY ts LATENESS 2 SECONDS;
CREATE STREAM lines (ts TIMESTAMP, symbol STRING, n BIGINT)
  USING csv OPTIONS (path '{folder}', header 'true') TIMESTAMP BY ts;
CREATE STREAM arriving (symbol STRING, n BIGINT) USING json OPTIONS (path '{folder}');
CREATE SINK out USING {format} OPTIONS (path '{folder}/out'{more});
"""

ALONE = [
    "SELECT symbol, SUM(price * volume) / SUM(volume) AS vwap FROM ticks [RANGE 1 HOUR SLIDE 1 SECOND] WHERE volume > 0"
    " GROUP BY symbol",
    "SELECT AVG(paid) AS a, MAX(at) AS b, MIN(symbol) AS c, COUNT(DISTINCT volume) AS d, MEDIAN(price) AS e"
    " FROM ticks [RANGE 7 MINUTES SLIDE 11 SECONDS]",
    "SELECT upper(symbol) AS s, year(ts) AS y, SUM(CAST(price AS INT)) AS n FROM ticks [RANGE 1 MINUTE SLIDE 7 SECONDS]"
    " GROUP BY upper(symbol), year(ts) HAVING SUM(CAST(price AS INT)) > 3",
    "SELECT symbol, MAX(price) - MIN(price) AS spread FROM ticks [RANGE 1 MINUTE SLIDE 10 SECONDS]"
    " GROUP BY symbol ORDER BY spread DESC LIMIT 3",
    "SELECT symbol, COUNT(*) AS n FROM ticks [RANGE 1 MINUTE SLIDE 10 SECONDS] GROUP BY symbol ORDER BY n",
    "SELECT symbol, COUNT(*) AS n FROM ticks [RANGE 1 MINUTE SLIDE 10 SECONDS] GROUP BY symbol EMIT CHANGES",
    "SELECT symbol, COUNT(*) AS n FROM ticks [ROWS 100 SLIDE 10] GROUP BY symbol",
    "SELECT t.symbol, t.price, l.n FROM ticks [RANGE 1 MINUTE] AS t JOIN lines [RANGE 1 MINUTE] AS l"
    " ON t.symbol = l.symbol WHERE t.price > 2",
    "SELECT DISTINCT symbol FROM ticks [RANGE 1 MINUTE]",
    "SELECT symbol, SUM(n) AS n FROM lines [RANGE 1 MINUTE SLIDE 1 MINUTE] GROUP BY symbol",
    "SELECT SUM(n) AS n FROM arriving [RANGE 1 MINUTE SLIDE 1 MINUTE]",
    "SELECT symbol, VARIANCE(price) AS v, REGR_SLOPE(price, volume) AS r FROM ticks [RANGE 1 DAY SLIDE 1 HOUR] GROUP BY 1",
    "SELECT CLUSTER_ID() AS c, COUNT(*) AS n FROM ticks [RANGE 1 MINUTE SLIDE 10 SECONDS]"
    " CLUSTER BY DBSCAN(0.5, 3) ON (price, volume)",
    "SELECT MAX(n) AS most FROM (SELECT symbol, COUNT(*) AS n FROM ticks [RANGE 1 MINUTE SLIDE 10 SECONDS]"
    " GROUP BY symbol) [RANGE 1 HOUR SLIDE 1 MINUTE]",
    "SELECT window_end AS e, SUM(CASE WHEN ok THEN volume ELSE 0 END) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE]",
    "SELECT date_format(ts, 'yyyy-MM-dd') AS d, SUM(volume % 7) AS n, SUM(volume / 2) AS m, MAX(paid * 3) AS p,"
    " MIN(round(price, 1)) AS r FROM ticks [RANGE 1 DAY SLIDE 1 HOUR] WHERE symbol LIKE 'A%' OR volume IN (1, 2)"
    " GROUP BY date_format(ts, 'yyyy-MM-dd')",
    "SELECT symbol, SUM(prise) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE] GROUP BY symbol",
    "SELECT symbol, SUM(symbol) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE] GROUP BY symbol",
    "SELECT price, COUNT(*) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE] GROUP BY symbol",
    "SELECT symbol, COUNT(*) AS n FROM trades [RANGE 1 MINUTE SLIDE 1 MINUTE] GROUP BY symbol",
]
"""Queries, right and wrong, that need no Spark to be told about."""

ASKED = [
    "SELECT my_function(symbol) AS s, COUNT(*) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE] GROUP BY my_function(symbol)",
    "SELECT SUM(abs(price, 2)) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE]",
    "SELECT SUM(at + price) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE]",
    "SELECT COUNT(*) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE] WHERE symbol + ok",
    "SELECT SUM(month(price)) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE]",
    "SELECT MAX(to_csv(struct(symbol))) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE]",
    "SELECT SUM(volume) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE] WHERE volume",
    "SELECT SUM(length(volume, 3)) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE]",
    "SELECT SUM(substring(symbol, 'x')) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE]",
    "SELECT MAX(if(ok, price, symbol)) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE]",
    "SELECT MAX(coalesce(ok, volume)) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE]",
    "SELECT COUNT(*) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE] WHERE ts > price",
    "SELECT COUNT(*) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE] WHERE NOT symbol",
    "SELECT MAX(-symbol) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE] WHERE ok = 1 AND symbol = 1",
]
"""Queries of which most are wrong by Spark's own rules. Whoever tells, it is the same."""


def declared(on: Session | Draft, query: str, folder: Path, format: str = "parquet", more: str = "") -> tuple[str, str]:
    text = STREAMS.format(folder=folder, format=format, more=more) + f"INSERT INTO out {query};"
    try:
        sinks = Application(on, text).sinks
        return "told", on.explain(sinks=sinks)
    except WindrowError as error:
        return "wrong", str(error)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ticks")
    kinds = {"ts": pa.timestamp("us", "UTC"), "symbol": pa.string(), "price": pa.float64(), "volume": pa.int32()}
    kinds |= {"at": pa.date32(), "paid": pa.decimal128(9, 2), "ok": pa.bool_()}
    (folder / "other").mkdir()
    pq.write_table(pa.schema(kinds).empty_table(), folder / "ticks.parquet")
    return folder


@pytest.mark.parametrize(
    "format, more",
    [("parquet", ""), ("csv", ", partitionBy 'n', sep 'xx'"), pytest.param("json", "", marks=pytest.mark.slow)],
)
def test_a_draft_tells_what_a_session_tells(spark, folder: Path, format: str, more: str) -> None:
    queries = ALONE if format == "parquet" else ALONE[-4:] + ALONE[2:6]
    differ = []
    for query in queries:
        try:
            drafted = declared(Draft("local[2]", {}), query, folder, format, more)
        except NeedsSpark as reason:
            differ.append((query, f"needs Spark: {reason}", ""))
            continue
        told = declared(Session(spark), query, folder, format, more)
        if drafted != told:
            differ.append((query, drafted, told))
    assert not differ


def test_what_spark_refuses_no_draft_lets_pass(spark, folder: Path) -> None:
    differ = []
    for query in ASKED:
        try:
            drafted = declared(Draft("local[2]", {}), query, folder)
        except NeedsSpark:
            continue
        told = declared(Session(spark), query, folder)
        if drafted != told:
            differ.append((query, drafted, told))
    assert not differ


@pytest.mark.parametrize(
    ("ddl", "value", "alone"),
    [
        ("day DATE, ts TIMESTAMP, n BIGINT", "2026-11-16", True),
        ("ts TIMESTAMP, Day STRING, n BIGINT", "2026-11-16", True),
        ("ts TIMESTAMP, n BIGINT, day INT", "20261116", True),
        ("ts TIMESTAMP, n BIGINT", "2026-11-16", False),
        ("ts TIMESTAMP, n BIGINT, day DATE", "soon", False),
        ("ts TIMESTAMP, n BIGINT, day DOUBLE", "1", False),
    ],
)
def test_declared_columns_of_folders_are_told_without_spark(spark, tmp_path: Path, ddl: str, value: str, alone: bool):
    folder = tmp_path / "ticks" / f"day={value}"
    folder.mkdir(parents=True)
    pq.write_table(
        pa.schema([("ts", pa.timestamp("us", "UTC")), ("n", pa.int64())]).empty_table(), folder / "a.parquet"
    )
    text = f"""CREATE STREAM ticks ({ddl}) USING parquet OPTIONS (path '{tmp_path}/ticks') TIMESTAMP BY ts;
        CREATE SINK out USING parquet OPTIONS (path '{tmp_path}/out');
        INSERT INTO out SELECT day, COUNT(*) AS c FROM ticks [RANGE 1 HOUR SLIDE 1 HOUR] GROUP BY day;"""
    draft = Draft("local[2]", {})
    if not alone:
        with pytest.raises(NeedsSpark):
            Application(draft, text)
        return
    session = Session(spark)
    drafted, told = (on.explain(sinks=Application(on, text).sinks) for on in (draft, session))
    assert drafted == told
    assert draft._streams["ticks"].schema == session._streams["ticks"].schema
