"""Declared columns that files lack are found before anything starts; what some file has is allowed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from windrow.spark.sources.file_columns import missing_column


def lacks(format: str, path: object, *declared: str, **options: str) -> tuple[str, str, str] | None:
    return missing_column(format, {"path": str(path), **options}, declared)


@pytest.mark.parametrize(("format", "write"), [("parquet", pq.write_table), ("orc", orc.write_table)])
def test_a_column_that_no_file_has_is_named_with_the_one_that_was_meant(tmp_path: Path, format: str, write):
    write(pa.table({"ts": [1], "price": [2.0]}), tmp_path / f"0.{format}")
    assert lacks(format, tmp_path, "TS", "Price") is None
    name, message, way_out = lacks(format, tmp_path, "ts", "prise") or ("", "", "")
    assert (name, way_out) == ("prise", "did you mean price?")
    assert message == "no file has the column 'prise', which would be NULL in every row"


def test_a_column_that_came_later_or_went_is_allowed(tmp_path: Path):
    pq.write_table(pa.table({"ts": [1], "old": [1]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"ts": [1], "new": [1]}), tmp_path / "1.parquet")
    assert lacks("parquet", tmp_path, "ts", "old", "new") is None
    assert lacks("parquet", f"{tmp_path}/0*", "ts", "old", "new") is not None
    assert lacks("parquet", tmp_path, "ts", "new", pathGlobFilter="0*") is not None


def test_nothing_is_said_where_there_is_no_file_or_none_that_can_be_read(tmp_path: Path):
    assert lacks("parquet", tmp_path, "ts") is None
    assert lacks("parquet", "s3://bucket/ticks", "ts") is None
    (tmp_path / "notes.parquet").write_text("no parquet at all")
    (tmp_path / "_SUCCESS").write_text("")
    assert lacks("parquet", tmp_path, "ts") is None
    (tmp_path / "rows.json").write_text('{"ts": 1}')  # where a key that is NULL may be left out
    assert lacks("json", tmp_path / "rows.json", "ts", "other") is None


def test_columns_may_be_in_the_names_of_folders(tmp_path: Path):
    folder = tmp_path / "day=2024-01-01" / "hour=7"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"ts": [1]}), folder / "0.parquet")
    assert lacks("parquet", tmp_path, "ts", "day", "hour") is None
    assert lacks("parquet", f"file://{tmp_path}", "ts", "minute") is not None


def test_csv_is_read_by_the_order_of_its_columns(tmp_path: Path):
    (tmp_path / "0.csv").write_text('"ts";"price";"volume"\n1;2;3\n')
    options = {"header": "true", "sep": ";"}
    assert lacks("csv", tmp_path, "ts", "price", **options) is None
    assert lacks("csv", tmp_path, "at", "what") is None  # without a first line of names they may be called anything
    name, message, way_out = lacks("csv", tmp_path, "ts", "volume", "price", **options) or ("", "", "")
    assert (name, way_out) == ("volume", "declare them as the files have them: ts, price, volume")
    assert message == "column 2 of the files is 'price', not 'volume', and csv is read by the order of columns"
    (tmp_path / "1.csv.gz").write_bytes(gzip.compress(b"ts;price;volume;venue\n"))
    assert lacks("csv", tmp_path, "ts", "price", "volume", "venue", "_corrupt_record", **options) is None
    assert (lacks("csv", tmp_path, "ts", "prize", "volume", **options) or [""])[0] == "prize"
