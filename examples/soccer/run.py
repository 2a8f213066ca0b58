"""Runs the four queries of the challenge over a game, in replay or on Spark, and compares them with what happened.

python examples/soccer/run.py --minutes 5
python examples/soccer/run.py --minutes 2 --spark
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import functions
import pyarrow as pa
import pyarrow.parquet as pq
from compare import compared, told
from functions import FUNCTIONS
from game import Game
from picture import draw
from queries import BRANCHES, DERIVED, queries

import windrow

COLUMNS = "ts TIMESTAMP, sid INT, x INT, y INT, z INT, v BIGINT, a BIGINT, vx INT, vy INT, vz INT"
HITS = {"hits": "SELECT kind, player, x, y FROM plays(TABLE in_play) WHERE kind = 0"}


def replayed(
    readings: pa.Table | pa.RecordBatchReader,
    asked: dict[str, str],
    seconds_a_batch: int = 10,
    told: Callable[[str, pa.Table], None] | None = None,
) -> dict[str, pa.Table]:
    """All answers in one process, the readings of some seconds at a time; a reader's batches are as they come.

    Who is `told` the rows of a reader batch by batch has them then, and none is kept.
    """
    whole = isinstance(readings, pa.Table)
    return windrow.replay(
        asked,
        readings=readings,
        views=BRANCHES,
        derived=DERIVED,
        functions=FUNCTIONS,
        told=told,
        batch_rows=15_600 * seconds_a_batch if whole else None,
    )


def declared(folder: Path, spark: object, files_a_batch: int | None) -> windrow.Session:
    """A session with the stream of the files in `readings`, its branches, the functions and what is made of them."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(functions)  # workers do not have this folder: the code travels to them
    options = {} if files_a_batch is None else {"maxFilesPerTrigger": files_a_batch}
    session = windrow.Session(spark)  # type: ignore[arg-type]
    session.stream_files("readings", str(folder / "readings"), schema=COLUMNS, time="ts", **options)
    for name, code in FUNCTIONS.items():
        session.stream_function(name, code)
    session.split("readings", {name: text.replace("FROM readings", "") for name, text in BRANCHES.items()})
    for name, text in DERIVED.items():
        session.derive(name, text)
    return session


def on_spark(
    folder: Path,
    asked: dict[str, str],
    spark: object = None,
    files_a_batch: int = 6,
    told: Callable[[int], None] = lambda readings: None,
) -> dict[str, pa.Table]:
    """All answers of one job over the files of a folder: a batch costs Spark the same, be it of a file or of six.

    Every half minute it is `told` how many readings the job has worked off.
    """
    session = declared(folder, spark, files_a_batch)
    for name, text in asked.items():
        session.query(name, text)
    sinks = {name: windrow.sink("parquet", path=folder / "answers" / name) for name in asked}
    job = session.start(str(folder / "checkpoint"), sinks, trigger="available now")
    while not job.wait(30):
        told(max((figures["events"] for figures in job.progress().values()), default=0))
    empty = {name: session.shown_columns(session.plan(name, text)).empty_table() for name, text in asked.items()}
    written = {name: folder / "answers" / name for name in asked}
    return {name: pq.read_table(path) if path.exists() else empty[name] for name, path in written.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--picture", type=Path, default=Path("game.png"))
    given = parser.parse_args()
    game, asked = Game(round(given.minutes * 60)), queries() | HITS
    began = time.perf_counter()
    if given.spark:
        with tempfile.TemporaryDirectory() as folder:
            game.write(Path(folder) / "readings")
            began = time.perf_counter()
            answers = on_spark(Path(folder), asked, told=lambda n: print(f"  {n:,} readings", flush=True))
    else:
        answers = replayed(game.reader(), asked)
    taken = time.perf_counter() - began
    faster = game.truth.seconds / taken
    print(f"{len(asked)} queries, {game.truth.seconds} s of the game in {taken:.1f} s: {faster:.1f} times real time")
    print(told(compared(game, answers)))
    draw(answers, given.picture)
    print(f"drawn in {given.picture}")


if __name__ == "__main__":
    main()
