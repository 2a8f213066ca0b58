"""Rows as lines of JSON, byte for byte as Spark writes them."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.expressions.columns import normal, over_distinct
from windrow.expressions.types import STRING
from windrow.spark.sinks.time_patterns import TimePattern
from windrow.spark.sinks.value_texts import number_texts

_SPECIAL = r'[\x00-\x1f"\\]'
_ESCAPES = {code: f"\\u{code:04X}" for code in range(32)} | {
    ord(mark): f"\\{name}" for mark, name in zip('\b\f\n\r\t"\\', 'bfnrt"\\')
}
_NO_NUMBERS = ("NaN", "Infinity", "-Infinity")


def quoted(text: str) -> str:
    """A text as JSON has it.

    >>> print(quoted('say "x"\\n'))
    "say \\"x\\"\\n"
    """
    return f'"{text.translate(_ESCAPES)}"'


@dataclass(frozen=True, slots=True)
class JsonText:
    """How values become JSON: patterns for dates, instants and local times; whether NULLs are left out of objects."""

    date: TimePattern
    instant: TimePattern
    local: TimePattern
    ignore_nulls: bool = True

    def lines(self, rows: pa.Table) -> pa.Array:
        """A line for each row, with its end."""
        columns = [normal(column) for column in rows.columns]
        return _wrapped("{", self._fields(rows.column_names, columns, len(rows)), "}\n")

    def values(self, array: pa.Array) -> pa.Array:
        """The text of each value; NULL where it is NULL."""
        kind = array.type
        if pa.types.is_struct(kind):
            children = array.flatten()
            whole = _wrapped("{", self._fields([field.name for field in kind], children, len(array)), "}")
            return pc.if_else(array.is_valid(), whole, pa.scalar(None, STRING))
        if pa.types.is_map(kind):
            return self._map(array)
        if pa.types.is_list(kind):
            items = pc.fill_null(self.values(array.flatten()), "null")
            return _wrapped("[", _joined(array, items), "]")
        if pa.types.is_string(kind):
            return _texts(array)
        if pa.types.is_binary(kind):
            return over_distinct(lambda data: f'"{b64encode(data).decode()}"', array, STRING)
        if pa.types.is_date(kind):
            return _texts(self.date.write(array))
        if pa.types.is_timestamp(kind):
            return _texts((self.local if kind.tz is None else self.instant).write(array))
        texts = number_texts(array)
        if pa.types.is_floating(kind):
            odd = pc.is_in(texts, pa.array(_NO_NUMBERS))
            texts = pc.if_else(odd, _wrapped('"', texts, '"'), texts)
        return texts

    def _fields(self, names: list[str], columns: list[pa.Array], rows: int) -> pa.Array:
        """The fields of objects, without the braces."""
        told = []
        for name, column in zip(names, columns, strict=True):
            texts = self.values(column)
            if not self.ignore_nulls:
                texts = pc.fill_null(texts, "null")
            told.append(_wrapped(f"{quoted(name)}:", texts, ""))
        if not told:
            return pa.repeat(pa.scalar("", STRING), rows)
        if not any(texts.null_count for texts in told):
            return pc.binary_join_element_wise(*told, ",")
        # Arrow's own way to skip NULLs also skips a row that has nothing else: each brings its comma, or nothing
        with_commas = [pc.fill_null(_wrapped(",", texts, ""), "") for texts in told]
        return pc.utf8_slice_codeunits(pc.binary_join_element_wise(*with_commas, ""), 1)

    def _map(self, array: pa.Array) -> pa.Array:
        offsets = array.offsets
        begin, end = offsets[0].as_py(), offsets[-1].as_py()
        keys, items = array.keys[begin:end], array.items[begin:end]
        pairs = pc.binary_join_element_wise(_texts(keys), pc.fill_null(self.values(items), "null"), ":")
        lists = pa.ListArray.from_arrays(pc.subtract(offsets, begin), pairs, mask=array.is_null())
        return _wrapped("{", pc.binary_join(lists, ","), "}")


def _joined(lists: pa.ListArray, items: pa.Array) -> pa.Array:
    """The texts of the items of each list, with commas; NULL for a list that is NULL."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    return pc.binary_join(pa.ListArray.from_arrays(offsets, items, mask=lists.is_null()), ",")


def _texts(array: pa.Array) -> pa.Array:
    plain = pc.invert(pc.fill_null(pc.match_substring_regex(array, _SPECIAL), True))
    if pc.all(pc.or_(plain, array.is_null())).as_py() is not False:
        return _wrapped('"', array, '"')
    return over_distinct(quoted, array, STRING)


def _wrapped(before: str, array: pa.Array, after: str) -> pa.Array:
    return pc.binary_join_element_wise(before, array, after, "")
