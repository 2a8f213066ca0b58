"""TO_JSON: structs, arrays and maps as JSON, written a column at a time."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import NotSupportedYet

from . import types
from .columns import missing, normal, over_distinct, repeat, values
from .json_text import quoted
from .lists import arrays_of, elements_of, entries_of, is_array, is_map, lengths_of
from .registry import Taken, function
from .write_text import write_text
from .write_times import write_by

NESTED = Taken(None, lambda kind: pa.types.is_struct(kind) or is_array(kind) or is_map(kind))
_TIMESTAMP = "yyyy-MM-dd'T'HH:mm:ss.SSS"


def _texts(array: pa.Array) -> pa.Array:
    """The JSON of each value, NULL for NULL."""
    kind = array.type
    if pa.types.is_struct(kind):
        return _structs(array)
    if is_array(kind):
        return _joined(_elements(array), "[", "]")
    if is_map(kind):
        return _maps(array)
    if kind == types.STRING:
        return over_distinct(quoted, array, types.STRING)
    if kind in (types.FLOAT, types.DOUBLE):
        written = write_text(array)
        finite = pa.array(np.isfinite(values(array)))
        return pc.if_else(finite, written, _wrapped(written, '"', '"'))
    if kind == types.TIMESTAMP:
        return _wrapped(write_by(_TIMESTAMP + "XXX", array), '"', '"')
    if kind == types.TIMESTAMP_NTZ:
        return _wrapped(write_by(_TIMESTAMP, array), '"', '"')
    if kind == types.DATE:
        return _wrapped(write_text(array), '"', '"')
    if types.is_number(kind) or kind == types.BOOLEAN:
        return write_text(array, plain=False)
    raise NotSupportedYet(f"replay does not write {types.sql_name(kind)} as JSON")


def _wrapped(text: pa.Array, before: str, behind: str) -> pa.Array:
    rows = len(text)
    return pc.binary_join_element_wise(repeat(before, rows, types.STRING), text, repeat(behind, rows, types.STRING), "")


def _structs(array: pa.Array) -> pa.Array:
    """Objects of the fields that are not NULL."""
    written = repeat("", len(array), types.STRING)
    begun = np.zeros(len(array), bool)
    for place, field in enumerate(array.type):
        text = _texts(normal(pc.struct_field(array, [place])))
        there = ~missing(text)
        named = _wrapped(pc.fill_null(text, ""), quoted(field.name) + ":", "")
        separated = pc.if_else(pa.array(begun), _wrapped(named, ",", ""), named)
        added = pc.if_else(pa.array(there), separated, "")
        written = pc.binary_join_element_wise(written, added, "")
        begun |= there
    return pc.if_else(array.is_valid(), _wrapped(written, "{", "}"), pa.scalar(None, types.STRING))


def _elements(arrays: pa.Array) -> pa.Array:
    held = elements_of(arrays)
    return arrays_of(pc.fill_null(_texts(held.values), "null"), held.lengths, held.absent, types.STRING)


def _joined(arrays: pa.Array, before: str, behind: str) -> pa.Array:
    return _wrapped(pc.binary_join(arrays, ","), before, behind)


def _maps(maps: pa.Array) -> pa.Array:
    keys, items = entries_of(maps)
    if keys.type != types.STRING:
        raise NotSupportedYet("replay does not write maps as JSON but those with texts for keys")
    names = over_distinct(lambda key: quoted(key) + ":", keys, types.STRING)
    pairs = pc.binary_join_element_wise(names, pc.fill_null(_texts(normal(items)), "null"), "")
    return _joined(arrays_of(pairs, lengths_of(maps), missing(maps), types.STRING), "{", "}")


@function("to_json", takes=[NESTED])
def to_json(value: pa.Array) -> pa.Array:
    return _texts(value)
