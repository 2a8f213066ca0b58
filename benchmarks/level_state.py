"""What the state of one to five levels takes on Spark: the bytes of all blocks in the checkpoint."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import windrow

from .bench_spark import bench_spark
from .level_chain import SECOND, Line
from .level_sql import PAPER, window
from .size import Size

GROUPS = 100
FILES = 6
"""Each is a batch."""

ASKED = {"SUM": "SUM(x)", "MAX": "MAX(x)", "variance": "VAR_SAMP(x)"}


def cases(size: Size) -> Iterator[Line]:
    """Levels from the widest down to the finest: one, two and so on; and the finest alone."""
    pairs = PAPER[: size.of(2, 3, 5)]
    with tempfile.TemporaryDirectory(prefix="windrow-") as folder, bench_spark() as spark:
        source = Path(folder) / "events"
        source.mkdir()
        events = written(source, pairs[-1][0] + pairs[-1][1] + 1, size)
        for operation in size.of(["MAX"], [*ASKED], [*ASKED]):
            shapes = {f"{count} levels": pairs[-count:] for count in range(2, len(pairs) + 1)}
            for way, chosen in {"widest": pairs[-1:], **shapes, "finest": pairs[:1]}.items():
                held = measured(
                    spark, Path(folder) / f"{operation}-{len(chosen)}-{chosen[0][0]}", source, events, operation, chosen
                )
                yield {"figure": "state", "operation": operation, "way": way, "bytes": held}


def written(folder: Path, seconds: int, size: Size) -> pa.Table:
    """An event a second of each of 100 groups, in files."""
    numbers = np.arange(seconds * GROUPS)
    random = np.random.default_rng(3)
    times = pa.array(numbers // GROUPS * SECOND).cast(pa.timestamp("us", "UTC"))
    events = pa.table({"ts": times, "k": numbers % GROUPS, "x": random.random(len(numbers))})
    each = -(-len(events) // size.of(2, FILES, 2 * FILES))
    for number, start in enumerate(range(0, len(events), each)):
        pq.write_table(events.slice(start, each), folder / f"{number:03}.parquet")
    return events


def measured(
    spark: SparkSession,
    checkpoint: Path,
    source: Path,
    events: pa.Table,
    operation: str,
    pairs: Sequence[tuple[int, int]],
) -> int:
    """The bytes of the state after all files, each a batch."""
    session = windrow.Session(spark, shards=2)
    schema = "ts TIMESTAMP, k BIGINT, x DOUBLE"
    session.stream_files("connections", str(source), schema=schema, time="ts", maxFilesPerTrigger=1)
    rows = session.sql(f"SELECT k, {ASKED[operation]} AS a FROM connections {window(pairs)} GROUP BY k")
    kept: list[pa.Table] = []
    writer = rows.writeStream.option("checkpointLocation", str(checkpoint))
    query = writer.foreachBatch(lambda batch, _: kept.append(batch.toArrow())).trigger(availableNow=True).start()
    query.awaitTermination()
    check(operation, pairs, events, pa.concat_tables(kept))
    blocks = spark.read.format("statestore").option("stateVarName", "blocks").load(str(checkpoint))
    return int(blocks.selectExpr("sum(length(user_map_value.bytes))").first()[0])


def check(operation: str, pairs: Sequence[tuple[int, int]], events: pa.Table, told: pa.Table) -> None:
    """The last answers of each level are those of numpy."""
    values = events["x"].to_numpy().reshape(-1, GROUPS)
    ends = told["window_end"].cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_numpy() // SECOND
    levels = told["level"].to_numpy() if len(pairs) > 1 else np.zeros(len(ends), int)
    for level, (reach, _) in enumerate(pairs):
        end = int(ends[levels == level].max())
        rows = told.filter(pa.array((levels == level) & (ends == end))).sort_by("k")
        own = values[max(end - reach, 0) : end]
        expected = {"SUM": own.sum(0), "MAX": own.max(0)}.get(operation, own.var(0, ddof=1))
        assert np.allclose(rows["a"].to_numpy(), expected), (operation, level, end)
