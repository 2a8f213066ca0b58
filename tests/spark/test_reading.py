"""What a slice task makes of names: the same events whatever order the names come in, and however files are shared."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from windrow.runtime.keys import encode_keys
from windrow.runtime.slice.chunk import Chunk
from windrow.spark.sources.absent import Absent
from windrow.spark.sources.reading import Reading
from windrow.spark.sources.refuted import refuted
from windrow.spark.sources.shares import FilePart, shares

UTC = pa.timestamp("us", tz="UTC")
READING = Reading(
    columns={"ts": UTC, "k": pa.string(), "x": pa.int64()},
    partitions={"day": pa.date32()},
    time="ts",
    timing=("ts",),
    texts=("k", "x + 1", "day"),
    types=(pa.string(), pa.int64(), pa.date32()),
    failing=(),
    arrives=True,
    wheres=(),
    tasks=1,
    ignores_missing=False,
    coded=("k",),
)


def names_of(files: list[Path], task: int = 0) -> pa.RecordBatch:
    return pa.record_batch(
        {
            "task": pa.array([task] * len(files), pa.int64()),
            "path": [f"file:{file}" for file in files],
            "length": [os.path.getsize(file) for file in files],
            "arrived": pa.array([77] * len(files), pa.int64()),
            "p0": pa.array(range(len(files)), pa.date32()),
        }
    )


def written(folder: Path) -> list[Path]:
    """Three files of several row groups: one lacks a column, one has names in other letters."""
    files = []
    for number in range(3):
        rows = range(number * 100, number * 100 + 10)
        table = pa.table({"ts": pa.array(rows, UTC), "k": [f"k{i % 3}" for i in rows], "x": list(rows)})
        table = table.drop_columns("k") if number == 1 else table
        table = table.rename_columns(["TS", "K", "X"]) if number == 2 else table
        files.append(folder / f"{number}.parquet")
        pq.write_table(table, files[-1], row_group_size=4)
    return files


def rows_of(reading: Reading, *told: pa.RecordBatch) -> list[dict]:
    batches = list(reading.rows(iter(told)))
    return [row for batch in batches for row in batch.to_pylist()]


def test_events_have_what_slicers_read(tmp_path: Path):
    files = written(tmp_path)
    rows = rows_of(READING, names_of(files))
    assert [row["time"] for row in rows] == [n for start in (0, 100, 200) for n in range(start, start + 10)]
    assert rows[10] == {"time": 100, "e0": None, "e1": 101, "e2": pa.scalar(1, pa.date32()).as_py(), "arrived": 77}
    assert {row["e0"] for row in rows} == {"k0", "k1", "k2", None}
    batches = list(READING.rows(iter([names_of(files)])))
    assert pa.Table.from_batches(batches).combine_chunks().num_rows == 30  # of one schema, as slicers need them


def test_columns_that_files_lack_are_counted_once_a_file_however_it_is_shared(tmp_path: Path):
    told = names_of(written(tmp_path))
    absent: Absent = {}
    list(READING.rows(iter([told]), absent))
    assert absent == {"k": (1, 10)}
    half = told.column("length")[1].as_py() // 2
    shared: Absent = {}
    for part in (FilePart(1, 0, half), FilePart(1, half, 1 << 60)):
        list(
            READING._read(
                {name: told.column(name)[1] for name in ("p0", "arrived")} | {"path": told.column("path")[1].as_py()},
                part,
                shared,
            )
        )
    assert shared == absent


def test_names_may_come_in_any_order_and_tasks_share_all_of_them(tmp_path: Path):
    told = names_of(written(tmp_path))
    turned = [told.slice(2, 1), told.slice(0, 2)]
    assert rows_of(READING, *turned) == rows_of(READING, told)
    shared = replace(READING, tasks=4)
    parts = [rows_of(shared, told.set_column(0, "task", pa.array([task] * 3, pa.int64()))) for task in range(4)]
    assert sorted((row for part in parts for row in part), key=lambda row: row["time"]) == rows_of(READING, told)


def test_of_row_groups_that_no_query_wants_only_times_are_read(tmp_path: Path):
    told = names_of(written(tmp_path))
    rows = rows_of(replace(READING, wheres=("x < 4", "x BETWEEN 5 AND 9", "x < 2 AND k = 'a'")), told)
    assert len(rows) == 30  # what is between is not looked into
    rows = rows_of(replace(READING, wheres=("x < 4", "x = 203 AND k IS NOT NULL")), told)
    assert [row["time"] for row in rows] == [row["time"] for row in rows_of(READING, told)]
    assert [row["time"] for row in rows if row["e1"] is not None] == [0, 1, 2, 3, 200, 201, 202, 203]


def test_statistics_of_values_that_wrap_around_as_they_are_read_say_nothing(tmp_path: Path):
    pq.write_table(pa.table({"x": pa.array([256, 257], pa.int32())}), tmp_path / "x.parquet")
    group = pq.ParquetFile(tmp_path / "x.parquet").metadata.row_group(0)
    assert refuted("x < 5", group, {"x": pa.int64()}) and not refuted("x < 5", group, {"x": pa.int8()})
    assert not refuted("x > 5", group, {"x": pa.int64()}) and not refuted("x IS NULL", group, {"x": pa.int64()})
    assert refuted("x > 257 OR 256 > x", group, {"x": pa.int64()}) and not refuted(
        "x + 1 < 5", group, {"x": pa.int64()}
    )


@given(st.lists(st.integers(0, 10**9), max_size=12), st.integers(1, 8))
def test_every_byte_of_every_file_has_one_reader(lengths: list[int], tasks: int):
    parts = sorted(part for own in shares(lengths, tasks) for part in own)
    for number in range(len(lengths)):
        own = [part for part in parts if part.file == number]
        assert own[0].start == 0 and own[-1].end == (1 << 63) - 1
        assert all(before.end == after.start for before, after in zip(own, own[1:]))


@given(st.lists(st.sampled_from(["a", "b", "", None]), max_size=9), st.permutations(["a", "b", "", "b", None]))
def test_keys_that_come_as_dictionaries_are_those_of_their_values(values: list[str | None], dictionary: list):
    codes = pa.array([None if value is None else dictionary.index(value) for value in values], pa.int32())
    coded = pa.DictionaryArray.from_arrays(codes, pa.array(dictionary, pa.string()))
    numbers, (keys,) = encode_keys([coded], len(values))
    assert [keys[int(number)].as_py() for number in numbers] == values
    assert len(set(keys.to_pylist())) == len(keys)
    batch = pa.record_batch({"e0": coded})
    assert Chunk(batch, {"k": "e0"}, codes, codes).column("k").to_pylist() == values
