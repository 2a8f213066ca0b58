"""Which columns of Parquet files can be read as which declared types: those that Spark reads, with Spark's values."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_INT, _BIGINT, _DOUBLE, _DATE = pa.int32(), pa.int64(), pa.float64(), pa.date32()
_SMALL = (pa.int8(), pa.int16(), _INT)
_UNSIGNED = (pa.uint8(), pa.uint16())
"""With the above, all that lies in a file as a number of 32 bits: Spark takes any of them for any other, and wraps."""

_VERSION, _OLD_CALENDAR = (
    b"org.apache.spark.version",
    (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96"),
)


def plain(type: pa.DataType) -> pa.DataType:
    """The type that Spark sees: how Arrow had the values in memory when it wrote them is none of its business.

    >>> plain(pa.dictionary(pa.int32(), pa.large_string()))
    DataType(string)
    """
    if pa.types.is_dictionary(type):
        return plain(type.value_type)
    if pa.types.is_large_string(type) or pa.types.is_string_view(type):
        return pa.string()
    if pa.types.is_large_binary(type) or pa.types.is_binary_view(type):
        return pa.binary()
    if pa.types.is_date64(type):
        return _DATE
    if pa.types.is_duration(type):
        return _BIGINT
    if pa.types.is_decimal(type) and type.precision <= 38:
        return pa.decimal128(type.precision, type.scale)
    return type


def readable(found: pa.DataType, declared: pa.DataType) -> bool:
    """Whether a column of type `found` can be read as `declared`, as Spark would read it.

    >>> readable(pa.int32(), pa.int64()), readable(pa.int64(), pa.int32()), readable(pa.date32(), pa.timestamp("us"))
    (True, False, True)
    """
    found = plain(found)
    if pa.types.is_nested(declared):
        return _nested(found, declared)
    if pa.types.is_timestamp(found):
        if found.unit == "ns":  # an INT96 is read as microseconds, so this is an INT64
            return bool(declared == _BIGINT)
        return bool(pa.types.is_timestamp(declared) or (declared == _BIGINT and found.unit != "s"))
    if found == declared:
        return True
    if pa.types.is_decimal(declared):
        return _as_decimal(found, declared)
    if found in _SMALL or found in _UNSIGNED:
        return declared in (*_SMALL, _BIGINT, _DOUBLE, _DATE)
    if found == pa.uint32():
        return bool(declared == _BIGINT)
    if pa.types.is_float32(found):
        return bool(declared == _DOUBLE)
    if found == _DATE:
        return bool(declared == pa.timestamp("us"))
    return bool(declared == pa.binary() and (found == pa.string() or pa.types.is_fixed_size_binary(found)))


def _as_decimal(found: pa.DataType, declared: pa.DataType) -> bool:
    whole = declared.precision - declared.scale
    if pa.types.is_decimal128(found):
        return bool(declared.scale >= found.scale and whole >= found.precision - found.scale)
    if found == pa.uint64():
        return bool(declared == pa.decimal128(20, 0))
    return bool((found in _SMALL and whole >= 10) or (found == _BIGINT and whole >= 20))


def _nested(found: pa.DataType, declared: pa.DataType) -> bool:
    if pa.types.is_list(declared):
        lists = pa.types.is_list(found) or pa.types.is_large_list(found)
        return lists and readable(found.value_type, declared.value_type)
    if pa.types.is_map(declared) and pa.types.is_map(found):
        pairs = ((found.key_type, declared.key_type), (found.item_type, declared.item_type))
        return all(readable(one, other) for one, other in pairs)
    if not (pa.types.is_struct(declared) and pa.types.is_struct(found)):
        return False
    fields = {found.field(i).name: found.field(i).type for i in range(found.num_fields)}
    wanted = {declared.field(i).name: declared.field(i).type for i in range(declared.num_fields)}
    apart = {name.lower() for name in wanted.keys() - fields.keys()} & {name.lower() for name in fields}
    return (
        wanted.keys() <= fields.keys()  # of one that lacks a field, Spark may say that it is NULL as a whole
        and not apart
        and all(readable(fields[name], type) for name, type in wanted.items())
    )


def converted(column: pa.Array, declared: pa.DataType) -> pa.Array:
    """The values of a readable column in their declared type.

    >>> converted(pa.array([300, None]), pa.int8()).to_pylist()
    [44, None]
    """
    if column.type == declared:
        return column
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_timestamp(column.type):
        if declared == _BIGINT:
            return column.view(_BIGINT)
        return column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(declared)
    if declared == _DATE and not pa.types.is_date(column.type):
        return column.cast(_INT).view(_DATE)
    if pa.types.is_integer(column.type) and pa.types.is_decimal(declared):
        return _whole_decimal(column, declared)
    return pc.cast(column, declared, safe=False)


def _whole_decimal(column: pa.Array, declared: pa.DataType) -> pa.Array:
    """Whole numbers as decimals: Arrow wants room for all digits of their type, before it adds a scale."""
    digits = 20 if column.type.bit_width == 64 else 10
    return column.cast(pa.decimal128(digits, 0)).cast(declared)


def old_calendar(metadata: pq.FileMetaData) -> bool:
    """Whether a file bears dates of the calendar that Spark had before its version 3, which it moves as it reads."""
    kept = metadata.metadata or {}
    version = kept.get(_VERSION, b"").decode(errors="replace").split(".")[:2]
    before = len(version) == 2 and all(part.isdigit() for part in version) and tuple(map(int, version)) < (3, 1)
    return before or any(key in kept for key in _OLD_CALENDAR)
