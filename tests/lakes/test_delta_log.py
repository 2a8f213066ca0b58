"""A Delta table followed by its versions, without Spark: any cut into batches, again from any position, gives its files once."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from windrow.errors import JobError
from windrow.spark.sources.delta_log import DeltaVersions, Position

deltalake = pytest.importorskip("deltalake")
COLUMNS = pa.schema({"k": pa.string(), "d": pa.date32(), "n": pa.int64()})


def append(path: Path, *numbers: int, **options: object) -> None:
    days = pa.array([date(2026, 1, 1)] * len(numbers))
    rows = pa.table({"k": [f"k/{number % 2}" for number in numbers], "d": days, "n": pa.array(numbers, pa.int64())})
    deltalake.write_deltalake(str(path), rows, mode=options.pop("mode", "append"), **options)


def numbers_of(files: list) -> list[int]:  # type: ignore[type-arg]
    return sorted(n for file in files for n in pq.read_table(file.path, partitioning=None)["n"].to_pylist())


def test_any_limit_gives_every_row_once_and_again_the_same(tmp_path: Path) -> None:
    append(tmp_path, 0, 1, partition_by=["k", "d"])
    append(tmp_path, 2, 3)
    base = DeltaVersions(str(tmp_path), COLUMNS).first(None)
    for number in range(4, 10):
        append(tmp_path, number, number + 100)
    for limit in ({"most_files": 1}, {"most_files": 3}, {"most_bytes": 700}, {}):
        at, seen, batches = base, [], 0
        while True:
            versions = DeltaVersions(str(tmp_path), COLUMNS)  # as after a restart
            end = versions.after(at, versions.newest(), **limit)
            if end == at:
                break
            found = versions.between(at, end)
            told = Position.read(json.loads(json.dumps(end._asdict())))
            assert found == DeltaVersions(str(tmp_path), COLUMNS).between(at, told)
            seen += numbers_of(found)
            at, batches = end, batches + 1
        assert sorted(seen) == [0, 1, 2, 3, *range(4, 10), *range(104, 110)]
        assert batches == 1 or limit
    other = DeltaVersions(str(tmp_path), COLUMNS)
    moved = other.first(None)
    end = other.after(base, base.version)
    assert numbers_of(other.between(moved, end)) == [0, 1, 2, 3]  # whose beginning was never noted


def test_values_of_partitions_are_in_the_log(tmp_path: Path) -> None:
    append(tmp_path, 0, 1, partition_by=["k", "d"])
    versions = DeltaVersions(str(tmp_path), COLUMNS)
    for starting in (None, 0):
        files = versions.between(start := versions.first(starting), versions.after(start, 0))
        assert sorted(file.values["k"] for file in files) == ["k/0", "k/1"]
        assert all(file.values["d"] == date(2026, 1, 1) and Path(file.path).is_file() for file in files)


def test_compaction_adds_nothing_and_a_version_to_start_with_leaves_out_those_before(tmp_path: Path) -> None:
    for number in range(4):
        append(tmp_path, number)
    deltalake.DeltaTable(str(tmp_path)).optimize.compact()
    append(tmp_path, 4)
    versions = DeltaVersions(str(tmp_path), COLUMNS)
    start = versions.first(2)
    assert numbers_of(versions.between(start, versions.after(start, versions.newest()))) == [2, 3, 4]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda path: deltalake.DeltaTable(str(path)).delete("n = 1"), "version 2 .* deletes or rewrites rows"),
        (lambda path: append(path, 7, mode="overwrite"), "version 2 .* deletes or rewrites rows"),
        (
            lambda path: deltalake.write_deltalake(
                str(path), pa.table({"k": ["a"]}), mode="overwrite", schema_mode="overwrite"
            ),
            "version 2 .*(does not fit the stream: the table has no column d|deletes or rewrites)",
        ),
        (
            lambda path: (path / "_delta_log" / f"{3:020d}.json").write_text("{}"),
            "version 2 of the table .* is gone from its log",
        ),
        (lambda path: (path / "_delta_log" / f"{2:020d}.json").write_text("{"), "the log of a Delta table, cannot"),
        (
            lambda path: (path / "_delta_log" / f"{2:020d}.json").write_text(
                json.dumps({"protocol": {"minReaderVersion": 3, "readerFeatures": ["columnMapping"]}})
            ),
            "version 2 .* needs columnMapping of its readers",
        ),
    ],
)
def test_rows_that_go_and_what_is_not_known_stop_the_stream_by_name(tmp_path: Path, change, told: str) -> None:
    append(tmp_path, 0, 1)
    append(tmp_path, 2)
    versions = DeltaVersions(str(tmp_path), COLUMNS)
    at = versions.after(versions.first(None), 1)
    change(tmp_path)
    with pytest.raises(JobError, match=told):
        versions.after(at, versions.newest())


def test_a_column_more_is_passed_over_and_one_that_goes_or_changes_is_named(tmp_path: Path) -> None:
    append(tmp_path, 0)
    versions = DeltaVersions(str(tmp_path), COLUMNS)
    at = versions.after(versions.first(None), 0)
    more = pa.table({"k": ["a"], "d": [date(2026, 1, 1)], "n": pa.array([5], pa.int64()), "more": [1.5]})
    deltalake.write_deltalake(str(tmp_path), more, mode="append", schema_mode="merge")
    end = versions.after(at, versions.newest())
    assert numbers_of(versions.between(at, end)) == [5]
    kind = {"type": "struct", "fields": [{"name": "k", "type": "string", "nullable": True, "metadata": {}}]}
    log = tmp_path / "_delta_log" / f"{2:020d}.json"
    log.write_text(json.dumps({"metaData": {"schemaString": json.dumps(kind)}}))
    with pytest.raises(JobError, match=r"version 2 .* does not fit the stream: the table has no column d"):
        versions.after(end, 2)


def test_times_of_partitions_are_instants(tmp_path: Path) -> None:
    instant = datetime(2026, 1, 1, 12, 30, 0, 5, tzinfo=UTC)
    rows = pa.table({"ts": pa.array([instant], pa.timestamp("us", "UTC")), "n": pa.array([1], pa.int64())})
    deltalake.write_deltalake(str(tmp_path), rows, partition_by=["ts"])
    versions = DeltaVersions(str(tmp_path), rows.schema)
    for starting in (None, 0):
        start = versions.first(starting)
        assert versions.between(start, versions.after(start, 0))[0].values == {"ts": instant}
