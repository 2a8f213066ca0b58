"""How long a killed job takes until it answers again, and where the time goes: `make comeback`.

A live job on `local[2]` is killed with its JVM and its workers, and started again on its checkpoint. Told is when Spark
is back, when the job has been started, and when its first batch is committed. At the end its rows are compared with
DuckDB's: none is lost, and none is there twice.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.ticks import SCHEMA, Ticks
from throughput import LOCAL, QUERY, differing

import windrow
from windrow.session import Session  # loaded before Spark is started, as `windrow run` does
from windrow.spark.settings import local_spark


def run(source: Path, output: Path) -> None:
    """Tell the seconds of the clock at which Spark was there, the job started and the first batch was done."""
    spark = local_spark(LOCAL)
    told: dict[str, Any] = {"spark": time.time()}
    session = Session(spark, shards=2)
    session.stream_files("ticks", str(source), schema=SCHEMA, time="ts", maxFilesPerTrigger=2)
    session.query("vwap", QUERY)
    told["declared"] = time.time()
    sinks = {"vwap": windrow.sink("parquet", path=str(output / "vwap"))}
    job = session.start(str(output / "checkpoint"), sinks)
    told["started"] = time.time()
    query = job._running.queries["ticks"]
    while query.lastProgress is None or not query.lastProgress["numInputRows"]:
        if not job.is_active:
            job.wait()
        time.sleep(0.02)
    told["answers"] = time.time()
    told["batch"] = dict(query.recentProgress[0]["durationMs"])
    print(json.dumps(told), flush=True)
    while not (output / "end").exists():
        time.sleep(0.1)
    query.processAllAvailable()
    job.stop()
    spark.stop()


def begun(source: Path, output: Path) -> tuple[subprocess.Popen[str], dict[str, Any]]:
    """A process with the job, and what it has told once it has answered; times are since the process was started."""
    began = time.time()
    command = [sys.executable, __file__, "--job", str(source), str(output)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "the job has died"
    told = json.loads(line)
    return process, {name: at - began if isinstance(at, float) else at for name, at in told.items()}


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--kills", type=int, default=3)
    given.add_argument("--rows", type=int, default=100_000, help="events a batch")
    given.add_argument("--job", nargs=2, metavar=("INPUT", "OUTPUT"), help="the job itself, in this process")
    asked = given.parse_args()
    if asked.job:
        run(*map(Path, asked.job))
        return
    with tempfile.TemporaryDirectory(prefix="windrow-comes-back-") as name:
        source, waiting, output = (Path(name) / part for part in ("in", "waiting", "out"))
        for folder in (source, waiting, output):
            folder.mkdir()
        Ticks(waiting, asked.rows, 2 * (asked.kills + 1)).write()
        files = sorted(waiting.iterdir())
        for number in range(asked.kills + 1):
            for file in files[number * 4 : number * 4 + 4]:
                file.rename(source / file.name)
            process, told = begun(source, output)
            parts = [told["spark"], told["declared"] - told["spark"], told["started"] - told["declared"]]
            parts.append(told["answers"] - told["started"])
            after = told["answers"] - told["spark"]
            print(f"{'start' if number == 0 else 'restart'}: answers {after:.1f} s after Spark is there", end="; ")
            print("Spark {:.1f} s, declared {:.1f} s, started {:.1f} s, first batch {:.1f} s".format(*parts), end=" ")
            print(told["batch"], flush=True)
            if number < asked.kills:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        (output / "end").touch()
        process.communicate()
        assert process.returncode == 0, "the job has not ended well"
        wrong = differing(source, output)
        assert wrong == 0, f"{wrong} rows are not those of DuckDB"
        print("all rows are DuckDB's")


if __name__ == "__main__":
    main()
