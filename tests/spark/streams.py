"""Events, files of them as a stream on Spark, jobs that end, and results as a plain reader finds them."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from windrow.spark.job.job import Job

SECOND = 1_000_000
MINUTE = 60 * SECOND
START = 1_700_000_040 * SECOND
"""2023-11-14 22:14:00, the first second of a minute."""

TIME = pa.timestamp("us", tz="UTC")
PATIENCE = 300
"""So many seconds a job may take before it counts as stuck."""

Rows = list[dict[str, Any]]


def instants(times_us: Iterable[int | None]) -> pa.Array:
    """Microseconds since the epoch as timestamps."""
    return pa.array(list(times_us), pa.int64()).cast(TIME)


def put(folder: Path, *tables: pa.Table) -> None:
    """Let a file arrive for each of `tables`, whole at once; Spark takes files in the order of their change times."""
    folder.mkdir(parents=True, exist_ok=True)
    for table in tables:
        number = len(list(folder.glob("[0-9]*")))
        hidden, name = folder / f".{number:05d}", folder / f"{number:05d}.parquet"
        pq.write_table(table, hidden)
        os.utime(hidden, (1_700_000_000 + number,) * 2)
        hidden.replace(name)


def stream_of(spark: SparkSession, folder: Path, schema: str, files_a_batch: int = 1) -> DataFrame:
    """The files of a folder as a stream."""
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", files_a_batch).parquet(str(folder))


def finish(job: Job, flush: bool = True) -> None:
    """Wait until a job has worked off what is there, and, with `flush`, say that it was all."""
    assert job.wait(PATIENCE), "the job is stuck"
    if flush:
        job.flush()
        assert job.wait(PATIENCE), "the job is stuck"


def until(condition: Callable[[], bool]) -> None:
    """Wait for what a job does by itself."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "the job is stuck"
        time.sleep(0.05)


def table_of(folder: Path, batch: int | None = None) -> pa.Table:
    """What a folder of results holds for a reader that passes over hidden names; of one batch only, if asked."""
    readers: dict[str, Callable[[Path], pa.Table]] = {
        ".parquet": pq.read_table,
        ".csv": pa.csv.read_csv,
        ".json": pa.json.read_json,
    }
    files = [path for path in sorted(folder.iterdir()) if not path.name.startswith(("_", "."))]
    wanted = [path for path in files if batch is None or f"-{batch:09d}-" in path.name]
    return pa.concat_tables([readers[path.suffix](path) for path in wanted], promote_options="permissive")


def rows_of(results: pa.Table | DataFrame | Path) -> Rows:
    """Results as rows, with times in microseconds."""
    if isinstance(results, Path):
        results = table_of(results)
    table = results.toArrow() if isinstance(results, DataFrame) else results
    columns = []
    for column in table.columns:
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("us", tz=column.type.tz)).cast(pa.int64())
        columns.append(column.to_pylist())
    return [dict(zip(table.column_names, values)) for values in zip(*columns)]


def assert_same(found: Rows, expected: Rows, keys: Sequence[str] = (), relative: float = 1e-12) -> None:
    """The same rows, told apart by window and `keys`, in any order; floats may differ by `relative`, and by what 106 bits leave."""
    mine, theirs = by_place(found, keys), by_place(expected, keys)
    assert mine.keys() == theirs.keys()
    wrong = {
        place: (row, theirs[place])
        for place, row in mine.items()
        if row.keys() != theirs[place].keys()
        or not all(_same(row[name], theirs[place][name], relative) for name in row)
    }
    assert not wrong, f"{len(wrong)} of {len(mine)} rows differ, such as {next(iter(wrong.items()))}"


def by_place(rows: Rows, keys: Sequence[str]) -> dict[tuple, dict[str, Any]]:
    """The rows by window and group, of which none may occur twice."""
    placed = {
        (row["window_end"] if "window_end" in row else row["time"], *(plain(row[key]) for key in keys)): row
        for row in rows
    }
    assert len(placed) == len(rows), "a window answered a group twice"
    return placed


def plain(value: Any) -> Any:
    """A value by which rows can be matched: one NaN, one zero, lists and structs as tuples."""
    match value:
        case float():
            return "NaN" if math.isnan(value) else value + 0.0
        case list():
            return tuple(map(plain, value))
        case dict():
            return tuple((name, plain(item)) for name, item in value.items())
    return value


def _same(mine: Any, theirs: Any, relative: float) -> bool:
    if isinstance(mine, float) and isinstance(theirs, float) and not (math.isnan(mine) or math.isnan(theirs)):
        return mine == theirs or math.isclose(mine, theirs, rel_tol=relative, abs_tol=1e-15)
    return type(mine) is type(theirs) and plain(mine) == plain(theirs)
