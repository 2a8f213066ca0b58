"""Files that tasks write are, byte for byte, those that Spark would have written, and read back as the same rows."""

from __future__ import annotations

import bz2
import gzip
import io
import random
import zlib
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

import windrow
from windrow.errors import SettingsError
from windrow.places.place import place_of
from windrow.spark.sinks.file_format import FileFormat
from windrow.spark.sinks.files import format_in
from windrow.spark.sinks.partition_folders import by_folder
from windrow.spark.sinks.staged_files import StagedFiles

MARKS = ["a", "b", ",", '"', "\\", "\n", "\r", "\t", " ", "#", "'", "|", "é", "😀", "\x00", "\x01", "\x7f", "\u2028"]
NUMBERS = """
    SELECT CAST(x AS FLOAT) AS f, x, CAST(n AS TINYINT) AS t, CAST(n AS SMALLINT) AS s, n, CAST(n AS BIGINT) * 4e18 AS far,
           n > 0 AS yes, CAST(n AS DECIMAL(20, 7)) / 3 AS part, CAST(n AS DECIMAL(38, 0)) AS long, CAST(0 AS DECIMAL(20, 10)) AS zero,
           date_add(DATE '2024-02-29', n * 300000) AS day, timestamp_micros(n * 12345678901234567L) AS at,
           timestamp_ntz '2024-02-03 04:05:06.7' AS local
    FROM VALUES (1.0D, 1), (-0.0D, -1), (1e7D, 2), (9999999.5D, -2), (1e-3D, 3), (9.99e-4D, 0), (DOUBLE('NaN'), 4),
                (DOUBLE('Infinity'), 5), (DOUBLE('-Infinity'), 6), (1e300D, 7), (-4.25e-300D, 8), (NULL, NULL), (0.1D, 9) AS v(x, n)
"""
NESTED = """
    SELECT CAST(l AS ARRAY<INT>) AS list, CAST(s AS STRUCT<x: INT, y: INT, z: STRING>) AS s, CAST(m AS MAP<STRING, DOUBLE>) AS m,
           CAST(d AS ARRAY<STRUCT<d: DATE, t: TIMESTAMP>>) AS deep, CAST(a AS STRUCT<a: INT>) AS a, UNHEX(b) AS b
    FROM VALUES
        (ARRAY(1, NULL, 2), STRUCT(1, NULL, 'say "q"'), MAP('k', 1.5D, 'l"', NULL), ARRAY(STRUCT(DATE '2024-01-01',
         TIMESTAMP '2024-01-01 00:00:00')), STRUCT(NULL), '00FF61'),
        (NULL, NULL, NULL, NULL, NULL, NULL),
        (ARRAY(), STRUCT(2, 3, ''), MAP(), ARRAY(NULL), STRUCT(7), '') AS v(l, s, m, d, a, b)
"""


def texts(spark: SparkSession) -> DataFrame:
    """Texts of all that means something in a file: some of them begin a line."""
    draw = random.Random(3)
    rows = [
        tuple("".join(draw.choices(MARKS, k=draw.randint(0, 5))) if draw.random() > 0.1 else None for _ in "ab")
        for _ in range(600)
    ]
    return spark.createDataFrame([(*row, number) for number, row in enumerate(rows)], "first STRING, s STRING, i INT")


FRAMES = {"texts": texts, "numbers": lambda spark: spark.sql(NUMBERS), "nested": lambda spark: spark.sql(NESTED)}


def by_spark(frame: DataFrame, folder: Path, format: str, options: dict[str, str]) -> bytes:
    frame.coalesce(1).write.mode("overwrite").format(format).options(**options).save(str(folder))
    (file,) = folder.glob("part-*")
    return file.read_bytes()


def by_tasks(frame: DataFrame, format: str, options: dict[str, str]) -> bytes:
    schema = to_arrow_schema(frame.schema, timezone="UTC")
    form = format_in(windrow.sink(format, path="out", **options), schema, frame.sparkSession)
    assert isinstance(form, FileFormat), form
    file = io.BytesIO()
    form.write(frame.coalesce(1).toArrow().cast(schema), file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("rows", "format", "options"),
    [
        ("texts", "csv", {}),
        ("texts", "csv", {"sep": "\\t", "escape": '"'}),
        ("texts", "csv", {"quote": "'", "delimiter": "|", "header": "true", "nullValue": "NULL"}),
        ("texts", "csv", {"escape": "#", "compression": "gzip"}),
        ("texts", "json", {}),
        ("texts", "json", {"ignoreNullFields": "false", "compression": "bzip2"}),
        ("numbers", "csv", {}),
        ("numbers", "csv", {"timestampFormat": "dd/MM/yyyy HH:mm:ss.SSSSSS", "dateFormat": "yyyyMMdd"}),
        ("numbers", "json", {}),
        (
            "numbers",
            "json",
            {
                "timestampFormat": "EEEE d MMM yyyy h:mm[:ss] a[ xxx]",
                "dateFormat": "D.yy[ HH]",
                "compression": "deflate",
            },
        ),
        ("nested", "json", {}),
        ("nested", "json", {"ignoreNullFields": "false"}),
    ],
)
def test_the_bytes_are_those_of_spark(spark: SparkSession, tmp_path: Path, rows: str, format: str, options):
    frame = FRAMES[rows](spark)
    mine, theirs = by_tasks(frame, format, options), by_spark(frame, tmp_path / "spark", format, options)
    unpack = {"gzip": gzip.decompress, "bzip2": bz2.decompress, "deflate": zlib.decompress}.get(
        options.get("compression")
    )
    assert (unpack or bytes)(mine) == (unpack or bytes)(theirs) and len(theirs) > 100


def test_doubles_read_back_as_they_were_though_java_may_give_them_another_digit(spark: SparkSession, tmp_path: Path):
    draw = random.Random(5)
    doubles = [draw.uniform(-1, 1) * 10.0 ** draw.randint(-300, 300) for _ in range(500)] + [
        2.0**n for n in range(-60, 80)
    ]
    frame = spark.createDataFrame([(x, number) for number, x in enumerate(doubles)], "x DOUBLE, n INT")
    for format in ("csv", "json"):
        (tmp_path / f"in.{format}").write_bytes(by_tasks(frame, format, {}))
        read = spark.read.schema(frame.schema).format(format).load(str(tmp_path / f"in.{format}"))
        assert [row.x for row in sorted(read.collect(), key=lambda row: row.n)] == doubles


@pytest.mark.slow
def test_folders_are_named_as_spark_names_them(spark: SparkSession, tmp_path: Path):
    frame = spark.sql(f"SELECT n AS kept, f, x, yes, part, day, at, local FROM ({NUMBERS})").unionByName(
        texts(spark).selectExpr("i AS kept", "replace(s, '\\u0000', '') AS text").where("i < 60"),
        allowMissingColumns=True,
    )
    columns = frame.columns[1:]
    frame.write.partitionBy(*columns).json(str(tmp_path / "spark"))
    theirs = {str(path.parent.relative_to(tmp_path / "spark")) for path in (tmp_path / "spark").rglob("part-*")}
    schema = to_arrow_schema(frame.schema, timezone="UTC")
    table = frame.toArrow().cast(schema)
    assert {folder for folder, _ in by_folder(table, columns)} == theirs and len(theirs) > 50

    form = format_in(windrow.sink("parquet", path="out", partitionBy=", ".join(columns)), schema, spark)
    staged = StagedFiles(place_of(tmp_path / "mine" / "_windrow"), "job-sink", "run", form).put(table, 0, "00000-0")
    for file in staged:
        (tmp_path / "mine" / file.folder).mkdir(parents=True, exist_ok=True)
        Path(file.path).rename(tmp_path / "mine" / file.folder / Path(file.path).name)
    read = [
        sorted(map(repr, spark.read.format(format).load(str(tmp_path / name)).select(*frame.columns).collect()))
        for name, format in (("mine", "parquet"), ("spark", "json"))
    ]
    assert [row.replace("kept=Decimal", "") for row in read[0]] == read[1]


@pytest.mark.parametrize(
    ("format", "options", "rows", "why"),
    [
        ("csv", {"quoteAll": "true"}, "texts", "the option quoteAll"),
        ("csv", {"quote": ""}, "texts", "quote ''"),
        ("csv", {"sep": "::"}, "texts", "sep '::'"),
        ("csv", {"nullValue": "a,b"}, "texts", "nullValue 'a,b'"),
        ("csv", {"compression": "lz4"}, "texts", "do not compress with lz4"),
        ("csv", {"timestampFormat": "QQQ"}, "numbers", "timestampFormat 'QQQ'"),
        ("csv", {}, "nested", "list has the type list"),
        ("parquet", {"partitionBy": "b"}, "nested", "folders cannot be named by b"),
        ("parquet", {"parquet.block.size": "9"}, "texts", "parquet.block.size"),
    ],
)
def test_what_is_not_certain_is_left_to_spark_and_the_reason_told(spark: SparkSession, format, options, rows, why):
    schema = to_arrow_schema(FRAMES[rows](spark).schema, timezone="UTC")
    told = format_in(windrow.sink(format, path="out", **options), schema, spark)
    assert isinstance(told, str) and why in told


def test_keys_of_maps_and_other_time_zones_are_left_to_spark(spark: SparkSession):
    keys = pa.schema({"m": pa.map_(pa.date32(), pa.int32()), "n": pa.int32()})
    assert "keys" in format_in(windrow.sink("json", path="out"), keys, spark)
    times = pa.schema({"at": pa.timestamp("us", "UTC"), "n": pa.int32()})
    assert isinstance(format_in(windrow.sink("json", path="out"), times, spark), FileFormat)
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Vienna")
    try:
        assert "time zone" in format_in(windrow.sink("csv", path="out"), times, spark)
        assert isinstance(format_in(windrow.sink("parquet", path="out"), times, spark), FileFormat)
        assert "time zone" in format_in(windrow.sink("parquet", path="out", partitionBy="at"), times, spark)
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.parametrize(("by", "told"), [("day", "'day', which is no column"), ("k, n", "names all columns")])
def test_folders_by_a_column_that_is_not_there_are_refused(spark: SparkSession, by: str, told: str):
    with pytest.raises(SettingsError, match=told):
        format_in(
            windrow.sink("json", path="out", partitionBy=by), pa.schema({"k": pa.string(), "n": pa.int32()}), spark
        )
