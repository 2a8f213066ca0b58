"""A job keeps the current answers of the queries that ask for it: those of the newest window, exact, batch by batch."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import windrow

from .streams import put

BEGIN = datetime(2024, 1, 1, 9, tzinfo=UTC)
WINDOW = "[RANGE 30 SECONDS SLIDE 10 SECONDS]"
QUERIES = {
    "totals": (f"SELECT symbol, SUM(price) AS total FROM ticks {WINDOW} GROUP BY symbol", {"format": "answers"}),
    "best": (
        f"SELECT symbol, MAX(price) AS most FROM ticks {WINDOW} GROUP BY symbol ORDER BY most DESC, symbol LIMIT 2",
        {"format": "parquet", "keep": "answer"},
    ),
    "held": (f"SELECT symbol, COUNT(*) AS n FROM ticks {WINDOW} GROUP BY symbol EMIT CHANGES", {"format": "answers"}),
    "by_spark": (
        f"SELECT symbol, SUM(price) AS total FROM ticks {WINDOW} GROUP BY symbol ORDER BY symbol",
        {"format": "answers", "keepRows": "3"},
    ),
    "unkept": (f"SELECT COUNT(*) AS n FROM ticks {WINDOW}", {"format": "noop"}),
}


def events(first: int, count: int) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table(
        {
            "ts": pa.array([BEGIN + timedelta(seconds=i) for i in numbers], pa.timestamp("us", "UTC")),
            "symbol": [f"S{i * 7 % 5}" for i in numbers],
            "price": [float(i * 13 % 97) for i in numbers],
        }
    )


def started(spark, folder: Path) -> windrow.Job:
    session = windrow.Session(spark, shards=2)
    session.stream_files("ticks", str(folder / "in"), time="ts", maxFilesPerTrigger=1)
    sinks = {}
    for name, (text, options) in QUERIES.items():
        session.query(name, text)
        own = dict(options)
        place = {"path": str(folder / name)} if own["format"] == "parquet" else {}
        sinks[name] = windrow.sink(own.pop("format"), **own, **place)
    return session.start(str(folder / "checkpoint"), sinks, "available now")


def expected(folder: Path, end: datetime) -> dict[str, tuple[float, float, int]]:
    """Sum, most and count by symbol over exactly the events of the window that ends at `end`."""
    rows = duckdb.sql(
        f"SELECT symbol, SUM(price), MAX(price), COUNT(*) FROM '{folder}/in/*.parquet' "
        f"WHERE ts >= '{end - timedelta(seconds=30)}' AND ts < '{end}' GROUP BY symbol"
    ).fetchall()
    return {symbol: (total, most, count) for symbol, total, most, count in rows}


def check(job: windrow.Job, folder: Path, batch: int) -> None:
    totals = job.answer("totals")
    (end,) = set(totals.table["window_end"].to_pylist())
    truth = expected(folder, end)
    assert totals.batch == batch and totals.clock is not None and end <= totals.clock < end + timedelta(seconds=10)
    assert {row["symbol"]: row["total"] for row in totals} == {name: own[0] for name, own in truth.items()}
    assert [row["total"] for row in job.answer("totals", symbol="S3")] == [truth["S3"][0]]
    best = sorted(((own[1], name) for name, own in truth.items()), key=lambda row: (-row[0], row[1]))[:2]
    assert [(row["most"], row["symbol"]) for row in job.answer("best")] == best
    held = job.answer("held")
    assert {row["symbol"]: row["n"] for row in held} == {name: own[2] for name, own in truth.items()}
    assert held.since is None and "op" not in held.table.column_names
    cut = job.answer("by_spark")
    assert (len(cut), cut.cut) == (3, len(truth) - 3)


def test_answers_are_those_of_the_newest_window_also_after_a_restart(spark, tmp_path):
    put(tmp_path / "in", *(events(number * 25, 25) for number in range(3)))
    job = started(spark, tmp_path)
    with job.subscribe("totals") as seen, job.subscribe("held", since=-1) as changes:
        job.wait()
        check(job, tmp_path, 2)
        updates = [update for update in iter(lambda: seen.next(timeout=0), None)]
        told = [update for update in iter(lambda: changes.next(timeout=0), None)]
    ends = [end for update in updates for end in sorted(set(update.table["window_end"].to_pylist()))]
    assert ends == sorted(set(ends)) and ends[-1] == job.answer("totals").table["window_end"][0].as_py()
    assert [update.batch for update in told] == sorted({update.batch for update in told})
    net: dict[str, int] = {}
    for update in told:
        for row in update.to_pylist():
            if row["op"] == "+":
                net[row["symbol"]] = row["n"]
            elif net.get(row["symbol"]) == row["n"]:
                del net[row["symbol"]]
    assert net == {row["symbol"]: row["n"] for row in job.answer("held")}
    with pytest.raises(windrow.AskError, match="is not kept"):
        job.answer("unkept")
    with pytest.raises(windrow.AskError, match="no query 'nothing'"):
        job.answer("nothing")
    with pytest.raises(windrow.AskError, match="no column 'sym'"):
        job.answer("totals", sym="S1")
    put(tmp_path / "in", events(75, 25))
    again = started(spark, tmp_path)
    again.wait()
    check(again, tmp_path, 3)
