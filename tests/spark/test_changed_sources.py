"""Sources whose columns change while a job reads them: what docs/schemas.md says of each happens."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import JobError

from .streams import SECOND, START, finish, instants, put, rows_of

TEXT = "SELECT COUNT(*) AS n, COUNT(v) AS known, SUM(v) AS total FROM {stream} [RANGE 100 SECONDS SLIDE 100 SECONDS]"
FIVE, LARGE = 5, 3_000_000_000
NAMES = ("files", "by_spark", "texts", "spare")


def event(second: int, kind: pa.DataType, v: int | None = FIVE, **more: int) -> pa.Table:
    columns = {"ts": instants([START + second * SECOND])} | ({} if v is None else {"v": pa.array([v], kind)})
    return pa.table(columns | {name: pa.array([value]) for name, value in more.items()})


def line(second: int, **columns: int) -> str:
    return json.dumps({"ts": f"2024-01-01T00:00:{second:02d}.000Z", **columns})


def test_columns_that_come_go_and_get_wider_do_what_is_written(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(tmp_path / "files", event(0, pa.int32()), event(1, pa.int32(), more=1), event(2, pa.int32(), None))
    (tmp_path / "texts").mkdir()
    lines = [line(0, v=FIVE), line(1, v=FIVE, more=1), line(2), line(3, v=LARGE)]
    (tmp_path / "texts" / "0.json").write_text("\n".join(lines))

    (tmp_path / "spare").mkdir()
    (tmp_path / "spare" / "0.json").write_text("\n".join(map(line, range(3))))

    def run(declared: str, *names: str) -> windrow.Job:
        session = windrow.Session(spark, shards=1)
        files, wide = str(tmp_path / "files"), f"ts TIMESTAMP, v {declared}"
        session.stream_files("files", files, schema=wide, time="ts")
        session.stream_files("by_spark", files, schema=wide, time="ts", mergeSchema=True)
        for name in ("texts", "spare"):
            session.stream_files(name, str(tmp_path / name), schema="ts TIMESTAMP, v INT", time="ts", format="json")
        for name in names:
            session.query(f"of_{name}", TEXT.format(stream=name))
        sinks = {f"of_{name}": windrow.sink("parquet", path=tmp_path / f"of_{name}") for name in names}
        job = session.start(
            str(tmp_path / f"checkpoint_{declared}"), sinks, "available now", on_error="stop", restarts=0
        )
        finish(job)
        return job

    with caplog.at_level("WARNING", "windrow"):
        job = run("BIGINT", *NAMES)  # wider than the files have it
    for name in ("files", "by_spark", "texts"):
        (row,) = rows_of(tmp_path / f"of_{name}")
        assert (row["n"], row["known"], row["total"]) == (3, 2, 10)  # the column that is gone is NULL
    absent = {name: figures.absent for name, figures in job.progress().items()}
    lacking = {"v": {"files": 1, "rows": 1}}
    assert absent == {"files": lacking, "by_spark": lacking, "texts": {}, "spare": {"v": {"files": 0, "rows": 3}}}
    told = "1 file lacks the column 'v', which is NULL in 1 row"
    assert sorted(record.message for record in caplog.records if "'v'" in record.message) == [
        f"by_spark: {told}",
        f"files: {told}",
        "spare: no event of a batch of 3 has a value in the column 'v'",
    ]
    assert job.progress()["texts"].rejected["unreadable"] == 1  # the value that INT cannot hold
    put(tmp_path / "files", event(4, pa.int64()))
    with pytest.raises(JobError, match=r"(?i)00003\.parquet.* has column v as int64, and the stream declares it INT"):
        run("INT", "files")
