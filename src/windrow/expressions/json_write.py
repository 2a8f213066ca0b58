"""Values and rows as JSON, byte for byte as Spark writes them, a column at a time: TO_JSON, and files of lines."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import NotSupportedYet

from . import types
from .columns import missing, normal, over_distinct, repeat, values
from .json_text import quoted
from .lists import arrays_of, elements_of, entries_of, is_array, is_map, lengths_of
from .registry import Taken, function
from .session_zones import UTC
from .write_text import write_text
from .write_times import TimePattern

NESTED = Taken(None, lambda kind: pa.types.is_struct(kind) or is_array(kind) or is_map(kind))
DATE, TIMESTAMP, LOCAL = "yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]", "yyyy-MM-dd'T'HH:mm:ss[.SSS]"
"""The patterns that Spark writes times by, where nobody gives others."""

_SPECIAL = r'[\x00-\x1f"\\]'


@dataclass(frozen=True, slots=True)
class JsonText:
    """How values become JSON: patterns for dates, instants and local times; whether NULLs are left out of objects.

    `numbers` writes numbers and booleans; instants are shown on the clock of `zone`.
    """

    date: TimePattern
    instant: TimePattern
    local: TimePattern
    numbers: Callable[[pa.Array], pa.Array]
    ignore_nulls: bool = True
    zone: str = UTC

    def lines(self, rows: pa.Table) -> pa.Array:
        """A line for each row, with its end."""
        columns = [normal(column) for column in rows.columns]
        return _wrapped("{", self._fields(rows.column_names, columns, len(rows)), "}\n")

    def values(self, array: pa.Array) -> pa.Array:
        """The text of each value; NULL where it is NULL."""
        kind = array.type
        if pa.types.is_struct(kind):
            whole = _wrapped("{", self._fields([field.name for field in kind], array.flatten(), len(array)), "}")
            return pc.if_else(array.is_valid(), whole, pa.scalar(None, types.STRING))
        if is_map(kind):
            return self._maps(array)
        if is_array(kind):
            held = elements_of(array)
            items = pc.fill_null(self.values(held.values), "null")
            return _wrapped("[", pc.binary_join(arrays_of(items, held.lengths, held.absent, types.STRING), ","), "]")
        if kind == types.STRING:
            return _texts(array)
        if pa.types.is_binary(kind):
            return over_distinct(lambda data: f'"{b64encode(data).decode()}"', array, types.STRING)
        if pa.types.is_date(kind):
            return _texts(self.date.write(array))
        if pa.types.is_timestamp(kind):
            return _texts((self.local if kind.tz is None else self.instant).write(array, self.zone))
        written = self.numbers(array)
        if pa.types.is_floating(kind):  # what is no number is a text
            written = pc.if_else(pa.array(np.isfinite(values(array))), written, _wrapped('"', written, '"'))
        return written

    def _fields(self, names: list[str], columns: list[pa.Array], rows: int) -> pa.Array:
        """The fields of objects, without the braces."""
        told = []
        for name, column in zip(names, columns, strict=True):
            texts = self.values(normal(column))
            if not self.ignore_nulls:
                texts = pc.fill_null(texts, "null")
            told.append(_wrapped(f"{quoted(name)}:", texts, ""))
        if not told:
            return repeat("", rows, types.STRING)
        if not any(texts.null_count for texts in told):
            return pc.binary_join_element_wise(*told, ",")
        # Arrow's own way to skip NULLs also skips a row that has nothing else: each brings its comma, or nothing
        with_commas = [pc.fill_null(_wrapped(",", texts, ""), "") for texts in told]
        return pc.utf8_slice_codeunits(pc.binary_join_element_wise(*with_commas, ""), 1)

    def _maps(self, maps: pa.Array) -> pa.Array:
        keys, items = entries_of(maps)
        if keys.type != types.STRING:
            raise NotSupportedYet("replay does not write maps as JSON but those with texts for keys")
        pairs = pc.binary_join_element_wise(_texts(keys), pc.fill_null(self.values(items), "null"), ":")
        lists = arrays_of(pairs, lengths_of(maps), missing(maps), types.STRING)
        return _wrapped("{", pc.binary_join(lists, ","), "}")


def _texts(array: pa.Array) -> pa.Array:
    special = pc.any(pc.match_substring_regex(array, _SPECIAL)).as_py()
    return over_distinct(quoted, array, types.STRING) if special else _wrapped('"', array, '"')


def _wrapped(before: str, array: pa.Array, after: str) -> pa.Array:
    return pc.binary_join_element_wise(before, array, after, "")


def _numbers(array: pa.Array) -> pa.Array:
    if not types.is_number(array.type) and array.type != types.BOOLEAN:
        raise NotSupportedYet(f"replay does not write {types.sql_name(array.type)} as JSON")
    return write_text(array, plain=False)


def _usual() -> JsonText:
    date, instant, local = (
        TimePattern.of(pattern, kind)
        for pattern, kind in ((DATE, types.DATE), (TIMESTAMP, types.TIMESTAMP), (LOCAL, types.TIMESTAMP_NTZ))
    )
    assert date and instant and local
    return JsonText(date, instant, local, _numbers)


_USUAL = _usual()


def rows_to_json(rows: pa.RecordBatch) -> pa.Array:
    """Rows as objects, with their NULLs.

    >>> rows_to_json(pa.record_batch({"k": ["a", None], "x": [1.5, 2.0]})).to_pylist()
    ['{"k":"a","x":1.5}', '{"k":null,"x":2.0}']
    """
    lines = replace(_USUAL, ignore_nulls=False).lines(pa.Table.from_batches([rows]))
    return pc.utf8_rtrim(lines, "\n")


@function("to_json", takes=[NESTED], zoned=True)
def to_json(value: pa.Array, *, zone: str) -> pa.Array:
    return replace(_USUAL, zone=zone).values(value)
