"""Columns of Parquet files, read as any declared type: the values are those that Spark reads."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from windrow.errors import JobError
from windrow.spark.sources.parquet_files import ParquetRows
from windrow.spark.sources.parquet_types import readable

UTC = pa.timestamp("us", tz="UTC")
MICROSECONDS = [0, 1, -1, 1_700_000_000_123_456, -62_135_337_600_000_000, None]

FOUND = {
    "int8": pa.array([1, -128, 127, None, 5, 6], pa.int8()),
    "int16": pa.array([1, -300, 32767, None, 5, 6], pa.int16()),
    "int32": pa.array([1, -70000, 9_000_000, None, 5, 6], pa.int32()),
    "int64": pa.array([1, -(2**40), 2**62, None, 5, 6], pa.int64()),
    "uint8": pa.array([1, 200, 255, None, 5, 6], pa.uint8()),
    "uint16": pa.array([1, 60_000, 5, None, 5, 6], pa.uint16()),
    "uint32": pa.array([1, 2**32 - 1, 5, None, 5, 6], pa.uint32()),
    "uint64": pa.array([1, 2**64 - 1, 5, None, 5, 6], pa.uint64()),
    "half": pa.array([1.5, None, 2, 3, 4, 5], pa.float16()),
    "float": pa.array([1.5, -0.0, 3e38, None, float("inf"), 0.1], pa.float32()),
    "double": pa.array([1.5, -0.0, 1e300, None, float("inf"), 0.1]),
    "boolean": pa.array([True, False, None, True, True, False]),
    "string": pa.array(["a", "é", "", None, "日本", "b"]),
    "large": pa.array(["a", "é", "", None, "日本", "b"], pa.large_string()),
    "dictionary": pa.array(["a", "b", "a", None, "a", "b"]).dictionary_encode(),
    "binary": pa.array([b"a", b"\xff", b"", None, b"1", b"2"], pa.binary()),
    "fixed": pa.array([b"abcd", b"\xff\x00\x01\x02", None, b"1234", b"5678", b"9012"], pa.binary(4)),
    "date": pa.array([0, 19_000, -700_000, None, 1, 2], pa.date32()),
    "instants_us": pa.array(MICROSECONDS, UTC),
    "instants_ms": pa.array([0, 1, -1, 1_700_000_000_123, None, 2], pa.timestamp("ms", tz="UTC")),
    "instants_ns": pa.array([0, 1, -1, 1_700_000_000_123_456_789, None, 2], pa.timestamp("ns", tz="UTC")),
    "berlin": pa.array(MICROSECONDS, pa.timestamp("us", tz="Europe/Berlin")),
    "local_us": pa.array(MICROSECONDS, pa.timestamp("us")),
    "local_ms": pa.array([0, 1, -1, 1_700_000_000_123, None, 2], pa.timestamp("ms")),
    "local_ns": pa.array([0, 1, -1, 1_700_000_000_123_456_789, None, 2], pa.timestamp("ns")),
    "decimal5": pa.array([Decimal("1.25"), Decimal("-999.99"), None] * 2, pa.decimal128(5, 2)),
    "decimal12": pa.array([Decimal("1.251"), Decimal("-99999999.999"), None] * 2, pa.decimal128(12, 3)),
    "decimal30": pa.array([Decimal("1.2512"), Decimal("-99999999999999999999.9999"), None] * 2, pa.decimal128(30, 4)),
    "list": pa.array([[1, None], [], None, [3], [4], [5]], pa.list_(pa.int32())),
    "map": pa.array([[("a", 1)], [], None, [("b", None)], [], []], pa.map_(pa.string(), pa.int32())),
    "struct": pa.array([{"x": 1, "y": "a"}, None, {"x": None, "y": "b"}] * 2),
    "nested": pa.array(
        [[{"at": 5, "z": [1.5]}], None, []] * 2, pa.list_(pa.struct({"at": UTC, "z": pa.list_(pa.float32())}))
    ),
}

DECLARED = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "DECIMAL(5,2)": pa.decimal128(5, 2),
    "DECIMAL(7,2)": pa.decimal128(7, 2),
    "DECIMAL(10,0)": pa.decimal128(10, 0),
    "DECIMAL(12,3)": pa.decimal128(12, 3),
    "DECIMAL(20,0)": pa.decimal128(20, 0),
    "DECIMAL(38,6)": pa.decimal128(38, 6),
    "STRING": pa.string(),
    "BINARY": pa.binary(),
    "DATE": pa.date32(),
    "TIMESTAMP": UTC,
    "TIMESTAMP_NTZ": pa.timestamp("us"),
    "ARRAY<INT>": pa.list_(pa.int32()),
    "ARRAY<BIGINT>": pa.list_(pa.int64()),
    "MAP<STRING, INT>": pa.map_(pa.string(), pa.int32()),
    "MAP<STRING, BIGINT>": pa.map_(pa.string(), pa.int64()),
    "STRUCT<x: BIGINT, y: STRING>": pa.struct({"x": pa.int64(), "y": pa.string()}),
    "STRUCT<y: STRING>": pa.struct({"y": pa.string()}),
    "ARRAY<STRUCT<at: TIMESTAMP, z: ARRAY<DOUBLE>>>": pa.list_(pa.struct({"at": UTC, "z": pa.list_(pa.float64())})),
}


def written(folder: Path) -> Path:
    """A file of three row groups with all columns, one of which is an INT96."""
    place = folder / "all.parquet"
    pq.write_table(pa.table(FOUND), place, row_group_size=2, use_dictionary=["string", "dictionary"])
    return place


def read(path: Path, wanted: dict[str, pa.DataType]) -> pa.Table:
    with ParquetRows(str(path), wanted) as file:
        groups = range(file.metadata.num_row_groups)
        return pa.concat_tables([pa.table(columns) for _, columns in file.read(groups, list(wanted))])


def same(spark: SparkSession, path: Path, wanted: dict[str, pa.DataType]) -> None:
    """What is read is what Spark reads; `repr` tells NaN and -0.0 from others."""
    schema = pa.schema(wanted)
    spark_read = spark.read.schema(from_arrow_schema(schema)).parquet(str(path)).toArrow()
    found = read(path, wanted)
    assert found.schema.types == schema.types
    for name in wanted:
        mine, theirs = found[name], spark_read[name].cast(schema.field(name).type)
        if pa.types.is_date(mine.type):  # of a year that Python has not
            mine, theirs = mine.cast(pa.int32()), theirs.cast(pa.int32())
        assert repr(mine.to_pylist()) == repr(theirs.to_pylist()), name


@pytest.mark.one_in(2)
@pytest.mark.parametrize("declared", DECLARED)
def test_what_is_readable_is_read_as_spark_reads_it(spark: SparkSession, tmp_path: Path, declared: str):
    path, type = written(tmp_path), DECLARED[declared]
    wanted = {name: type for name, column in FOUND.items() if readable(column.type, type)}
    assert wanted
    same(spark, path, wanted)


@pytest.mark.parametrize("type", [UTC, pa.timestamp("us")])
def test_an_int96_is_an_instant_whatever_its_year(spark: SparkSession, tmp_path: Path, type: pa.DataType):
    path = tmp_path / "old.parquet"
    table = pa.table({"at": pa.array(MICROSECONDS, UTC)})
    pq.write_table(table, path, use_deprecated_int96_timestamps=True)
    same(spark, path, {"at": type})
    with pytest.raises(JobError, match="has column at as timestamp"):
        read(path, {"at": pa.int64()})


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("found", "declared"),
    [("int64", "INT"), ("string", "BIGINT"), ("instants_ns", "TIMESTAMP"), ("double", "FLOAT"), ("decimal5", "DOUBLE"),
     ("boolean", "INT"), ("date", "STRING"), ("decimal30", "DECIMAL(12,3)"), ("list", "MAP<STRING, INT>")],
)  # fmt: skip
def test_what_spark_refuses_is_refused_by_file_and_column(
    spark: SparkSession, tmp_path: Path, found: str, declared: str
):
    path = written(tmp_path)
    with pytest.raises(
        JobError, match=rf"the file file://\S*all.parquet has column {found} as .*, and the stream declares it"
    ):
        read(path, {found: DECLARED[declared]})
    with pytest.raises(Exception, match=r"FAILED_READ_FILE|awaitResult|mismatch"):
        spark.read.schema(f"{found} {declared}").parquet(str(path)).toArrow()


def test_columns_have_any_case_and_may_be_missing(spark: SparkSession, tmp_path: Path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"Price": [1.5, 2.5], "a.b": [1, 2], "odd name": ["x", None]}), path, row_group_size=1)
    same(spark, path, {"PRICE": pa.float64(), "missing": pa.string(), "ODD name": pa.string(), "a.b": pa.int64()})
    same(spark, path, {"nothing": pa.list_(pa.int32())})
    pq.write_table(pa.table({"a": [1], "A": [2]}), path)
    with pytest.raises(JobError, match="has several columns a: a and A"):
        read(path, {"a": pa.int64()})


def test_times_of_an_old_calendar_are_left_to_spark(tmp_path: Path):
    path = tmp_path / "x.parquet"
    table = pa.table({"d": pa.array([1], pa.date32()), "n": [1]})
    pq.write_table(table.replace_schema_metadata({"org.apache.spark.version": "2.4.8"}), path)
    assert read(path, {"n": pa.int64()})["n"].to_pylist() == [1]
    with pytest.raises(JobError, match="old calendar"):
        read(path, {"d": pa.date32()})
    pq.write_table(table.replace_schema_metadata({"org.apache.spark.version": "4.0.0"}), path)
    assert read(path, {"d": pa.date32()}).num_rows == 1


TYPES = st.sampled_from([type for type in DECLARED.values() if not pa.types.is_nested(type)])


def values(type: pa.DataType) -> st.SearchStrategy:
    """Values of a type, and NULL."""
    if pa.types.is_integer(type):
        some: st.SearchStrategy = st.integers(-(2 ** (type.bit_width - 1)), 2 ** (type.bit_width - 1) - 1)
    elif pa.types.is_floating(type):
        some = st.floats(width=type.bit_width)
    elif pa.types.is_decimal(type):
        largest = 10**type.precision - 1
        some = st.integers(-largest, largest).map(lambda n: Decimal(n).scaleb(-type.scale))
    elif pa.types.is_boolean(type):
        some = st.booleans()
    elif pa.types.is_string(type):
        some = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
    elif pa.types.is_binary(type):
        some = st.binary(max_size=5)
    elif pa.types.is_date(type):
        some = st.integers(-700_000, 2_900_000)
    else:
        some = st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)
    return st.none() | some


@st.composite
def columns(draw: st.DrawFn) -> pa.Array:
    type, rows = draw(TYPES), 7
    found = draw(st.lists(values(type), min_size=rows, max_size=rows))
    if pa.types.is_decimal(type):
        with_digits = (
            [None if value is None else value.quantize(Decimal(1).scaleb(-type.scale)) for value in found]
            if type.precision < 28
            else [None] * rows
        )
        return pa.array(with_digits, type)
    return pa.array(found, type)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    drawn=st.lists(columns(), min_size=1, max_size=6),
    group=st.integers(1, 7),
    int96=st.booleans(),
    dictionary=st.booleans(),
    widened=st.randoms(use_true_random=False),
)
def test_random_files_are_read_as_spark_reads_them(
    spark: SparkSession, tmp_path: Path, drawn: list[pa.Array], group: int, int96: bool, dictionary: bool, widened
):
    path = tmp_path / "random.parquet"
    table = pa.table({f"c{i}": column for i, column in enumerate(drawn)})
    pq.write_table(table, path, row_group_size=group, use_dictionary=dictionary, use_deprecated_int96_timestamps=int96)
    choices = {name: [t for t in DECLARED.values() if readable(table[name].type, t)] for name in table.column_names}
    if int96:
        choices = {
            name: [t for t in some if t != pa.int64() or not pa.types.is_timestamp(table[name].type)]
            for name, some in choices.items()
        }
    same(spark, path, {name: widened.choice(some) for name, some in choices.items()})
