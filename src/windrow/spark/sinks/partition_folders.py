"""Folders that are named by values, as in day=2026-11-16, by the rules of Spark and Hive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from windrow.expressions.columns import normal, over_distinct
from windrow.expressions.types import STRING
from windrow.expressions.write_text import write_text
from windrow.expressions.write_times import write_by
from windrow.spark.sinks.value_texts import number_texts

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""The name of the folder of NULL, and of the empty text, which Spark does not tell from it."""

_ESCAPED = {chr(code) for code in range(1, 32)} | set("\"#%'*/:=?\\[]^{\x7f")


def escaped(text: str) -> str:
    """A part of a folder's name.

    >>> escaped("12:30 / a=b")
    '12%3A30 %2F a%3Db'
    """
    return "".join(f"%{ord(mark):02X}" if mark in _ESCAPED else mark for mark in text)


def by_folder(rows: pa.Table, columns: Sequence[str], *, whole: bool = False) -> Iterator[tuple[str, pa.Table]]:
    """The rows of each folder, in the order they had, without the columns that are in its name.

    With `whole` they have these columns too, and the empty text has a folder of its own.
    """
    if not columns:
        yield "", rows
        return
    parts = [_folder_texts(name, normal(rows[name]), "" if whole else NO_VALUE) for name in columns]
    folders = pc.binary_join_element_wise(*parts, "/") if len(parts) > 1 else parts[0]
    encoded = folders.dictionary_encode()
    rest = rows if whole else rows.drop_columns(list(columns))
    for number, folder in enumerate(encoded.dictionary.to_pylist()):
        yield folder, rest if len(encoded.dictionary) == 1 else rest.filter(pc.equal(encoded.indices, number))


def _folder_texts(name: str, array: pa.Array, empty: str) -> pa.Array:
    kind = array.type
    if pa.types.is_timestamp(kind):
        texts = _without_zeros(write_by("yyyy-MM-dd HH:mm:ss.SSSSSS", array))
    elif pa.types.is_date(kind):
        texts = write_by("yyyy-MM-dd", array)
    else:
        texts = number_texts(array) if pa.types.is_floating(kind) else write_text(array)
    begin = f"{escaped(name)}="
    return pc.fill_null(
        over_distinct(lambda text: begin + (escaped(text) if text else empty), texts, STRING), begin + NO_VALUE
    )


def _without_zeros(texts: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(texts, r"\.?0+$", "")
