"""Kafka: events per second of a job that reads JSON, beside Spark that reads and decodes the same topic only."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import duckdb
from lab.broker import Broker, missing, running_broker
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from rich.console import Console
from rich.table import Table

import windrow
from windrow.spark.packages import with_packages
from windrow.spark.settings import local_spark

from .size import Size

CARDS = 100
SCHEMA = "card STRING, amount DOUBLE, ts TIMESTAMP"
QUERY = "SELECT card, SUM(amount) AS total, COUNT(*) AS n FROM tx [RANGE 1 MINUTE SLIDE 1 SECOND] GROUP BY card"


@dataclass(frozen=True, slots=True)
class Measurement:
    """Events per second of one way, over the same topic, in one run; the ratio is to the one before."""

    case: str
    events: int
    events_per_second: float
    ratio: float | None


def events(count: int) -> list[bytes]:
    """A thousand events in a second of their own time."""
    begin = 1_767_225_600
    return [
        json.dumps(
            {
                "card": f"c{(i * 7) % CARDS}",
                "amount": float(i % 1000),
                "ts": time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(begin + i // 1000)),
            }
        ).encode()
        for i in range(count)
    ]


def read_and_decode(spark: SparkSession, broker: Broker, topic: str, folder: Path, batch: int) -> float:
    """Seconds that Spark takes to read and decode the topic, into nothing, once it is warm."""
    rows = spark.readStream.format("kafka").option("kafka.bootstrap.servers", broker.address)
    rows = rows.option("subscribe", topic).option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", batch)
    decoded = rows.load().select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("e")).select("e.*")
    query = (
        decoded.writeStream.format("noop").option("checkpointLocation", str(folder)).trigger(availableNow=True).start()
    )
    query.awaitTermination()
    return _seconds([progress["durationMs"]["triggerExecution"] for progress in query.recentProgress])


def run_job(spark: SparkSession, broker: Broker, topic: str, folder: Path, batch: int) -> tuple[float, Path]:
    """Seconds that a job takes for the same, once it is warm, and where its answers are."""
    session = windrow.Session(spark, shards=2)
    options = {"maxOffsetsPerTrigger": batch}
    session.stream_kafka("tx", broker.address, topic, schema=SCHEMA, time="ts", options=options)
    session.query("sums", QUERY)
    out = folder / "sums"
    job = session.start(str(folder / "checkpoint"), {"sums": windrow.sink("parquet", path=out)}, "available now")
    job.wait()
    query = next(iter(job._running.queries.values()))
    took = _seconds([progress["durationMs"]["triggerExecution"] for progress in query.recentProgress])
    job.stop()
    return took, out


def _seconds(batches: list[int]) -> float:
    """Of all batches but the first, which loads and compiles."""
    return sum(batches[1:]) / 1000


def check(out: Path, count: int) -> None:
    """Answers equal DuckDB's over the same events, before anything is told."""
    ((answered,),) = duckdb.sql(f"SELECT SUM(n) FROM read_parquet('{out}/*.parquet')").fetchall()
    ends = count // 1000 - 1  # the last second is not over
    expected = sum(min(end, 60) * 1000 for end in range(1, ends + 1))
    assert answered == expected, (answered, expected)
    ((last,),) = duckdb.sql(
        f"""SELECT SUM(total) FROM read_parquet('{out}/*.parquet') WHERE epoch(window_end) = 1767225600 + {ends}"""
    ).fetchall()
    first = max(0, ends - 60) * 1000
    assert last == sum(i % 1000 for i in range(first, ends * 1000))


def compare(size: str = "full") -> list[Measurement]:
    """Run it and show a table: `python -m benchmarks.kafka quick`."""
    lacks, table = missing("broker", "kafka"), Table("case", "events", "events/s", "ratio")
    if lacks is not None:
        Console().print(lacks)
        return []
    count, batch = Size(size).of((9_000, 3_000), (600_000, 100_000), (2_100_000, 300_000))
    spark = local_spark("local[2]", with_packages({}, ["kafka"]))
    found: list[Measurement] = []
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        (home / "broker").mkdir()
        with running_broker(home / "broker") as broker:
            topic = broker.topic(2)
            broker.send(topic, events(count))
            timed = count - batch
            floor = read_and_decode(spark, broker, topic, home / "floor", batch)
            took, out = run_job(spark, broker, topic, home, batch)
            check(out, count)
            again = read_and_decode(spark, broker, topic, home / "again", batch)
    spark.stop()
    best = timed / min(floor, again)
    found.append(Measurement("Spark reads and decodes into noop", timed, best, None))
    found.append(Measurement("Windrow, one query", timed, timed / took, timed / took / best))
    for each in found:
        ratio = "" if each.ratio is None else f"{each.ratio:.2f}"
        table.add_row(each.case, f"{each.events:,}", f"{each.events_per_second:,.0f}", ratio)
    Console().print(table)
    return found


if __name__ == "__main__":
    compare(*sys.argv[1:])
