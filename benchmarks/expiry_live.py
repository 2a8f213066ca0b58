"""Output delay under four ways to expire, on Spark, as sales come in: Figures 8 to 11 on the engine.

Sales bear the time at which they happen, and are files a tenth of a second later at most. The delay of a change is from
its own instant, an event or an expiry, to the moment at which a reader sees its row.
While a job gets going none counts. Where all queries are measured, the streams fall silent at the end, and what is left
expires by the clock alone.
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

import windrow
from windrow.plan.expiry import Expiry

from .bench_spark import bench_spark
from .expiry_cases import SECOND, tables
from .expiry_sales import Sales
from .expiry_spark import SCHEMA
from .expiry_sql import SNAPSHOTS, check_changes, q1_text, q2_text
from .look_for_rows import Reader
from .size import Size

BY_ARRIVAL = "timed by arrival"
ROWS = "SELECT item, price FROM a"
PAPER_REACH = 60
"""Seconds of the windows in the paper and in the simulator."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A point of a figure: a query without its window, as `at` it is asked."""

    case: str
    query: str
    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Work:
    """What one job has: queries over streams of one rate, whose items are so many that joins find as many partners
    in a window as they do in one of a minute."""

    asked: tuple[Asked, ...]
    streams: str = "ab"
    rate: float = 10
    items: int = 100
    then_silent: bool = False


@dataclass(frozen=True, slots=True)
class LiveDelay:
    """Seconds from the instant of a change to its row in a sink; `silent` is of those after the last event."""

    case: str
    query: str
    way: str
    at: float
    changes: int
    mean_s: float
    most_s: float
    silent_mean_s: float
    silent_most_s: float
    trigger_s: float = 0


@dataclass(frozen=True, slots=True)
class Lengths:
    """Seconds: of a window, until delays count, and of counting."""

    reach: int
    settle: int
    seconds: int
    then_silent: int = field(default=0)

    def items(self, wanted: int) -> int:
        """So many that a row meets as many others in this window as in one of a minute with `wanted` items."""
        return max(10, wanted * self.reach // PAPER_REACH)


def measure_live(size: Size) -> Iterator[LiveDelay]:
    """Each case in one job for each way; answers are checked before delays are told."""
    lengths = Lengths(*size.of((1, 0, 1), (4, 8, 8), (20, 8, 30)))
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as kept, bench_spark(driver_memory="2g") as spark:
        for number, (work, way) in enumerate(_jobs(size, lengths)):
            yield from _Live(spark, Path(kept) / str(number), lengths, work).run(way, "ts")
        for trigger_s in size.of((0,), (0, 2), (0, 2)):
            work = Work((Asked("queries", "rows", 10, ROWS),), "a", then_silent=True)
            live = _Live(spark, Path(kept) / f"arrival{trigger_s}", lengths, work)
            yield from live.run(Expiry.HYBRID, None, trigger_s)


def _jobs(size: Size, lengths: Lengths) -> Iterator[tuple[Work, Expiry]]:
    """What jobs there are: all queries and Q1 by selectivity, Q3 and Q4 by rate, and Q2 by joins."""
    names = size.of((), ("Q1", "Q2", "Q5"), tuple(SNAPSHOTS))
    selectivities = size.of((1.0,), (0.1, 1.0), (0.1, 0.25, 0.5, 0.75, 1.0))
    asked = [Asked("queries", name, 10, SNAPSHOTS[name]) for name in names]
    asked += [Asked("selectivity", "Q1", share, q1_text(share)) for share in selectivities]
    few, more = lengths.items(100), lengths.items(600)
    first = Work(tuple(asked), "ab" if names else "a", items=few, then_silent=True)
    yield from ((first, way) for way in size.of((Expiry.HYBRID,), tuple(Expiry), tuple(Expiry)))
    ways = tuple(Expiry) if size.is_full else (Expiry.INPUT, Expiry.HYBRID)
    for rate in size.of((), (20,), (5, 10, 20, 40)):
        by_rate = tuple(Asked("rate", name, rate, SNAPSHOTS[name]) for name in ("Q3", "Q4"))
        yield from ((Work(by_rate, "a", rate, few), way) for way in ways)
    for joins in size.of((), (3,), (2, 3, 4, 5)):
        by_joins = (Asked("joins", "Q2", joins, q2_text(joins)),)
        yield from ((Work(by_joins, "abcde"[:joins], items=more), way) for way in ways)


ARRIVES_WITHIN_S = 5
"""Where time is that of arrival, the last sale has that of the batch that reads it."""


class _Live:
    """Runs one job beside sales that happen, and reads its rows as they come."""

    def __init__(self, spark: SparkSession, folder: Path, lengths: Lengths, work: Work) -> None:
        self._spark, self._folder, self._lengths, self._work = spark, folder, lengths, work
        self._sales = Sales(
            folder, work.streams, work.rate, lengths.reach + lengths.settle + lengths.seconds, work.items
        )

    def run(self, way: Expiry, time_column: str | None, trigger_s: float = 0) -> Iterator[LiveDelay]:
        """The delays of its queries; `time_column` is None where time is that of arrival."""
        folder, sales, reach = self._folder, self._sales, self._lengths.reach
        session = windrow.Session(self._spark, shards=2, choose={"expiry": way.value})
        for stream in self._work.streams:
            (folder / stream).mkdir(parents=True)
            idle = time_column is not None
            session.stream_files(stream, str(folder / stream), schema=SCHEMA, time=time_column, idle_clock=idle)
        for table, rows in tables().items():
            session.table(table, self._spark.createDataFrame(rows.to_pandas()))
        asked = {f"q{number}": each for number, each in enumerate(self._work.asked)}
        for name, each in asked.items():
            session.query(name, f"{each.text} WINDOW {reach} SECONDS")
        out = {name: folder / "out" / name for name in asked}
        reader = Reader(list(out.values()), "time")
        reader.start()
        sinks = {name: windrow.sink("parquet", path=path) for name, path in out.items()}
        job = session.start(str(folder / "checkpoint"), sinks, f"{trigger_s} seconds" if trigger_s else None)
        sales.start()
        sales.join()
        over = sales.ended_us + reach * SECOND if self._work.then_silent else sales.last_us
        over += 0 if time_column is not None else ARRIVES_WITHIN_S * SECOND
        while not _has_come_to(job, over):
            assert not job.wait(0.1), "the job has ended"
            reader.check()
        job.stop()
        reader.stop()
        for (name, each), seen in zip(asked.items(), reader.seen):
            changes = duckdb.sql(f"SELECT * FROM '{out[name]}/*.parquet' ORDER BY time, op").to_arrow_table()
            if time_column is None:
                self._check_rows(changes)
            elif way is not Expiry.INPUT:  # which tells what is over when the next event comes, or never
                check_changes(each.text, changes, sales.tables, reach * SECOND, sales.began_us)
            told = BY_ARRIVAL if time_column is None else way.value
            delays = self._delays(seen)
            yield LiveDelay(each.case, each.query, told, each.at, len(changes), *delays, trigger_s)

    def _check_rows(self, changes: pa.Table) -> None:
        """Every row has come once and gone once, the range after it came."""
        came, gone = (
            Counter(zip(*(changes.filter(pc.equal(changes["op"], op))[name].to_pylist() for name in ("item", "price"))))
            for op in "+-"
        )
        sold = Counter(zip(*(self._sales.tables["a"][name].to_pylist() for name in ("item", "price"))))
        assert came == sold, f"{(came - sold).total()} rows too many, {(sold - came).total()} missing"
        assert came == gone, f"{(came - gone).total()} rows have not gone, {(gone - came).total()} too many have"

    def _delays(self, seen: Mapping[int, float]) -> tuple[float, float, float, float]:
        """Mean and most while events come, and when none come any more."""
        sales = self._sales
        instants = np.array(sorted(seen))
        late = np.array([seen[instant] for instant in instants.tolist()]) - instants / SECOND
        settled = instants > sales.began_us + (self._lengths.reach + self._lengths.settle) * SECOND
        silent = instants > (sales.ended_us if self._work.then_silent else math.inf)
        return *_mean_and_most(late[settled & ~silent]), *_mean_and_most(late[settled & silent])


def _has_come_to(job: windrow.Job, instant_us: int) -> bool:
    """Whether the clocks of all that the job reads have passed an instant."""
    clocks = [figures.clock for figures in job.progress().values()]
    return all(clock is not None and clock.timestamp() * SECOND > instant_us for clock in clocks) and bool(clocks)


def _mean_and_most(late: np.ndarray) -> tuple[float, float]:
    return (float(late.mean()), float(late.max())) if len(late) else (math.nan, math.nan)
