"""A cluster of two workers of one core each beside `local[2]`: events in a second of the same job, `make throughput`.

The two take turns, each time in a process of its own, over the same files. All rows of every run are compared with
DuckDB's before a figure is told. Of each run the first third of the batches is left out, on both sides: workers load
there, and JVMs compile, of which a cluster has three where `local[2]` has one.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
from benchmarks.ticks import SCHEMA, Ticks
from standalone import HOST, Standalone

import windrow
from windrow.spark.settings import local_spark

LOCAL, RANGE_S = "local[2]", 60
QUERY = f"""
    SELECT symbol, SUM(price * volume) / SUM(volume) AS vwap, SUM(volume) AS volume, COUNT(*) AS n
    FROM ticks [RANGE {RANGE_S} SECONDS SLIDE 1 SECOND] GROUP BY symbol"""


def run(master: str, source: Path, output: Path) -> None:
    """Work the files off, and print how many events the steady batches had, how long they took, and which shards moved."""
    options = {"spark.driver.host": HOST, "spark.executor.cores": "1", "spark.executor.memory": "768m"}
    if master != LOCAL:
        options |= {
            "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
            "spark.python.daemon.module": "windrow.spark.workers.daemon",
        }
    spark = local_spark(master, options)
    session = windrow.Session(spark, shards=2)
    session.stream_files("ticks", str(source), schema=SCHEMA, time="ts", maxFilesPerTrigger=2)
    session.query("vwap", QUERY)
    sinks = {"vwap": windrow.sink("parquet", path=str(output / "vwap"))}
    job = session.start(str(output / "checkpoint"), sinks, "available now")
    job.wait()
    job.progress()
    batches = [batch for batch in job._watched._streams["ticks"].recent if batch["events"]]
    steady = batches[len(batches) // 3 :]
    seconds = sum(batch["seconds"] for batch in steady)
    moved = [shard.moved for shard in job.progress()["ticks"].shards.values()]
    print(json.dumps({"events": sum(batch["events"] for batch in steady), "seconds": seconds, "moved": moved}))
    spark.stop()


def differing(source: Path, output: Path) -> int:
    """How many rows are not those that DuckDB has; the windows are those that ended by the last event."""
    wanted = f"""
        WITH panes AS (SELECT epoch_us(ts) // 1000000 AS s, symbol, sum(volume) AS volume, count(*) AS n,
                              sum(price * volume) AS money FROM '{source}/*.parquet' GROUP BY ALL),
             ends AS (SELECT unnest(range((SELECT min(s) FROM panes) + 1, (SELECT max(s) FROM panes) + 1)) AS e)
        SELECT e, symbol, sum(money) / sum(volume) AS vwap, sum(volume)::BIGINT AS volume, sum(n)::BIGINT AS n
        FROM ends JOIN panes ON s < e AND s >= e - {RANGE_S} GROUP BY ALL"""
    found = f"""
        SELECT epoch_us(window_end) // 1000000 AS e, symbol, vwap, volume, n FROM '{output}/vwap/*.parquet'"""
    alike = "w.e = f.e AND w.symbol = f.symbol AND w.volume = f.volume AND w.n = f.n AND abs(w.vwap - f.vwap) < 1e-6"
    both = f"SELECT count(*) FILTER (w.e IS NULL OR f.e IS NULL) FROM ({wanted}) w FULL JOIN ({found}) f ON {alike}"
    return int(duckdb.sql(both).fetchall()[0][0])


def measured(master: str, source: Path, output: Path) -> tuple[float, list[int]]:
    """Events in a second, of a run whose rows are right, and how often each shard was read by another worker."""
    command = [sys.executable, __file__, "--job", master, str(source), str(output)]
    job = subprocess.run(command, capture_output=True, text=True, check=False)
    assert job.returncode == 0, job.stderr[-3000:]
    wrong = differing(source, output)
    assert wrong == 0, f"{wrong} rows are not those of DuckDB"
    told = json.loads(job.stdout.splitlines()[-1])
    return float(told["events"] / told["seconds"]), told["moved"]


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--rows", type=int, default=600_000, help="events a batch")
    given.add_argument("--batches", type=int, default=24)
    given.add_argument("--rounds", type=int, default=3)
    given.add_argument("--job", nargs=3, metavar=("MASTER", "INPUT", "OUTPUT"), help="one run, in this process")
    asked = given.parse_args()
    if asked.job:
        run(asked.job[0], *map(Path, asked.job[1:]))
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that nothing of the cluster is left
    with tempfile.TemporaryDirectory(prefix="windrow-throughput-") as name:
        folder = Path(name)
        (folder / "in").mkdir()
        Ticks(folder / "in", asked.rows, asked.batches).write()
        found: dict[str, list[float]] = {}
        with Standalone(folder / "cluster") as cluster:
            for number in range(asked.rounds):
                for kind, master in (("local", LOCAL), ("cluster", cluster.url)):
                    rate, moved = measured(master, folder / "in", folder / f"{kind}-{number}")
                    found.setdefault(kind, []).append(rate)
                    print(f"{kind}: {rate:,.0f} events/s, all rows are DuckDB's; shards moved {moved}", flush=True)
    local, workers = (statistics.median(found[kind]) for kind in ("local", "cluster"))
    print(f"two workers of one core do {workers / local:.2f} of {LOCAL} (aim at least 0.8)")


if __name__ == "__main__":
    main()
