"""The formats, options and types of files that tasks write as Spark does, and why others are left to Spark."""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from windrow.expressions.json_write import DATE, LOCAL, TIMESTAMP, JsonText
from windrow.expressions.write_times import TimePattern
from windrow.plan.sink import Sink
from windrow.spark.sinks.csv_text import CsvText
from windrow.spark.sinks.value_texts import number_texts

_PARQUET = {"snappy": ".snappy", "gzip": ".gz", "zstd": ".zstd", "none": "", "uncompressed": ""}
_TEXT = {"gzip": ".gz", "bzip2": ".bz2", "deflate": ".deflate", "none": "", "uncompressed": ""}
"""The compressions that tasks know, and what Spark adds to names for them."""

_COMMON = ("path", "compression")
_TIMES = ("dateformat", "timestampformat")
_KNOWN = {
    "parquet": _COMMON,
    "csv": (*_COMMON, *_TIMES, "sep", "delimiter", "quote", "escape", "header", "nullvalue"),
    "json": (*_COMMON, *_TIMES, "ignorenullfields"),
}
"""The options that tasks know, in small letters: Spark does not tell the case of their names."""

PRESS: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.compressobj(wbits=31),
    "bzip2": bz2.BZ2Compressor,
    "deflate": zlib.compressobj,
}

_ROWS = 1 << 16
"""So many rows become text at a time: Arrow's texts have an end at 2 GB."""


@dataclass(frozen=True, slots=True)
class FileFormat:
    """How rows of one schema become a file, in a task or in the driver."""

    format: str
    compression: str
    partition_by: tuple[str, ...] = ()
    csv: CsvText | None = None
    json: JsonText | None = None
    whole: bool = False
    """Whether files have the columns that are in the names of their folders, too."""

    @property
    def extension(self) -> str:
        """What the names of files end in, as Spark has it."""
        if self.format == "parquet":
            return f"{_PARQUET[self.compression]}.parquet"
        return f".{self.format}{_TEXT[self.compression]}"

    def write(self, rows: pa.Table, file: Any) -> None:
        """Write rows, without the columns that are in the names of folders, to an open file."""
        if self.format == "parquet":
            pressed = "none" if self.compression == "uncompressed" else self.compression
            pq.write_table(rows, file, compression=pressed, store_decimal_as_integer=True)
            return
        pressing = PRESS[self.compression]() if self.compression in PRESS else None
        for text in self._texts(rows):
            file.write(text if pressing is None else pressing.compress(text))
        if pressing is not None:
            file.write(pressing.flush())

    def _texts(self, rows: pa.Table) -> Iterator[bytes]:
        """The bytes of a file of text, some rows at a time."""
        if self.csv is not None and self.csv.header:
            yield self.csv.head(rows.column_names).encode()
        lines = self.csv or self.json
        assert lines is not None
        for place in range(0, len(rows), _ROWS):
            yield _bytes_of(lines.lines(rows.slice(place, _ROWS)))


def file_format(sink: Sink, schema: pa.Schema, settings: Mapping[str, str | None]) -> FileFormat | str:
    """How tasks write rows of `schema` into a sink of files; or why that is left to Spark.

    `settings` are those of the Spark session that stand for options which a sink does not give.
    """
    options = {name.lower(): value for name, value in sink.spark_options.items()}
    strange = [name for name in sink.spark_options if name.lower() not in _KNOWN[sink.format]]
    if strange:
        return f"the option {strange[0]} is known to Spark's own writer alone"
    usual = (settings.get("spark.sql.parquet.compression.codec") or "snappy") if sink.format == "parquet" else "none"
    compression = options.get("compression", usual).lower()
    if compression not in (_PARQUET if sink.format == "parquet" else _TEXT):
        return f"tasks do not compress with {compression}"
    names = sink.partition_by
    kinds = {field.name: field.type for field in schema}
    odd = [name for name in names if pa.types.is_nested(kinds[name]) or pa.types.is_binary(kinds[name])]
    if odd:
        return f"folders cannot be named by {odd[0]}, of type {kinds[odd[0]]}, in tasks"
    rest = [field for field in schema if field.name not in names]
    as_text = [field for field in schema if field.name in names or sink.format != "parquet"]
    zoned = [field.name for field in as_text if _asks_for_zone(field.type)]
    if zoned and not settings.get("utc"):
        return f"{zoned[0]} is written in the time zone of the session, which is not UTC"
    if sink.format == "parquet":
        return FileFormat(sink.format, compression, names)
    text = _csv(options, rest) if sink.format == "csv" else _json(options, rest, settings)
    if isinstance(text, str):
        return text
    if isinstance(text, CsvText):
        return FileFormat(sink.format, compression, names, csv=text)
    return FileFormat(sink.format, compression, names, json=text)


def _csv(options: Mapping[str, str], fields: list[pa.Field]) -> CsvText | str:
    if len(fields) < 2:
        return "a line of one field may be empty"
    given = {
        "sep": options.get("sep", options.get("delimiter", ",")).replace("\\t", "\t"),
        "quote": options.get("quote", '"'),
        "escape": options.get("escape", "\\"),
    }
    for name, mark in given.items():
        if len(mark) != 1 or mark.isalnum() or mark in "-+.\n\r\0" or ord(mark) > 127:
            return f"{name} {mark!r} is none of the usual ones"
    if given["sep"] in (given["quote"], given["escape"]):
        return "sep is quote or escape, too"
    nothing = options.get("nullvalue", "")
    marks = CsvText(given["sep"], given["quote"], given["escape"], nothing, options.get("header", "").lower() == "true")
    if marks.field(nothing or "x", first=True) != (nothing or "x"):
        return f"nullValue {nothing!r} is a text that would be quoted"
    times: list[TimePattern | None] = []
    for field in fields:
        kind = field.type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind):
            return f"{field.name} has the type {kind}, whose text is Spark's own"
        pattern = _pattern(options, kind)
        if isinstance(pattern, str):
            return pattern
        times.append(pattern)
    return replace(marks, times=tuple(times))


def _json(options: Mapping[str, str], fields: list[pa.Field], settings: Mapping[str, str | None]) -> JsonText | str:
    odd = [field for field in fields if not _has_text(field.type)]
    if odd:
        return f"{odd[0].name} has the type {odd[0].type}, whose keys are written by Spark alone"
    patterns: list[TimePattern] = []
    for kind in (pa.date32(), pa.timestamp("us", "UTC"), pa.timestamp("us")):
        pattern = _pattern(options, kind)
        if isinstance(pattern, str):
            return pattern
        assert pattern is not None
        patterns.append(pattern)
    usual = settings.get("spark.sql.jsonGenerator.ignoreNullFields") or "true"
    date, instant, local = patterns
    return JsonText(
        date, instant, local, number_texts, ignore_nulls=options.get("ignorenullfields", usual).lower() == "true"
    )


def _pattern(options: Mapping[str, str], kind: pa.DataType) -> TimePattern | str | None:
    """The pattern for a type; None for one that has no time, and why where the pattern is not known."""
    if pa.types.is_date(kind):
        name, pattern = "dateFormat", options.get("dateformat", DATE)
    elif pa.types.is_timestamp(kind):
        usual = TIMESTAMP if kind.tz is not None else LOCAL
        name, pattern = "timestampFormat", options.get("timestampformat", usual) if kind.tz is not None else usual
    else:
        return None
    return TimePattern.of(pattern, kind) or f"{name} {pattern!r} has letters that are known to Spark alone"


def _asks_for_zone(kind: pa.DataType) -> bool:
    if pa.types.is_nested(kind):
        return any(_asks_for_zone(kind.field(place).type) for place in range(kind.num_fields))
    return pa.types.is_timestamp(kind) and kind.tz is not None


def _has_text(kind: pa.DataType) -> bool:
    if pa.types.is_map(kind) and not pa.types.is_string(kind.key_type):
        return False
    if pa.types.is_nested(kind):
        return all(_has_text(kind.field(place).type) for place in range(kind.num_fields))
    return True


def _bytes_of(lines: pa.Array) -> bytes:
    """All texts of an array of which none is NULL, one after the other.

    >>> _bytes_of(pa.array(["x", "ab", "c"])[1:])
    b'abc'
    """
    _, offsets, data = lines.buffers()
    begin, end = np.frombuffer(offsets, np.int32)[[lines.offset, lines.offset + len(lines)]].tolist()
    return b"" if data is None else bytes(data[begin:end])
